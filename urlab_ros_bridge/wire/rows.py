# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Rows of the state PUB stream: topics, layouts, and total decoders.

A message is ``[topic, payload]``; all numbers are little-endian (Networking page, "Streaming wire
format"; twist, actions, scene and state/full rows: stock plugin; sim_time: our extension).

Traps that the names cannot carry:

- `base_state` has its quaternion as **xyzw**, its linear velocity in the **world** frame and its
  angular velocity in the **body** frame (both are copied from MuJoCo's free-joint qvel).
- entity rows are float64 with **wxyz** quaternions.
- a ball joint's row carries only the first slot of its qpos, qvel and qacc.
"""

from __future__ import annotations

from dataclasses import dataclass
import struct
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.wire.errors import MalformedRow
from urlab_ros_bridge.wire.errors import UnknownTopic

SIM_TIME_TOPIC = 'sim_time'
STATE_FULL_TOPIC = 'state/full'
SCENE = 'scene'
POINTS = 'points/'
ENTITY_FIELDS = {'xpos': 3, 'xquat': 4, 'qpos': 7, 'qvel': 6}
MAX_SENSOR_DIM = 1 << 20

JOINT = struct.Struct('<i3f')
SENSOR_HEAD = struct.Struct('<2i')
BASE_STATE = struct.Struct('<13f')
TWIST = struct.Struct('<3f')
ACTIONS = struct.Struct('<i')
SIM_TIME = struct.Struct('<qQq')
RESETS = struct.Struct('<Q')

JOINT_DTYPE = np.dtype([('id', '<i4'), ('pos', '<f4'), ('vel', '<f4'), ('acc', '<f4')])


@dataclass(frozen=True, slots=True)
class RowLayout:
    """One kind of row, for code and documentation alike."""

    kind: str
    pattern: str
    layout: str
    source: str


ROW_LAYOUTS: tuple[RowLayout, ...] = (
    RowLayout(
        'joint',
        '{prefix}/joint/{name}',
        'int32 id, float32 position, velocity, acceleration (rad or m)',
        'page',
    ),
    RowLayout(
        'base_state',
        '{prefix}/base_state/{name}',
        '13 x float32: position (m), quaternion xyzw, linear velocity (m/s, world frame), '
        'angular velocity (rad/s, body frame)',
        'page',
    ),
    RowLayout('sensor', '{prefix}/sensor/{name}', 'int32 id, int32 dim, float32[dim]', 'page'),
    RowLayout('twist', '{prefix}/twist', '3 x float32: vx, vy (m/s), yaw rate (rad/s)', 'plugin'),
    RowLayout(
        'effort',
        '{prefix}/effort',
        'float32[n]: actuator torque (N m) or force (N) of each hinge and slide joint, in '
        'order of joint id',
        'extension',
    ),
    RowLayout(
        'resets',
        '{prefix}/resets',
        'uint64: how often the robot was reset, alone or with the world',
        'extension',
    ),
    RowLayout('actions', '{prefix}/actions', 'int32 bit field, sent when not 0', 'plugin'),
    RowLayout(
        'scene', 'scene/{entity}/xpos|xquat|qpos|qvel', 'float64[3], [4] wxyz, [7], [6]', 'plugin'
    ),
    RowLayout(
        'state_full', STATE_FULL_TOPIC, 'msgpack map like step_ok, op "state_full"', 'plugin'
    ),
    RowLayout(
        'points',
        f'{POINTS}{{prefix}}/{{name}}',
        'int32 rings, int32 columns, float32[rings * columns] range (m, -1: nothing), '
        'uint8[rings * columns] intensity; sent in every mode, only to subscribers of the whole '
        'topic',
        'extension',
    ),
    RowLayout(
        'sim_time',
        SIM_TIME_TOPIC,
        'int64 nanoseconds, uint64 step, int64 wall nanoseconds; closes the tick',
        'extension',
    ),
)


# What an extension adds to the articulations of a snapshot, which else have the standard level.
SNAPSHOT_EXTENSIONS = {
    'effort_row': 'effort',
    'scan_stamps': 'scan_stamps',
    'robot_resets': 'resets',
}


class RowTopic(NamedTuple):
    """A parsed topic; `prefix` is empty for scene, state_full and sim_time."""

    kind: str
    prefix: str = ''
    name: str = ''
    field: str = ''


class JointRow(NamedTuple):
    """State of one scalar joint: rad, rad/s, rad/s^2 (m for a slide)."""

    id: int
    position: float
    velocity: float
    acceleration: float


class SensorRow(NamedTuple):
    """Reading of one sensor; `values` is float32 of shape (dim,)."""

    id: int
    values: np.ndarray


class PointsRow(NamedTuple):
    """Points of a 3-D lidar: ranges in m, -1 for nothing, and intensities; (rings, columns)."""

    ranges: np.ndarray
    intensities: np.ndarray


class BaseState(NamedTuple):
    """State of one free joint, see the module text for the frames."""

    position: tuple[float, float, float]
    quaternion_xyzw: tuple[float, float, float, float]
    linear_velocity: tuple[float, float, float]
    angular_velocity: tuple[float, float, float]


class SimTime(NamedTuple):
    """The closing row of a tick."""

    nanoseconds: int
    step: int
    wall_nanoseconds: int


def parse_topic(topic: str | bytes) -> RowTopic:
    """
    Split a topic into kind, prefix and name.

    A component name may hold slashes; a prefix may not.

    :raises UnknownTopic: for anything that follows no pattern of the table.

    >>> parse_topic(b'g1/joint/left_hip')
    RowTopic(kind='joint', prefix='g1', name='left_hip', field='')
    """
    try:
        text = topic if isinstance(topic, str) else bytes(topic).decode('utf-8')
    except UnicodeDecodeError:
        raise UnknownTopic(topic) from None
    if text == SIM_TIME_TOPIC:
        return RowTopic('sim_time')
    if text == STATE_FULL_TOPIC:
        return RowTopic('state_full')
    prefix, _, rest = text.partition('/')
    if text.startswith(POINTS):
        robot, _, name = rest.partition('/')
        if robot and name:
            return RowTopic('points', robot, name)
        raise UnknownTopic(text)
    if prefix == SCENE:
        name, _, field = rest.rpartition('/')
        if name and field in ENTITY_FIELDS:
            return RowTopic('scene', '', name, field)
    elif prefix and rest in ('twist', 'actions', 'effort', 'resets'):
        return RowTopic(rest, prefix)
    elif prefix:
        kind, _, name = rest.partition('/')
        if name and kind in ('joint', 'sensor', 'base_state'):
            return RowTopic(kind, prefix, name)
    raise UnknownTopic(text)


def _check(topic: str, payload: bytes | memoryview, size: int) -> None:
    if len(payload) != size:
        raise MalformedRow(topic, len(payload), f'{size}')


def pack_joint(joint_id: int, position: float, velocity: float, acceleration: float) -> bytes:
    """Encode a joint row (16 bytes)."""
    return JOINT.pack(joint_id, position, velocity, acceleration)


def unpack_joint(payload: bytes | memoryview) -> JointRow:
    """
    Decode a joint row.

    :raises MalformedRow: when it is not 16 bytes.
    """
    _check('joint', payload, JOINT.size)
    return JointRow._make(JOINT.unpack(payload))


def pack_sensor(sensor_id: int, values: np.ndarray) -> bytes:
    """Encode a sensor row from a vector of shape (dim,)."""
    data = np.ascontiguousarray(values, dtype='<f4')
    return SENSOR_HEAD.pack(sensor_id, data.size) + data.tobytes()


def unpack_sensor(payload: bytes | memoryview) -> SensorRow:
    """
    Decode a sensor row; the older layout without `dim` (id, float32[]) is understood too.

    :return: `values` is a read-only view into `payload`.
    :raises MalformedRow: when the length fits neither layout.
    """
    size = len(payload)
    if size >= 8:
        sensor_id, dim = SENSOR_HEAD.unpack_from(payload)
        if 0 <= dim <= MAX_SENSOR_DIM and size == 8 + 4 * dim:
            return SensorRow(sensor_id, np.frombuffer(payload, '<f4', dim, 8))
    if size >= 4 and size % 4 == 0 and size <= 4 + 4 * MAX_SENSOR_DIM:
        (sensor_id,) = ACTIONS.unpack_from(payload)
        return SensorRow(sensor_id, np.frombuffer(payload, '<f4', size // 4 - 1, 4))
    raise MalformedRow('sensor', size, '8 + 4 * dim')


def pack_points(ranges: np.ndarray, intensities: np.ndarray) -> bytes:
    """Encode a points row from ranges (m) and intensities (uint8), shape (rings, columns)."""
    head = SENSOR_HEAD.pack(*ranges.shape)
    return head + ranges.astype('<f4').tobytes() + intensities.astype(np.uint8).tobytes()


def unpack_points(payload: bytes | memoryview) -> PointsRow:
    """
    Decode a points row.

    :return: read-only views into `payload`.
    :raises MalformedRow: when the length is not that of the shape.
    """
    size = len(payload)
    rings, columns = SENSOR_HEAD.unpack_from(payload) if size >= SENSOR_HEAD.size else (-1, -1)
    if rings < 0 or columns < 0 or size != SENSOR_HEAD.size + 5 * rings * columns:
        raise MalformedRow('points', size, '8 + 5 * rings * columns')
    count, start = rings * columns, SENSOR_HEAD.size
    ranges = np.frombuffer(payload, '<f4', count, start)
    intensities = np.frombuffer(payload, np.uint8, count, start + 4 * count)
    return PointsRow(ranges.reshape(rings, columns), intensities.reshape(rings, columns))


def pack_base_state(state: BaseState) -> bytes:
    """Encode a base_state row (52 bytes)."""
    return BASE_STATE.pack(
        *state.position, *state.quaternion_xyzw, *state.linear_velocity, *state.angular_velocity
    )


def unpack_base_state(payload: bytes | memoryview) -> BaseState:
    """
    Decode a base_state row.

    :raises MalformedRow: when it is not 52 bytes.
    """
    _check('base_state', payload, BASE_STATE.size)
    values = BASE_STATE.unpack(payload)
    return BaseState(values[0:3], values[3:7], values[7:10], values[10:13])


def unpack_twist(payload: bytes | memoryview) -> tuple[float, float, float]:
    """
    Decode a twist row into (vx, vy, yaw rate).

    :raises MalformedRow: when it is not 12 bytes.
    """
    _check('twist', payload, TWIST.size)
    return TWIST.unpack(payload)


def unpack_actions(payload: bytes | memoryview) -> int:
    """
    Decode an actions row.

    :raises MalformedRow: when it is not 4 bytes.
    """
    _check('actions', payload, ACTIONS.size)
    return int(ACTIONS.unpack(payload)[0])


def unpack_resets(payload: bytes | memoryview) -> int:
    """
    Decode a resets row.

    :raises MalformedRow: when it is not 8 bytes.
    """
    _check('resets', payload, RESETS.size)
    return int(RESETS.unpack(payload)[0])


def unpack_effort(payload: bytes | memoryview) -> np.ndarray:
    """
    Decode an effort row into a read-only float32 view of shape (joints,).

    :raises MalformedRow: when the length is not a multiple of 4.
    """
    if len(payload) % 4 or len(payload) > 4 * MAX_SENSOR_DIM:
        raise MalformedRow('effort', len(payload), '4 * joints')
    return np.frombuffer(payload, '<f4')


def unpack_entity(field: str, payload: bytes | memoryview) -> np.ndarray:
    """
    Decode an entity row into a read-only float64 view of the field's length.

    :raises MalformedRow: when the length is not that of `field`.
    """
    dim = ENTITY_FIELDS[field]
    _check(f'scene/{field}', payload, 8 * dim)
    return np.frombuffer(payload, '<f8', dim)


def pack_sim_time(nanoseconds: int, step: int, wall_nanoseconds: int) -> bytes:
    """Encode the closing row (24 bytes)."""
    return SIM_TIME.pack(nanoseconds, step, wall_nanoseconds)


def unpack_sim_time(payload: bytes | memoryview) -> SimTime:
    """
    Decode the closing row.

    :raises MalformedRow: when it is not 24 bytes.
    """
    _check(SIM_TIME_TOPIC, payload, SIM_TIME.size)
    return SimTime._make(SIM_TIME.unpack(payload))
