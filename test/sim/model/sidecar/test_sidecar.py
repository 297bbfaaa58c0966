# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sidecars: the documented schema loads, and every mistake is named with its place."""

from __future__ import annotations

import math
from pathlib import Path
import re

import pytest
import yaml

from urlab_ros_bridge.sim.model.sidecar.readers import SidecarError
from urlab_ros_bridge.sim.model.sidecar.sidecar import load_sidecar
from urlab_ros_bridge.sim.model.sidecar.specs import CameraSpec
from urlab_ros_bridge.sim.model.sidecar.specs import NoiseSpec
from urlab_ros_bridge.sim.model.sidecar.twists import HeldSection

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / 'docs' / 'sidecar.md').read_text()
EXAMPLES = re.findall(r'```yaml\n(.*?)```', PAGE, re.DOTALL)


def load(folder, content):
    """Read text, or what is to be the YAML's content, as the sidecar depot.yaml of a folder."""
    path = folder / 'depot.yaml'
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return load_sidecar(path)


def robot(**extra):
    return {'articulations': [{'prefix': 'rover', 'model': 'rover_robot.xml', **extra}]}


def robots(*prefixes, **extra):
    found = [{'prefix': prefix, 'model': 'arm.xml', **extra} for prefix in prefixes]
    return {'articulations': found}


WHEELS = {'left': ['l'], 'right': ['r'], 'wheel_radius': 0.1, 'track_width': 0.4}
LIMITS = {'linear': 1.0, 'angular': 2.0}


def drive(**extra):
    return robot(twist={'kind': 'differential', **WHEELS, 'limits': LIMITS, **extra})


def test_the_documented_example_is_read_correctly(folder):
    world = load(folder, EXAMPLES[0])
    assert world.scene == folder / 'depot.xml' and world.source == folder / 'depot.yaml'
    assert world.global_cameras == {'overview': CameraSpec('real', (640, 480), 15.0, None)}
    [rover] = world.articulations
    assert (rover.prefix, rover.actor_id) == ('rover', 'robot_0')
    assert rover.model == folder / 'rover_robot.xml' and rover.pos == (1.0, 0.5, 0.0)
    assert rover.quat == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)), abs=1e-9)
    assert math.hypot(*rover.quat) == pytest.approx(1.0, abs=1e-15)
    assert (rover.controller['kp'], rover.controller['default_kv']) == ({'shoulder': 80.0}, 5.0)
    twist = rover.twist
    assert (twist.left, twist.right) == (['left_wheel'], ['right_wheel'])
    assert (twist.wheel_radius, twist.track_width, twist.timeout) == (0.1, 0.4, 0.5)
    assert twist.limits.angular_acceleration == 8.0
    assert rover.cameras['front_rgb'].fovy == 58.0 and rover.cameras['front_depth'].mode == 'depth'
    assert (rover.lidars['scan'].range_max, rover.lidars['scan'].rate) == (12.0, 10.0)
    assert rover.frames == {'base': 'base_link', 'imu': 'imu_link'}
    assert rover.covariances['orientation_stddev'] == 0.01
    assert world.noise_seed == 7 and world.start_keyframe == 'home'
    assert rover.noise['scan'] == NoiseSpec(0.01, 0.005, dropout=0.01, resolution=0.001)


def test_defaults(folder):
    world = load(folder, robot(cameras={'eye': None}, pose=None, twist=None))
    assert world.scene == folder / 'depot.xml'  # the .xml beside the sidecar
    rover = world.articulations[0]
    assert rover.actor_id == 'rover' and rover.controller is None and rover.twist == HeldSection()
    assert (rover.pos, rover.quat) == ((0, 0, 0), (1, 0, 0, 0))
    assert rover.cameras == {'eye': CameraSpec()}
    assert load(folder, drive()).articulations[0].twist.limits.lateral == 0.0


LIDAR = {'angle_min': -1.0, 'angle_max': 1.0, 'range_max': 5.0}
RINGS = {'rays': 9, 'rings': 4}
MISTAKES = [
    ({'scen': 'a.xml'}, 'scen'),
    ({'scene': 'depo.xml'}, 'scene: '),
    ({'articulations': [{}]}, 'articulations[0]: '),
    (robot(prefix='2a'), 'articulations[0].prefix: '),
    (robots('g1', 'g1_b'), 'articulations[1].prefix: '),
    (robots('a', 'b', actor_id='x'), 'articulations[1]: '),
    (robot(pose={'quat': [0, 0, 0, 0]}), 'pose.quat: '),
    (robot(controller={'kind': 'pd', 'kp': {'j': -1}}), 'controller.kp.j: '),
    (drive(kind='diferential'), 'articulations[0].twist.kind: '),
    (drive(left=[]), 'twist.left: '),
    (drive(limits={'linear': 1, 'angular': 1, 'lateral': 0.1}), 'limits.lateral: '),
    (robot(cameras={'eye': {'resolution': [640]}}), 'cameras.eye.resolution: '),
    (robot(lidars={'scan': {**LIDAR, 'angle_max': -2}}), 'lidars.scan.angle_max: '),
    (robot(lidars={'scan': {**LIDAR, 'angle_max': 6}}), 'a full turn'),
    (robot(lidars={'scan': {**LIDAR, 'rings': 4}}), 'lidars.scan'),
    (robot(lidars={'scan': {**LIDAR, 'body': 'base'}}), 'lidars.scan'),
    (robot(lidars={'scan': {**LIDAR, 'elevation_max': 0.2}}), 'lidars.scan'),
    (robot(lidars={'scan': {**LIDAR, **RINGS, 'elevation_max': -0.2}}), 'elevation_max: '),
    (robot(frames={'base': '/base'}), 'frames.base: '),
    ('a: 1\na: 2', "'a' appears twice"),
    ('scene: !!python/object/apply:os.getcwd []', 'is not valid YAML'),
    ('x' * 1_000_001, 'is larger than 1000000 bytes'),
]


@pytest.mark.parametrize(('content', 'place'), MISTAKES)
def test_mistakes_are_named_with_their_place(folder, content, place):
    with pytest.raises(SidecarError) as caught:
        load(folder, content)
    assert place in str(caught.value) and str(folder / 'depot.yaml') in str(caught.value)
    assert len(str(caught.value)) < 700


def test_prefixes_that_begin_alike_are_no_mistake(folder):
    assert len(load(folder, robots('g1', 'g12')).articulations) == 2
