# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which cameras a world has, and which colours its objects."""

from dataclasses import replace

import mujoco
import pytest

from urlab_ros_bridge.sim.cameras.catalog import read_catalog
from urlab_ros_bridge.sim.cameras.renderer.labels import BACKGROUND
from urlab_ros_bridge.sim.cameras.renderer.labels import class_of
from urlab_ros_bridge.sim.cameras.renderer.labels import label_map
from urlab_ros_bridge.sim.cameras.renderer.labels import palette
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.sidecar.specs import CameraSpec
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.requests.paths import DataFolder
from urlab_ros_bridge.sim.stage import build_context


def cameras(rig):
    return {(item.prefix, item.name): item for item in rig.items}


def test_every_camera_is_there_with_its_settings(lab_rig):
    found = cameras(lab_rig)
    assert [item.index for item in lab_rig.items] == list(range(7))
    assert set(found) == {
        ('cart', 'eye'), ('cart', 'chase'), ('scene', 'front'), ('scene', 'range'),
        ('scene', 'parts'), ('scene', 'each'), ('scene', 'late'),
    }  # fmt: skip
    eye, chase = found['cart', 'eye'], found['cart', 'chase']
    assert (eye.width, eye.height, eye.rate, eye.body) == (160, 120, 50.0, 'cart_cart')
    assert (chase.mode, chase.rate) == ('real', 30.0)  # not in the sidecar: defaults
    front = found['scene', 'front']
    assert (front.width, front.height) == (640, 480) and front.fovy == 60.0
    assert front.depth_pair == 'range' and found['scene', 'range'].depth_pair == ''
    assert found['scene', 'range'].dtype == 'float32' and front.dtype == 'bgra8'
    assert eye.topics == (b'cart/camera/eye ', b'cart/camera_ucm1/eye ')


def test_what_the_sidecar_says_is_in_the_model_of_every_client(lab_context):
    world = lab_context.world
    spec = replace(
        world.spec, global_cameras={'front': CameraSpec(resolution=(32, 16), fovy=33.0)}
    )
    items = {item.name: item for item in read_catalog(world.model, spec)}
    assert (items['front'].width, items['front'].height, items['front'].fovy) == (32, 16, 33.0)
    assert items['front'].depth_pair == ''  # another lens
    model, camera = world.model, world.model.camera('front').id
    assert tuple(model.cam_resolution[camera]) == (32, 16) and model.cam_fovy[camera] == 33.0


def test_a_lens_gives_way_to_a_field_of_view(tmp_path):
    path = tmp_path / 'lens.xml'
    path.write_text(
        '<mujoco><worldbody><camera name="c" resolution="640 480" focalpixel="500 500" '
        'sensorsize="0.004 0.003"/><geom size="1"/></worldbody></mujoco>'
    )
    world = load_world(ServerConfig(model=path))
    before = read_catalog(world.model, world.spec)[0].fovy
    spec = replace(world.spec, global_cameras={'c': CameraSpec(fovy=20.0)})
    assert read_catalog(world.model, spec)[0].fovy == 20.0 != before
    assert not world.model.cam_sensorsize.any()


def test_an_unknown_camera_is_named_with_the_known_ones(lab_context):
    world = lab_context.world
    robot = replace(world.spec.articulations[0], cameras={'nose': CameraSpec()})
    spec = replace(world.spec, articulations=(robot,))
    with pytest.raises(WorldError, match=r'cart: cameras: nose .*eye'):
        read_catalog(world.model, spec)


def test_one_name_twice_stays_reachable(tmp_path, lab):
    text = lab.read_text().replace(
        '- prefix: cart', '- prefix: other\n    model: cart.xml\n  - prefix: cart'
    )
    path = lab.with_name('two.yaml')
    path.write_text(text)
    config = ServerConfig(model=path)
    rig = build_context(config, DataFolder(tmp_path, False), load_world(config)).cameras
    keys = [item.key for item in rig.items]
    assert len(set(keys)) == len(keys)
    assert {'eye', 'cart/eye', 'chase', 'cart/chase'} <= set(keys)


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


def test_classes_drop_running_numbers_only():
    assert [class_of(name) for name in ('crate_1', 'crate12', 'a-3', 'wall', '12')] == [
        'crate', 'crate', 'a', 'wall', '12',
    ]  # fmt: skip


def test_colours_are_distinct_and_stay_the_same():
    names = [f'thing {number}' for number in range(3000)]
    colors = palette(names)
    assert len(set(colors.values())) == 3001
    assert palette(['wall'])['wall'] == palette(['door', 'wall'])['wall']
