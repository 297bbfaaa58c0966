# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which cameras a world has, and which colours its objects."""

from dataclasses import replace

import mujoco
import pytest

from urlab_ros_bridge.sim.cameras.catalog import read_catalog
from urlab_ros_bridge.sim.cameras.renderer.labels import BACKGROUND
from urlab_ros_bridge.sim.cameras.renderer.labels import label_map
from urlab_ros_bridge.sim.cameras.renderer.labels import palette
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.sidecar.specs import CameraSpec


def test_camera_settings_of_the_sidecar_are_in_the_model(lab_context):
    world = lab_context.world
    spec = replace(
        world.spec, global_cameras={'front': CameraSpec(resolution=(32, 16), fovy=33.0)}
    )
    items = {item.name: item for item in read_catalog(world.model, spec)}
    assert (items['front'].width, items['front'].height, items['front'].fovy) == (32, 16, 33.0)
    assert items['front'].depth_pair == ''  # another lens
    model, camera = world.model, world.model.camera('front').id
    assert tuple(model.cam_resolution[camera]) == (32, 16) and model.cam_fovy[camera] == 33.0


def test_an_unknown_camera_is_named_and_the_known_ones_listed(lab_context):
    world = lab_context.world
    robot = replace(world.spec.articulations[0], cameras={'nose': CameraSpec()})
    spec = replace(world.spec, articulations=(robot,))
    with pytest.raises(WorldError, match=r'cart: cameras: nose .*eye'):
        read_catalog(world.model, spec)


def test_labels_of_the_world(lab_context):
    model = lab_context.world.model
    each = label_map(model, ['cart'], 'instance')
    assert set(each.colors) == {BACKGROUND, 'floor', 'wall', 'crate_1', 'crate_2', 'cart'}
    parts = label_map(model, ['cart'], 'semantic')
    assert set(parts.colors) == {BACKGROUND, 'floor', 'wall', 'crate', 'cart'}
    for labels in (each, parts):
        assert len(set(labels.colors.values())) == len(labels.colors)
    geom = int(mujoco.mjtObj.mjOBJ_GEOM)
    first, second = (int(model.body(name).geomadr[0]) for name in ('crate_1', 'crate_2'))
    assert each.words[geom, first] != each.words[geom, second]
    assert parts.words[geom, first] == parts.words[geom, second]
    blue, green, red = parts.colors['crate']
    assert parts.words[geom, first].to_bytes(4, 'little') == bytes([blue, green, red, 255])


def test_colours_are_distinct_and_stay_the_same():
    names = [f'thing {number}' for number in range(3000)]
    colors = palette(names)
    assert len(set(colors.values())) == 3001
    assert palette(['wall'])['wall'] == palette(['door', 'wall'])['wall']
