# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Drawings reach the cameras of the running world, and leave them again."""

import threading
import time

from urlab_ros_bridge.sim.editor.drawings import Drawings
from urlab_ros_bridge.sim.editor.drawings import OverlayUpdater


class Cameras:
    """Remembers what it was told."""

    def __init__(self):
        self.told, self.changed = [], threading.Condition()

    def set_overlays(self, shapes):
        with self.changed:
            self.told.append(shapes)
            self.changed.notify_all()

    def wait_for(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.told) >= count, 20)
            return self.told


def test_cameras_are_told_when_a_drawing_comes_and_when_it_goes():
    drawings, cameras = Drawings(), Cameras()
    drawings.add('marker', (1, 0, 0), -1, 'old', location=[0, 0, 0], label='')
    painter = OverlayUpdater(drawings, cameras)
    assert len(cameras.wait_for(1)[0]) == 1
    start = time.monotonic()
    drawings.add('marker', (1, 0, 0), 0.2, '', location=[1, 0, 0], label='')
    assert [len(shapes) for shapes in cameras.wait_for(3)] == [1, 2, 1]
    assert 0.2 <= time.monotonic() - start < 10
    drawings.clear()
    assert cameras.wait_for(4)[-1] == []
    painter.close()
    assert not painter.is_alive()
