# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Drawings reach the cameras of the running world, and leave them again."""

import threading
import time

import numpy as np
import pytest

from urlab_ros_bridge.sim.cameras.renderer import environment
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


@pytest.mark.skipif(
    all(environment.missing_library(name) for name in environment.candidates('auto')),
    reason='no OpenGL',
)
def test_a_drawing_is_seen_in_a_real_picture_until_it_is_cleared(server, connect):
    caller = connect(server(editor=True, world='rover', paused=True), timeout=60)
    caller.ask('set_mode', mode='direct')

    def red_pixels():
        reply = caller.ask('step', include_cameras={'overview': 'sync'})
        frame = reply['cameras']['overview']
        pixels = np.frombuffer(frame['data'], np.uint8).reshape(frame['height'], -1, 4)
        blue, green, red = (pixels[..., channel].astype(int) for channel in range(3))
        return np.count_nonzero((red > 120) & (green < 60) & (blue < 60))

    before = red_pixels()
    ends = {'from': [-2, 0, 1], 'to': [2, 0, 1], 'thickness': 50}
    caller.ask('draw_line', **ends, color=[1, 0, 0], ttl=-1)
    deadline = time.monotonic() + 40
    while red_pixels() < before + 500:
        assert time.monotonic() < deadline
    caller.ask('clear_markers')
    while red_pixels() > before + 50:
        assert time.monotonic() < deadline
