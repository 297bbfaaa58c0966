# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Observations: typed, lazy views over the reply to `step` and over the `state/full` snapshot.

Nothing is converted before it is asked for, because a policy loop reads a few fields of each reply
and the step path is hot.  A field of the wrong kind therefore raises `ProtocolError` at access.
Absent vectors have shape (0,).  All units are MuJoCo's: m, rad, s, N, N m.
"""

from __future__ import annotations

from typing import Any
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.client import fields as f
from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.fields import Lazy
from urlab_ros_bridge.wire.camera_frame import BYTES_PER_PIXEL
from urlab_ros_bridge.wire.camera_frame import MAX_SIDE
from urlab_ros_bridge.wire.codec import unpack
from urlab_ros_bridge.wire.errors import MalformedFrame
from urlab_ros_bridge.wire.stamp import BadTime
from urlab_ros_bridge.wire.stamp import block_to_ns
from urlab_ros_bridge.wire.stamp import seconds_to_ns

MAX_SNAPSHOT_BYTES = 64 * 1024 * 1024


class Twist(NamedTuple):
    """A commanded velocity in the base frame: m/s and rad/s, three slots each."""

    linear: tuple[float, float, float]
    angular: tuple[float, float, float]


class BodyPose(NamedTuple):
    """World position, shape (3,), and world orientation wxyz, shape (4,)."""

    xpos: np.ndarray
    xquat: np.ndarray


def parse_twist(value: dict[str, Any], where: str) -> Twist:
    """
    Read a ``{linear, angular}`` block; absent vectors are zero.

    :raises ProtocolError: when a vector has not three numbers.
    """
    parts = []
    for key in ('linear', 'angular'):
        array = f.vector(value, key, where)
        if len(array) not in (0, 3):
            raise f.wrong(f'{where}.{key}', value[key], 'three numbers')
        parts.append(tuple(array.tolist()) or (0.0, 0.0, 0.0))
    return Twist(*parts)


def _vector(key: str, text: str) -> Any:
    def read(owner: Any) -> np.ndarray:
        return f.vector(owner.raw, key, owner.where)

    read.__doc__ = text
    return Lazy(read)


class ArticulationState:
    """
    State of one articulation; joints in order of joint id, actuators in order of actuator id.

    Which fields are filled depends on the observation level (Protocol Reference).
    """

    def __init__(self, prefix: str, raw: dict[str, Any]) -> None:
        self.prefix = prefix
        self.raw = raw
        self.where = f'state of {prefix}'

    qpos = _vector('qpos', 'Generalised positions, shape (nq,): free 7 (quaternion wxyz), ...')
    qvel = _vector('qvel', 'Generalised velocities, shape (nv,).')
    ctrl = _vector('ctrl', 'What the actuators got (the output of a controller), shape (nu,).')
    act = _vector('act', 'Activations, shape (nu,); 0 for an actuator without state.')
    effort = _vector('effort', 'Actuator torque of each hinge and slide joint (extension).')

    @Lazy
    def actuator_force(self) -> np.ndarray:
        """Force of each actuator, shape (nu,); level full only."""
        key = 'actuator_force' if 'actuator_force' in self.raw else 'actuator_forces'
        return f.vector(self.raw, key, self.where)

    @Lazy
    def sensors(self) -> dict[str, np.ndarray]:
        """Local sensor name -> values, shape (dim,)."""
        values = f.mapping(self.raw, 'sensors', self.where)
        return {name: f.vector(values, name, f'{self.where}.sensors') for name in values}

    @Lazy
    def scan_stamps(self) -> dict[str, int]:
        """Local name of a scanner -> time (ns) at which its values were measured (extension)."""
        values = f.mapping(self.raw, 'scan_stamps', self.where)
        return {name: f.integer(values, name, f'{self.where}.scan_stamps') for name in values}

    @Lazy
    def bodies(self) -> dict[str, BodyPose]:
        """Local body name -> world pose; level full only."""
        values = f.map_of_maps(self.raw, 'bodies', self.where)
        return {
            name: BodyPose(f.vector(value, 'xpos', name), f.vector(value, 'xquat', name))
            for name, value in values.items()
        }

    @Lazy
    def twist(self) -> Twist | None:
        """Return the commanded twist; None without a twist controller."""
        value = f.mapping(self.raw, 'twist', self.where)
        return parse_twist(value, f'{self.where}.twist') if value else None

    @Lazy
    def actions(self) -> int:
        """Bit field of discrete actions."""
        return f.integer(self.raw, 'actions', self.where, 0)


class EntityState:
    """State of one entity: world position, orientation wxyz, and a free joint's qpos and qvel."""

    def __init__(self, name: str, raw: dict[str, Any]) -> None:
        self.name = name
        self.raw = raw
        self.where = f'state of entity {name}'

    xpos = _vector('xpos', 'World position, shape (3,).')
    xquat = _vector('xquat', 'World orientation wxyz, shape (4,).')
    qpos = _vector('qpos', 'Position and quaternion wxyz, shape (7,); (0,) without a free joint.')
    qvel = _vector('qvel', 'World linear and body angular velocity, shape (6,) or (0,).')


class CameraImage:
    """One camera observation; rows run top-down."""

    def __init__(self, name: str, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.where = f'cameras.{name}'
        self.width = f.integer(raw, 'width', self.where)
        self.height = f.integer(raw, 'height', self.where)
        self.dtype = f.text(raw, 'dtype', self.where)

    @Lazy
    def stamp_ns(self) -> int | None:
        """Return the simulated time of the state that it shows (extension), None when not said."""
        value = f.mapping(self.raw, 'sim_time', self.where)
        try:
            return block_to_ns(value) if value else None
        except BadTime as error:
            raise ProtocolError(f'{self.where}.sim_time: {error}') from error

    @Lazy
    def step(self) -> int | None:
        """Return the number of the physics step that it shows (extension), None when not said."""
        return f.integer(self.raw, 'step', self.where) if 'step' in self.raw else None

    @Lazy
    def pixels(self) -> np.ndarray:
        """Read-only BGRA, shape (height, width, 4) uint8, or depth, shape (height, width)."""
        data = self.raw.get('data')
        sane = 0 < self.width <= MAX_SIDE and 0 < self.height <= MAX_SIDE
        size = self.width * self.height * BYTES_PER_PIXEL
        if not sane or not isinstance(data, bytes) or len(data) != size:
            raise ProtocolError(f'{self.where} does not hold {self.width}x{self.height} pixels')
        if self.dtype == 'float32':
            return np.frombuffer(data, '<f4').reshape(self.height, self.width)
        return np.frombuffer(data, np.uint8).reshape(self.height, self.width, BYTES_PER_PIXEL)


class Observation:
    """
    State of the world at one moment.

    :ivar raw: the decoded message.
    :ivar time: simulated time in seconds.
    :ivar step: the server's step counter.
    """

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        # Two conversions that nearly every caller needs; the general readers cost more.
        time, step = raw.get('time'), raw.get('step')
        try:
            self.time = float(time)
            self.step = int(step)
        except (TypeError, ValueError, OverflowError):
            raise ProtocolError(f'time {time!r} or step {step!r} is not a number') from None

    @Lazy
    def sim_time_ns(self) -> int:
        """
        Return the simulated time in ns, rounded with carry.

        `time` is preferred to the ``sim_time`` block, which stock servers truncate.
        """
        try:
            return seconds_to_ns(self.time)
        except BadTime as error:
            raise ProtocolError(f'observation: {error}') from error

    @Lazy
    def wall_time_ns(self) -> int | None:
        """Unix time at which the server made this, in ns; None when it did not say."""
        block = self.raw.get('wall_time')
        try:
            return None if block is None else block_to_ns(block)
        except BadTime as error:
            raise ProtocolError(f'observation: wall_time: {error}') from error

    @Lazy
    def articulations(self) -> dict[str, ArticulationState]:
        """Prefix -> state."""
        key = 'per_articulation' if 'per_articulation' in self.raw else 'arts'
        values = f.map_of_maps(self.raw, key, 'observation')
        return {prefix: ArticulationState(prefix, value) for prefix, value in values.items()}

    @Lazy
    def entities(self) -> dict[str, EntityState]:
        """Name -> state; empty in the replies of reset and forward."""
        key = 'entities' if 'entities' in self.raw else 'scene'
        values = f.map_of_maps(self.raw, key, 'observation')
        return {name: EntityState(name, value) for name, value in values.items()}


class StepResult(Observation):
    """Reply to step, reset or forward."""

    @Lazy
    def cameras(self) -> dict[str, CameraImage]:
        """Images by the name they were asked for; cameras without a frame are missing."""
        values = f.map_of_maps(self.raw, 'cameras', 'step_ok')
        return {name: CameraImage(name, value) for name, value in values.items()}

    @Lazy
    def perturbation(self) -> dict[str, Any]:
        """Return the editor's mouse drag ``{body_id, version, xfrc[6]}``, mostly empty."""
        return f.mapping(self.raw, 'perturbation', 'step_ok')

    @Lazy
    def replay(self) -> dict[str, Any]:
        """Return ``{frame, total_frames}`` while a replay is stepped (extension), else {}."""
        return f.mapping(self.raw, 'replay', 'step_ok')


class Snapshot(Observation):
    """The `state/full` message that closes a tick."""

    @Lazy
    def mode(self) -> str:
        """Step mode of the server (extension), empty when it did not say."""
        return f.text(self.raw, 'mode', 'state_full')


def decode_snapshot(payload: bytes | memoryview) -> Snapshot:
    """
    Decode a `state/full` payload; both spellings of its keys are understood.

    :raises WireError: when the bytes are no message, or lack time or step.
    """
    try:
        return Snapshot(unpack(payload, MAX_SNAPSHOT_BYTES))
    except ProtocolError as error:
        raise MalformedFrame(f'state/full: {error}') from error
