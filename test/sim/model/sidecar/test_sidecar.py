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
from urlab_ros_bridge.wire.errors import UrlabError

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


def drive(**extra):
    return robot(
        twist={
            'kind': 'differential',
            'left': ['l'],
            'right': ['r'],
            'wheel_radius': 0.1,
            'track_width': 0.4,
            'limits': {'linear': 1.0, 'angular': 2.0},
            **extra,
        }
    )


def test_the_documented_example_is_read_correctly(folder):
    world = load(folder, EXAMPLES[0])
    assert world.scene == folder / 'depot.xml' and world.source == folder / 'depot.yaml'
    assert world.global_cameras == {'overview': CameraSpec('real', (640, 480), 15.0, None)}
    [rover] = world.articulations
    assert (rover.prefix, rover.actor_id) == ('rover', 'robot_0')
    assert rover.model == folder / 'rover_robot.xml'
    assert rover.pos == (1.0, 0.5, 0.0)
    assert rover.quat == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)), abs=1e-9)
    assert math.hypot(*rover.quat) == pytest.approx(1.0, abs=1e-15)
    assert rover.controller['kp'] == {'shoulder': 80.0}
    assert rover.controller['default_kv'] == 5.0
    assert rover.twist.left == ['left_wheel'] and rover.twist.right == ['right_wheel']
    assert rover.twist.wheel_radius == 0.1 and rover.twist.track_width == 0.4
    assert rover.twist.limits.angular_acceleration == 8.0 and rover.twist.timeout == 0.5
    assert rover.cameras['front_rgb'].fovy == 58.0 and rover.cameras['front_depth'].mode == 'depth'
    assert rover.lidars['scan'].range_max == 12.0 and rover.lidars['scan'].rate == 10.0
    assert rover.frames == {'base': 'base_link', 'imu': 'imu_link'}
    assert rover.covariances['orientation_stddev'] == 0.01
    assert len(rover.covariances['twist_stddev']) == 6
    assert world.noise_seed == 7 and world.start_keyframe == 'home'
    assert rover.noise['scan'] == NoiseSpec(0.01, 0.005, dropout=0.01, resolution=0.001)
    assert rover.noise['imu_gyro'] == NoiseSpec(0.002, bias=0.001, walk=1e-4)


def test_defaults(folder):
    world = load(folder, robot(cameras={'eye': None}, pose=None, twist=None))
    assert world.scene == folder / 'depot.xml'  # the .xml beside the sidecar
    rover = world.articulations[0]
    assert rover.actor_id == 'rover' and rover.controller is None and rover.twist == HeldSection()
    assert (rover.pos, rover.quat) == ((0, 0, 0), (1, 0, 0, 0))
    assert rover.cameras == {'eye': CameraSpec()}
    assert load(folder, drive()).articulations[0].twist.limits.lateral == 0.0


LIDAR = {'angle_min': -1.0, 'angle_max': 1.0, 'range_max': 5.0}
MISTAKES = [
    ({'scen': 'a.xml'}, "depot.yaml: unknown key 'scen'; did you mean 'scene'?"),
    ({'scene': 'depo.xml'}, "scene: there is no file 'depo.xml'; did you mean 'depot.xml'?"),
    ({'scene': 'x' * 2000}, 'scene: must be a string'),
    ({'articulations': {}}, 'articulations: must be a list, not {}'),
    ({'articulations': [7]}, 'articulations[0]: must be a mapping, not 7'),
    ({'articulations': [{}]}, "articulations[0]: the key 'prefix' is missing"),
    (robot(prefix='2a'), "articulations[0].prefix: '2a' must begin with a letter"),
    (robot(pose={'pos': [0, 0, math.nan]}), 'pose.pos[2]: must be a finite number, not nan'),
    (robot(pose={'quat': [0, 0, 0, 0]}), 'pose.quat: (0.0, 0.0, 0.0, 0.0) is not a rotation'),
    (robot(controller={'kind': 'pid'}), "controller.kind: 'pid' is unknown; did you mean 'pd'?"),
    (robot(controller={'kind': 'pd', 'kp': {'j': -1}}), 'controller.kp.j: must be a finite '),
    (
        drive(kind='diferential'),
        "articulations[0].twist.kind: 'diferential' is unknown; did you "
        "mean 'differential'? (valid: differential, ackermann, omni, planar, trot, command, none)",
    ),
    (drive(left=[]), 'twist.left: must be a list of one or more names'),
    (drive(wheel_radius=0), 'twist.wheel_radius: must be a finite number > 0 (m), not 0'),
    (drive(limits={'linear': 1}), "twist.limits: the key 'angular' is missing"),
    (drive(limits={'linear': 1, 'angular': 1, 'lateral': 0.1}), 'limits.lateral: must be 0'),
    (
        robot(twist={'kind': 'omni', 'limits': {'linear': 1, 'angular': 1}, 'wheels': [{}]}),
        "twist.wheels[0]: the key 'actuator' is missing",
    ),
    (robot(cameras={'eye': {'mode': 'rgb'}}), "cameras.eye.mode: 'rgb' is unknown; valid: real"),
    (robot(cameras={'eye': {'resolution': [640]}}), 'cameras.eye.resolution: must be [width, he'),
    (robot(cameras={'eye': {'resolution': [1e9, 9]}}), 'resolution[0]'),
    (robot(cameras={'eye': {'rate': 0}}), 'cameras.eye.rate: must be a finite number > 0 and <='),
    (robot(cameras={7: {}}), 'cameras: the key 7 must be a string'),
    (robot(lidars={'scan': {**LIDAR, 'angle_max': -2}}), 'lidars.scan.angle_max: must be'),
    (robot(lidars={'scan': {**LIDAR, 'body': 'base'}}), 'lidars.scan: rays must be given'),
    (robot(lidars={'scan': {**LIDAR, 'angle_max': 6}}), 'angle_max: 6 is more than a full turn'),
    (robot(lidars={'scan': {**LIDAR, 'rings': 4}}), 'rays must be given with rings'),
    (robot(lidars={'scan': {**LIDAR, 'elevation_max': 0.2}}), 'rings must be given with'),
    (
        robot(lidars={'scan': {**LIDAR, 'rays': 9, 'rings': 4, 'elevation_max': -0.2}}),
        'elevation_max: must be at least elevation_min',
    ),
    (robot(lidars={'scan': {**LIDAR, 'beams': 6}}), "lidars.scan: unknown key 'beams'"),
    (robot(frames={'base': '/base'}), "frames.base: '/base' is not a ROS frame"),
    (robot(covariances={'pose_stdev': 1}), "did you mean 'pose_stddev'?"),
    ('a: 1\na: 2', "the key 'a' appears twice"),
    ('scene: !!python/object/apply:os.getcwd []', 'is not valid YAML'),
    ('scene: 0x' + 'f' * 5000, 'scene: must be a string of 1 to 1024 characters, not a huge int'),
    ('[' * 5000, 'depot.yaml: is'),
    ('x' * 1_000_001, 'is larger than 1000000 bytes'),
]


@pytest.mark.parametrize(('content', 'message'), MISTAKES)
def test_mistakes_are_named_with_their_place(folder, content, message):
    with pytest.raises(SidecarError) as caught:
        load(folder, content)
    assert message in str(caught.value)
    assert str(folder / 'depot.yaml') in str(caught.value)
    assert isinstance(caught.value, UrlabError) and len(str(caught.value)) < 700


@pytest.mark.parametrize(('second', 'fine'), [('g1_b', False), ('g12', True)])
def test_prefixes_are_distinguishable(folder, second, fine):
    robots = {'articulations': [{'prefix': each, 'model': 'arm.xml'} for each in ('g1', second)]}
    if fine:
        assert len(load(folder, robots).articulations) == 2
        return
    with pytest.raises(SidecarError, match=r"articulations\[1\]\.prefix.*'g1'"):
        load(folder, robots)


def test_actor_ids_are_unique(folder):
    robots = [
        {'prefix': 'a', 'model': 'arm.xml'},
        {'prefix': 'b', 'actor_id': 'a', 'model': 'arm.xml'},
    ]
    with pytest.raises(SidecarError, match=r"articulations\[1\]: the actor_id 'a'"):
        load(folder, {'articulations': robots})


def test_no_file_or_an_empty_one_is_no_world(tmp_path):
    for path in (tmp_path / 'missing.yaml', tmp_path):
        with pytest.raises(SidecarError, match='cannot be read'):
            load_sidecar(path)
    with pytest.raises(SidecarError, match='describes nothing'):
        load(tmp_path, '')
