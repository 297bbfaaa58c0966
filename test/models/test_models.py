# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The list of bundled worlds, and what must hold for every one of them."""

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.models import UnknownWorld
from urlab_ros_bridge.models import world_names
from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.wire.errors import UrlabError


def test_names_and_paths_agree():
    assert {'rover', 'quadruped'} <= set(world_names())
    for name in world_names():
        path = world_path(name)
        assert path.is_absolute() and path.is_file() and path.stem == name


@pytest.mark.parametrize('bad', ['', 'Rover', 'rover.yaml', '../rover', 'nowhere'])
def test_an_unknown_world_lists_the_known_ones(bad):
    with pytest.raises(UnknownWorld) as caught:
        world_path(bad)
    assert isinstance(caught.value, UrlabError)
    assert repr(bad) in str(caught.value)
    assert all(name in str(caught.value) for name in world_names())


@pytest.mark.parametrize('name', world_names())
def test_sidecar_names_resolve(build_world, sidecar, name):
    model, config = build_world(name), sidecar(name)
    for camera in config.get('global_cameras', {}):
        model.camera(camera)
    for entry in config['articulations']:
        prefix = entry['prefix'] + '_'
        model.body(prefix + entry['frames']['base'])
        for camera, settings in entry.get('cameras', {}).items():
            # A world may ask for smaller pictures, never for distorted ones.
            width, height = model.cam_resolution[model.camera(prefix + camera).id]
            assert width * settings['resolution'][1] == height * settings['resolution'][0]
        for scan, settings in entry.get('lidars', {}).items():
            if 'rays' in settings:  # mounted by the sidecar
                model.body(prefix + settings['body'])
                continue
            sensor = model.sensor(prefix + scan)
            assert sensor.type[0] == mujoco.mjtSensor.mjSENS_USER
            assert sensor.objtype[0] == mujoco.mjtObj.mjOBJ_SITE
        for noisy in entry.get('noise', {}):
            model.sensor(prefix + noisy)
        twist = entry.get('twist', {})
        for actuator in [*twist.get('left', []), *twist.get('right', [])]:
            model.actuator(prefix + actuator)
        for joint in entry.get('controller', {}).get('torque_limit', {}):
            model.joint(prefix + joint)


@pytest.mark.parametrize('name', world_names())
def test_lidar_angles_cover_every_ray_once(build_world, sidecar, name):
    model = build_world(name)
    for entry in sidecar(name)['articulations']:
        for scan, settings in entry.get('lidars', {}).items():
            rays = settings.get('rays')
            if rays is None:
                rays = int(model.sensor(f'{entry["prefix"]}_{scan}').dim[0])
            increment = (settings['angle_max'] - settings['angle_min']) / (rays - 1)
            assert increment == pytest.approx(2 * np.pi / rays, rel=1e-9)


@pytest.mark.parametrize(
    ('name', 'keys'), [('rover', ('home', 'dock')), ('quadruped', ('stand', 'rest'))]
)
def test_two_robots_fit_in_one_scene(build_world, sidecar, name, keys):
    entry = sidecar(name)['articulations'][0]
    second = {**entry, 'prefix': 'second', 'pose': {'pos': [1, 1, 0], 'quat': [0, 0, 0, 1]}}
    single, model = build_world(name), build_world(name, [second])
    for prefix in (entry['prefix'], 'second'):
        for key in keys:
            assert model.key(f'{prefix}_{key}').qpos.size == model.nq
            assert model.key(f'{prefix}_{key}').ctrl.size == model.nu == 2 * single.nu
        start = model.joint(f'{prefix}_base').qposadr[0]
        np.testing.assert_allclose(
            np.linalg.norm(model.qpos0[start + 3 : start + 7]), 1.0, atol=1e-9
        )
    pose = model.body('second_base_link')
    np.testing.assert_allclose(pose.pos[:2], [1, 1])
    np.testing.assert_allclose(np.abs(pose.quat), [0, 0, 0, 1])
