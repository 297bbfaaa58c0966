# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Observations: typed, lazy views over the reply to `step` and over the `state/full` snapshot.

Nothing is converted before it is asked for, because a policy loop reads a few fields of each reply
and the step path is hot.  A field of the wrong kind therefore raises `ProtocolError` at access.
Absent vectors have shape (0,).  All units are MuJoCo's: m, rad, s, N, N m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.replies.reader import Lazy
from urlab_ros_bridge.client.replies.reader import LazyField
from urlab_ros_bridge.client.replies.reader import LazyViewMap
from urlab_ros_bridge.client.replies.reader import listed
from urlab_ros_bridge.client.replies.reader import read_time
from urlab_ros_bridge.client.replies.reader import ReplyView
from urlab_ros_bridge.schema import Key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema.lenient import read_lenient_field
from urlab_ros_bridge.wire.camera_frame import BYTES_PER_PIXEL
from urlab_ros_bridge.wire.camera_frame import MAX_SIDE
from urlab_ros_bridge.wire.divergence import Divergence
from urlab_ros_bridge.wire.encoding.codec import unpack
from urlab_ros_bridge.wire.errors import MalformedFrame
from urlab_ros_bridge.wire.stamp import BadTime
from urlab_ros_bridge.wire.stamp import seconds_to_ns

MAX_SNAPSHOT_BYTES = 64 * 1024 * 1024


class Twist(NamedTuple):
    """A commanded velocity in the base frame: m/s and rad/s, three slots each."""

    linear: tuple[float, float, float]
    angular: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class BodyPose:
    """World position, shape (3,), and world orientation wxyz, shape (4,)."""

    xpos: np.ndarray
    xquat: np.ndarray


_ZERO = (0.0, 0.0, 0.0)
_THREE = Key(length=3)


def read_twist(place: Place) -> Twist:
    """
    Return a ``{linear, angular}`` block; absent vectors are zero.

    :raises MalformedReply: when a vector has not three numbers.
    """
    return Twist(_three(place, 'linear'), _three(place, 'angular'))


def _three(place: Place, name: str) -> tuple[float, float, float]:
    x, y, z = read_lenient_field(np.ndarray, place, name, _THREE).tolist() or _ZERO
    return x, y, z


def _twist(place: Place) -> Twist | None:
    return None if place.value == {} else read_twist(place)


class ArticulationState(ReplyView):
    """
    State of one articulation; joints in order of joint id, actuators in order of actuator id.

    Which fields are filled depends on the observation level (Protocol Reference).
    """

    qpos = LazyField(
        np.ndarray,
        'Generalised positions, shape (nq,): free 7 (quaternion wxyz), ball 4 (wxyz), ...',
    )
    qvel = LazyField(np.ndarray, 'Generalised velocities, shape (nv,).')
    ctrl = LazyField(np.ndarray, 'Inputs of the actuators (output of a controller), shape (nu,).')
    act = LazyField(np.ndarray, 'Activations, shape (nu,); 0 for an actuator without state.')
    effort = LazyField(np.ndarray, 'Actuator torque of each hinge and slide joint (extension).')
    actuator_force = LazyField(
        np.ndarray,
        'Force of each actuator, shape (nu,); level full only.',
        'actuator_force',
        'actuator_forces',
    )
    sensors = LazyField(dict[str, np.ndarray], 'Local sensor name -> values, shape (dim,).')
    scan_stamps = LazyField(
        dict[str, int],
        'Local name of a scanner -> time (ns) at which its values were measured (extension).',
    )
    resets = LazyField.optional(
        int, 'How often the robot was reset, alone or with the world (extension); None: not known.'
    )
    bodies = LazyField(dict[str, BodyPose], 'Local body name -> world pose; level full only.')
    twist = LazyField.optional(
        Twist, 'The commanded twist; None without a twist controller.', parse=_twist
    )
    actions = LazyField(int, 'Bit field of discrete actions.', default=0)


class EntityObservation(ReplyView):
    """State of one entity: world position, orientation wxyz, and a free joint's qpos and qvel."""

    xpos = LazyField(np.ndarray, 'World position, shape (3,).')
    xquat = LazyField(np.ndarray, 'World orientation wxyz, shape (4,).')
    qpos = LazyField(
        np.ndarray, 'Position and quaternion wxyz, shape (7,); (0,) without a free joint.'
    )
    qvel = LazyField(np.ndarray, 'World linear and body angular velocity, shape (6,) or (0,).')


def _seconds_or_block(place: Place) -> int:
    """Return the time of an image in ns: seconds, or a block as servers of June 2026 send it."""
    value = place.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return read_time(place)
    try:
        return seconds_to_ns(value)
    except BadTime as error:
        raise place.fail(str(error)) from error


class CameraImage(ReplyView):
    """One camera observation; rows run top-down."""

    width = LazyField(int, 'Pixels.')
    height = LazyField(int, 'Pixels.')
    dtype = LazyField(str, '``bgra8`` or ``float32``.')
    stamp_ns = LazyField.optional(
        int,
        'Simulated time of the state that it shows, None when not reported.',
        'sim_time',
        parse=_seconds_or_block,
    )
    frame_id = LazyField.optional(
        int,
        'Number of the state that it shows, see `StepResult.frame_id`; None when not reported.',
    )
    step = LazyField.optional(
        int,
        'Number of the physics step that it shows (extension), None when not reported.',
    )

    @Lazy
    def pixels(self) -> np.ndarray:
        """Read-only BGRA, shape (height, width, 4) uint8, or depth, shape (height, width)."""
        data, width, height = self.raw.get('data'), self.width, self.height
        sane = 0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE
        if not sane or type(data) is not bytes or len(data) != width * height * BYTES_PER_PIXEL:
            raise self.place.fail(f'must contain {width}x{height} pixels')
        if self.dtype == 'float32':
            return np.frombuffer(data, '<f4').reshape(height, width)
        return np.frombuffer(data, np.uint8).reshape(height, width, BYTES_PER_PIXEL)


class WorldObservation(ReplyView):
    """
    State of the world at one moment.

    :ivar raw: the decoded message.
    :ivar time: simulated time in seconds.
    :ivar step: the server's step counter.
    """

    def __init__(self, raw: dict[str, Any]) -> None:
        # One of these is made per step: it does not call ReplyView.__init__, and does the two
        # conversions that nearly every caller needs.
        self.raw = raw
        self.name = self.path = ''
        self.source = raw.get('op', 'observation')
        time, step = raw.get('time'), raw.get('step')
        try:
            self.time = float(time)  # type: ignore[arg-type]
            self.step = int(step)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            raise ProtocolError(f'time {time!r} or step {step!r} is not a number') from None

    def __repr__(self) -> str:
        """Return time and step, and the contents."""
        raw = self.raw
        parts = [f'{self.time:.6g} s, step {self.step}']
        for word, *names in (
            ('articulations', 'per_articulation', 'arts'),
            ('entities', 'entities', 'scene'),
            ('cameras', 'cameras'),
        ):
            found = next((raw[name] for name in names if isinstance(raw.get(name), dict)), None)
            if found:
                parts.append(f'{word}: {listed(found)}')
        return f'<{type(self).__name__} at {"; ".join(parts)}>'

    @Lazy
    def sim_time_ns(self) -> int:
        """
        Return the simulated time in ns, rounded with carry.

        `time` is preferred to the ``sim_time`` block, which stock servers truncate.
        """
        try:
            return seconds_to_ns(self.time)
        except BadTime as error:
            raise self.place.fail(str(error)) from error

    wall_time_ns = LazyField.optional(
        int,
        'Unix time at which the server produced this, in ns; None when not reported.',
        'wall_time',
        parse=read_time,
    )
    frame_id = LazyField.optional(
        int,
        'Number of this state, which also grows over resets: request an image of it with '
        '``include_cameras={name: frame_id}``.  None when not reported.',
    )
    divergence = LazyField.optional(
        Divergence,
        'Last time that the simulation became unstable (extension), None when it did not since '
        'the last reset, or when not reported.',
    )
    articulations = LazyViewMap(ArticulationState, 'Prefix -> state.', 'per_articulation', 'arts')
    entities = LazyViewMap(
        EntityObservation,
        'Name -> state; empty in the replies of reset and forward.',
        'entities',
        'scene',
    )


class StepResult(WorldObservation):
    """Reply to step, reset or forward."""

    cameras = LazyViewMap(
        CameraImage, 'Images by requested name; cameras without a frame are missing.'
    )
    perturbation = LazyField(
        dict[str, Any], "The editor's mouse drag ``{body_id, version, xfrc[6]}``, mostly empty."
    )
    replay = LazyField(
        dict[str, Any],
        '``{frame, total_frames}`` while a replay is stepped (extension), else empty.',
    )
    e_stop = LazyField(
        bool, 'Whether the e-stop is engaged (extension): commands were not applied.'
    )


class Snapshot(WorldObservation):
    """The `state/full` message that closes a tick."""

    resets = LazyField.optional(
        int, 'How often the world was reset (extension), None when not reported.'
    )
    mode = LazyField(str, 'Step mode of the server (extension), empty when not reported.')

    @classmethod
    def of_reply(cls, result: StepResult) -> Snapshot:
        """Return the state that a reply of level ``snapshot`` shows."""
        snapshot = cls.__new__(cls)
        vars(snapshot).update(vars(result))  # with what was read of it before
        return snapshot


def decode_snapshot(payload: bytes | memoryview) -> Snapshot:
    """
    Decode a `state/full` payload; both spellings of its keys are understood.

    :raises WireError: when the bytes are not a message, or lack time or step.
    """
    try:
        return Snapshot(unpack(payload, MAX_SNAPSHOT_BYTES))
    except ProtocolError as error:
        raise MalformedFrame(f'state/full: {error}') from error
