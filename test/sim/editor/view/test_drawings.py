# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How long drawings live, and what renderers get of them."""

import mujoco
import pytest

from urlab_ros_bridge.sim.editor.drawings import box_geometry
from urlab_ros_bridge.sim.editor.drawings import Drawings
from urlab_ros_bridge.sim.editor.drawings import MAX_DRAWINGS
from urlab_ros_bridge.sim.editor.drawings import ONE_IMAGE
from urlab_ros_bridge.sim.editor.drawings import shapes

RED = (1.0, 0.0, 0.0)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def drawings(clock):
    return Drawings(clock)


def test_a_drawing_expires_after_its_ttl(drawings, clock):
    for ttl in (0.0, 5.0, -1.0):
        drawings.add('marker', RED, ttl, '', location=[0, 0, 0], label='')
    assert [item['ttl'] for item in drawings.describe()] == pytest.approx([ONE_IMAGE, 5.0, -1.0])
    clock.now += ONE_IMAGE
    assert [item['ttl'] for item in drawings.describe()] == [pytest.approx(4.9), -1.0]
    clock.now += 5.0
    assert [item['ttl'] for item in drawings.describe()] == [-1.0]
    clock.now += 1e6
    assert len(drawings.current()) == 1


def test_beyond_the_limit_the_oldest_drawing_is_removed(drawings):
    for _ in range(MAX_DRAWINGS + 5):
        drawings.add('marker', RED, -1, '', location=[0, 0, 0], label='')
    numbers = [item.number for item in drawings.current()]
    assert len(numbers) == MAX_DRAWINGS and numbers[0] == 6


def test_every_kind_can_be_put_into_a_mujoco_scene(drawings):
    overlays = pytest.importorskip('urlab_ros_bridge.sim.cameras.renderer.drawing')
    drawings.add('marker', RED, -1, '', location=[1, 2, 3], label='here')
    ends = {'from': [0, 0, 0], 'to': [0, 0, 2], 'width': 0.01}
    drawings.add('line', RED, -1, '', **ends)
    drawings.add('arrow', RED, -1, '', arrow_size=0.4, **ends)
    drawings.add('box', RED, -1, '', **box_geometry((0, 0, 0), (1, 1, 1), (1, 0, 0, 0)))
    drawings.add('axes', RED, -1, '', location=[0, 0, 0], rotation_quat=[0, 0, 0, 1], scale=1.0)
    made = [shape for item in drawings.current() for shape in shapes(item)]
    model = mujoco.MjModel.from_xml_string('<mujoco/>')
    scene = mujoco.MjvScene(model, maxgeom=100)
    overlays.add_overlays(scene, made)
    assert scene.ngeom == len(made) == 1 + 1 + 1 + 12 + 3
    assert scene.geoms[0].pos == pytest.approx([1, 2, 3]) and scene.geoms[0].label == 'here'
