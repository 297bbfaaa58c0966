# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Puts the running world's free camera where the viewport is, in every picture."""

from __future__ import annotations

import numpy as np

from urlab_ros_bridge.sim.cameras.catalog.free_camera import FreeCameraView
from urlab_ros_bridge.sim.editor.level.transforms import matrix
from urlab_ros_bridge.sim.editor.view.viewport import PoseOf
from urlab_ros_bridge.sim.editor.view.viewport import vertical_fov
from urlab_ros_bridge.sim.editor.view.viewport import Viewport
from urlab_ros_bridge.sim.stage import Context

# Columns: the axes of a MuJoCo camera (right, up, backwards) in the frame of the viewport, which
# looks along x and has z up.
_CAMERA = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


class ViewportCamera:
    """A part of the stage: the viewport as a camera of one world."""

    def __init__(self, viewport: Viewport, context: Context, pose_of: PoseOf) -> None:
        """
        Take the free camera over.

        :param pose_of: returns the pose of the actor that the viewport follows; called with the
            engine's lock held.
        """
        self._viewport, self._pose_of = viewport, pose_of
        self._engine, self._cameras = context.engine, context.cameras
        self._cameras.view = self._view
        self.aim()

    def aim(self) -> None:
        """Let the world's model know at once; the caller does not hold the engine's lock."""
        with self._engine.lock:
            free = self._cameras.state.free
            if free is not None:
                free.aim(self._view())

    def close(self) -> None:
        """Leave the camera where it is."""
        self._cameras.view = None

    def _view(self) -> FreeCameraView:
        pose, fov, mode = self._viewport.seen(self._pose_of)
        return FreeCameraView(
            np.asarray(pose.pos),
            (matrix(pose.quat) @ _CAMERA).reshape(9),
            vertical_fov(fov),
            mode,
        )


__all__ = ['ViewportCamera']
