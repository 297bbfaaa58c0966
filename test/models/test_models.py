# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The list of bundled worlds, and what must hold for every one of them."""

import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.models import world_names


@pytest.mark.parametrize('name', world_names())
def test_sidecar_names_resolve(build_world, sidecar, name):
    model, config = build_world(name), sidecar(name)
    for camera in config.get('global_cameras', {}):
        model.camera(camera)
    for entry in config['articulations']:
        prefix = entry['prefix'] + '_'
        model.body(prefix + entry['frames']['base'])
        for camera, settings in entry.get('cameras', {}).items():
            # A world may request smaller images, never distorted ones.
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
