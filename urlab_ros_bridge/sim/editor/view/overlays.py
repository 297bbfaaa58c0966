# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps the pictures of a running world's cameras supplied with the editor's drawings."""

from __future__ import annotations

import threading

from urlab_ros_bridge.sim.cameras.rig import CameraRig
from urlab_ros_bridge.sim.editor.view.drawings import Drawings


class OverlayUpdater(threading.Thread):
    """A part of the stage: waits for drawings to appear or disappear, and notifies the cameras."""

    def __init__(self, drawings: Drawings, cameras: CameraRig) -> None:
        super().__init__(name='painter', daemon=True)
        self._drawings = drawings
        self._cameras = cameras
        self._closed = False
        self.start()

    def run(self) -> None:
        """Repeat until `close`."""
        shown: list = []
        while not self._closed:
            version, shapes = self._drawings.version, self._drawings.shapes()
            if shapes != shown:
                shown = shapes
                self._cameras.set_overlays(shapes)
            self._drawings.wait(version)

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._drawings.wake()
        self.join(timeout=5.0)


__all__ = ['OverlayUpdater']
