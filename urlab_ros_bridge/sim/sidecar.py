# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The sidecar: a YAML file that says what an MJCF file cannot.

Robots with their prefixes, controllers, cameras, scanners, ROS frames and covariances.
docs/sidecar.md is the user's page for this schema.  Names of joints, actuators, sensors and
cameras are not looked up here: that needs the compiled model, and is done where they are used.
"""

from __future__ import annotations

import math
from pathlib import Path
import re

from urlab_ros_bridge.sim.naming import prefix_problem
from urlab_ros_bridge.sim.sidecar_cameras import CAMERA_MODES
from urlab_ros_bridge.sim.sidecar_cameras import cameras
from urlab_ros_bridge.sim.sidecar_cameras import rendering
from urlab_ros_bridge.sim.sidecar_noise import noises
from urlab_ros_bridge.sim.sidecar_scenery import lights
from urlab_ros_bridge.sim.sidecar_scenery import objects
from urlab_ros_bridge.sim.sidecar_scenery import pose
from urlab_ros_bridge.sim.specs import ArticulationSpec
from urlab_ros_bridge.sim.specs import CameraSpec
from urlab_ros_bridge.sim.specs import LidarSpec
from urlab_ros_bridge.sim.specs import TwistLimits
from urlab_ros_bridge.sim.specs import TwistSpec
from urlab_ros_bridge.sim.specs import WorldSpec
from urlab_ros_bridge.sim.yaml_fields import Field
from urlab_ros_bridge.sim.yaml_fields import read_fields
from urlab_ros_bridge.sim.yaml_fields import SidecarError

__all__ = [
    'CAMERA_MODES',
    'ArticulationSpec',
    'CameraSpec',
    'LidarSpec',
    'SidecarError',
    'TwistLimits',
    'TwistSpec',
    'WorldSpec',
    'load_sidecar',
    'parse_sidecar',
]

TWIST_KINDS = ('differential', 'omni', 'planar')

# Controller kind -> (keys with one number per actuator, keys with one number for all).
CONTROLLER_KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    'pd': (('kp', 'kv', 'torque_limit'), ('default_kp', 'default_kv', 'default_torque_limit')),
    'base': ((), ()),
}
SCALAR_COVARIANCES = (
    'orientation_stddev',
    'angular_velocity_stddev',
    'linear_acceleration_stddev',
    'magnetic_field_stddev',
)
VECTOR_COVARIANCES = ('pose_stddev', 'twist_stddev')

_FRAME = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_./-]*')
_FULL_TURN = 2 * math.pi * (1 + 1e-9)


def load_sidecar(path: Path | str) -> WorldSpec:
    """
    Read a sidecar.

    Without the key `scene` the scene is the .xml beside the file with the same stem, unless it
    is missing or already the model of an articulation.

    Raises
    ------
    SidecarError
        The file cannot be read, or it breaks the schema: the message names file and key path.
    """
    return parse_sidecar(read_fields(Path(path)))


def parse_sidecar(top: Field) -> WorldSpec:
    """
    Check the content of a sidecar, which may also come from elsewhere than a file.

    Raises
    ------
    SidecarError
        As `load_sidecar`.
    """
    path = top.source
    fields = top.mapping(
        'scene',
        'articulations',
        'objects',
        'lights',
        'global_cameras',
        'rendering',
        'noise_seed',
    )
    robots = []
    for item in fields['articulations'].items() if 'articulations' in fields else ():
        robot = _articulation(item)
        _check_unique(robot, robots, item)
        robots.append(robot)
    scene = _scene(fields, path, robots)
    things = objects(fields.get('objects'))
    if scene is None and 'scene' not in fields and not robots and not things:
        raise top.fail('describes nothing: it needs a scene or articulations')
    return WorldSpec(
        scene,
        tuple(robots),
        cameras(fields.get('global_cameras')),
        path,
        rendering(fields.get('rendering')),
        objects=things,
        lights=lights(fields.get('lights')),
        noise_seed=fields['noise_seed'].integer(0, 2**31 - 1) if 'noise_seed' in fields else 0,
    )


def _scene(fields: dict[str, Field], path: Path, robots: list[ArticulationSpec]) -> Path | None:
    if 'scene' in fields:
        return None if fields['scene'].value is None else fields['scene'].file()
    beside = path.with_suffix('.xml').resolve()
    taken = any(robot.model == beside for robot in robots)
    return beside if beside.is_file() and not taken else None


def _check_unique(robot: ArticulationSpec, others: list[ArticulationSpec], item: Field) -> None:
    problem = prefix_problem(robot.prefix, [other.prefix for other in others])
    if problem:
        raise item.child('prefix').fail(problem)
    for other in others:
        if robot.actor_id in (other.actor_id, other.prefix) or other.actor_id == robot.prefix:
            raise item.fail(f'the actor_id {robot.actor_id!r} belongs to {other.prefix!r} too')


def _articulation(item: Field) -> ArticulationSpec:
    fields = item.mapping(
        'prefix',
        'actor_id',
        'model',
        'pose',
        'controller',
        'twist',
        'cameras',
        'lidars',
        'frames',
        'covariances',
        'noise',
        'gripper',
    )
    prefix = item.child('prefix').text()
    problem = prefix_problem(prefix)
    if problem:
        raise item.child('prefix').fail(problem)
    pos, quat = pose(fields.get('pose'))
    present = {key: field for key, field in fields.items() if field.value is not None}
    return ArticulationSpec(
        prefix=prefix,
        actor_id=present['actor_id'].text() if 'actor_id' in present else prefix,
        model=item.child('model').file(),
        pos=pos,
        quat=quat,
        controller=_controller(present['controller']) if 'controller' in present else None,
        twist=_twist(present['twist']) if 'twist' in present else None,
        cameras=cameras(fields.get('cameras')),
        lidars=_lidars(fields.get('lidars')),
        frames=_frames(fields.get('frames')),
        covariances=_covariances(fields.get('covariances')),
        noise=noises(fields.get('noise')),
        grippers=_grippers(present['gripper']) if 'gripper' in present else {},
    )


def _grippers(field: Field) -> dict[str, tuple[str, ...]]:
    return {name: tuple(joints.texts()) for name, joints in field.mapping().items()}


def _controller(field: Field) -> dict:
    kind = field.child('kind').choice(CONTROLLER_KEYS)
    per_joint, scalars = CONTROLLER_KEYS[kind]
    bindable = ('actuators',) if kind == 'pd' else ()
    found: dict = {'kind': kind}
    for key, value in field.mapping('kind', *per_joint, *scalars, *bindable).items():
        if key in per_joint:
            found[key] = {name: gain.number(0.0) for name, gain in value.mapping().items()}
        elif key in scalars:
            found[key] = value.number(0.0)
        elif key in bindable:
            found[key] = value.texts()
    return found


def _twist(field: Field) -> TwistSpec:
    kind = field.child('kind').choice(TWIST_KINDS)
    common = ('kind', 'limits', 'timeout')
    if kind == 'differential':
        fields = field.mapping(*common, 'left', 'right', 'wheel_radius', 'track_width')
        actuators: dict = {side: field.child(side).texts() for side in ('left', 'right')}
        geometry: dict = {
            size: field.child(size).number(above=0.0) for size in ('wheel_radius', 'track_width')
        }
    elif kind == 'omni':
        fields = field.mapping(*common, 'wheels')
        wheels = list(field.child('wheels').items())
        actuators = {'wheels': [wheel.child('actuator').text() for wheel in wheels]}
        geometry = {'wheels': [_wheel(wheel) for wheel in wheels]}
    else:
        fields = field.mapping(*common, 'x', 'y', 'yaw')
        actuators = {axis: field.child(axis).text() for axis in ('x', 'y', 'yaw')}
        geometry = {}
    timeout = fields.get('timeout')
    return TwistSpec(
        kind,
        actuators,
        geometry,
        _limits(field.child('limits'), kind),
        timeout.number(above=0.0) if timeout and timeout.value is not None else None,
    )


def _wheel(field: Field) -> dict:
    fields = field.mapping('actuator', 'position', 'axis', 'roller', 'radius')
    # At 90 degrees the rollers would turn with the wheel, and it could not push at all.
    roller = fields['roller'].number(-1.4, 1.4) if 'roller' in fields else 0.0
    return {
        'position': field.child('position').numbers(2),
        'axis': field.child('axis').number(),
        'roller': roller,
        'radius': field.child('radius').number(above=0.0),
    }


def _limits(field: Field, kind: str) -> TwistLimits:
    fields = field.mapping(
        'linear', 'lateral', 'angular', 'linear_acceleration', 'angular_acceleration'
    )
    linear = field.child('linear').number(0.0)
    lateral = fields['lateral'].number(0.0) if 'lateral' in fields else None
    if kind == 'differential':
        if lateral:
            raise fields['lateral'].fail(
                f'must be 0, not {lateral:g}: a differential drive cannot move sideways'
            )
        lateral = 0.0
    accelerations = {key: fields[key].number(above=0.0) for key in fields if 'accel' in key}
    return TwistLimits(
        linear,
        linear if lateral is None else lateral,
        field.child('angular').number(0.0),
        **accelerations,
    )


def _lidars(field: Field | None) -> dict[str, LidarSpec]:
    return {name: _lidar(item) for name, item in (field.mapping() if field else {}).items()}


def _lidar(item: Field) -> LidarSpec:
    fields = item.mapping('angle_min', 'angle_max', 'range_min', 'range_max', 'rate')
    first = item.child('angle_min').number(-_FULL_TURN, _FULL_TURN)
    last = item.child('angle_max').number(above=first)
    if last - first > _FULL_TURN:
        raise fields['angle_max'].fail(f'{last:g} is more than a full turn after angle_min')
    nearest = fields['range_min'].number(0.0) if 'range_min' in fields else 0.0
    return LidarSpec(
        first,
        last,
        nearest,
        item.child('range_max').number(above=nearest),
        fields['rate'].number(high=10_000.0, above=0.0) if 'rate' in fields else 10.0,
    )


def _frames(field: Field | None) -> dict[str, str]:
    found = {}
    for name, frame in (field.mapping() if field else {}).items():
        found[name] = frame.text()
        if not _FRAME.fullmatch(found[name]):
            raise frame.fail(
                f'{found[name]!r} is no ROS frame: letters, digits, _ . - and / '
                'inside, never in front'
            )
    return found


def _covariances(field: Field | None) -> dict[str, float | tuple[float, ...]]:
    found: dict[str, float | tuple[float, ...]] = {}
    every = (*SCALAR_COVARIANCES, *VECTOR_COVARIANCES)
    for key, value in (field.mapping(*every) if field else {}).items():
        if key in SCALAR_COVARIANCES:
            found[key] = value.number(0.0)
        else:
            found[key] = value.numbers(6, 0.0)
    return found
