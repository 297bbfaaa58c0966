# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How long drawings live, and what renderers get of them."""

import mujoco
import pytest

from urlab_ros_bridge.editor.drawings import box_geometry
from urlab_ros_bridge.editor.drawings import Drawings
from urlab_ros_bridge.editor.drawings import MAX_DRAWINGS
from urlab_ros_bridge.editor.drawings import ONE_IMAGE
from urlab_ros_bridge.editor.drawings import shapes


def put(drawings, kind, ttl=-1, **geometry):
    drawings.add(kind, (1.0, 0.0, 0.0), ttl, '', **geometry)


def test_a_drawing_expires_after_its_ttl():
    now = [100.0]
    drawings = Drawings(lambda: now[0])
    for ttl in (0.0, 5.0, -1.0):
        put(drawings, 'marker', ttl, location=[0, 0, 0], label='')

    def left():
        return [item['ttl'] for item in drawings.describe()]

    assert left() == pytest.approx([ONE_IMAGE, 5.0, -1.0])
    now[0] += ONE_IMAGE
    assert left() == pytest.approx([4.9, -1.0])
    now[0] += 5.0
    assert left() == [-1.0]


def test_beyond_the_limit_the_oldest_drawing_is_removed():
    drawings = Drawings()
    for _ in range(MAX_DRAWINGS + 5):
        put(drawings, 'marker', location=[0, 0, 0], label='')
    numbers = [item.number for item in drawings.current()]
    assert len(numbers) == MAX_DRAWINGS and numbers[0] == 6


def test_every_kind_can_be_put_into_a_mujoco_scene():
    overlays = pytest.importorskip('urlab_ros_bridge.sim.cameras.renderer.drawing')
    drawings, ends = Drawings(), {'from': [0, 0, 0], 'to': [0, 0, 2], 'width': 0.01}
    put(drawings, 'marker', location=[1, 2, 3], label='here')
    put(drawings, 'line', **ends)
    put(drawings, 'arrow', arrow_size=0.4, **ends)
    put(drawings, 'box', **box_geometry((0, 0, 0), (1, 1, 1), (1, 0, 0, 0)))
    put(drawings, 'axes', location=[0, 0, 0], rotation_quat=[0, 0, 0, 1], scale=1.0)
    made = [shape for item in drawings.current() for shape in shapes(item)]
    scene = mujoco.MjvScene(mujoco.MjModel.from_xml_string('<mujoco/>'), maxgeom=100)
    overlays.add_overlays(scene, made)
    assert scene.ngeom == len(made) == 1 + 1 + 1 + 12 + 3
    assert scene.geoms[0].pos == pytest.approx([1, 2, 3]) and scene.geoms[0].label == 'here'
