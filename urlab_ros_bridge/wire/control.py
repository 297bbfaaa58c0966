# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The inbound control stream and the info stream (ports 5556 and 5557 of the stock plugin).

Control: the server binds a SUB socket, clients connect a PUB.  A message is ``[topic, payload]``;
the topics end with a blank, which the server's filters include.

Info: the server binds a PUB socket.  A message is one JSON text per articulation, without topic.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import json
import struct
from typing import Any
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.wire.encoding.limits import GAINS_BYTES
from urlab_ros_bridge.wire.encoding.limits import STREAM_CONTAINERS
from urlab_ros_bridge.wire.encoding.limits import STREAM_VALUES
from urlab_ros_bridge.wire.errors import MalformedRow
from urlab_ros_bridge.wire.errors import UnknownTopic
from urlab_ros_bridge.wire.errors import WireError

CONTROL = 'control'
SET_GAINS = 'set_gains'
KINDS = (CONTROL, SET_GAINS)
MAX_SETPOINTS = 1 << 16
MAX_PREFIX_BYTES = 1 << 10
GAINS = ('kp', 'kv', 'torque_limit')
MAX_MAGNITUDE = 1e10  # MuJoCo's mjMAXVAL
UNLIMITED = (-100.0, 100.0)  # range in the info stream of an actuator without control range

COUNT = struct.Struct('<i')
SETPOINT_DTYPE = np.dtype([('id', '<i4'), ('value', '<f4')])


class ControlTopic(NamedTuple):
    """A parsed topic of the control stream; `kind` is ``control`` or ``set_gains``."""

    kind: str
    prefix: str


class MalformedControl(WireError):
    """A payload of the control stream that cannot be used; nothing of it is applied."""

    def __init__(self, kind: str, problem: str) -> None:
        super().__init__(f'{kind} message: {problem}')


def control_topic(kind: str, prefix: str) -> bytes:
    """
    Return the topic, which is also the server's filter.

    >>> control_topic('control', 'g1')
    b'g1/control '
    """
    return f'{prefix}/{kind} '.encode()


def parse_control_topic(topic: bytes) -> ControlTopic:
    """
    Split a topic.

    Whatever follows the blank is ignored: a SUB filter is a prefix of the topic.

    :raises UnknownTopic: for anything that is not a topic of this stream.
    """
    head, blank, _ = topic[:MAX_PREFIX_BYTES].partition(b' ')
    prefix, slash, kind = head.rpartition(b'/')
    try:
        parsed = ControlTopic(kind.decode(), prefix.decode())
    except UnicodeDecodeError:
        raise UnknownTopic(topic[:80]) from None
    if not blank or not slash or not prefix or parsed.kind not in KINDS:
        raise UnknownTopic(topic[:80])
    return parsed


def pack_setpoints(ids: Iterable[int], values: Iterable[float]) -> bytes:
    """
    Encode a control payload: ``int32 count``, then count x (``int32`` id, ``float32`` value).

    :param ids: global actuator ids of the compiled model.
    :param values: as many setpoints.
    """
    pairs = list(zip(ids, values, strict=True))
    return COUNT.pack(len(pairs)) + np.array(pairs, SETPOINT_DTYPE).tobytes()


def unpack_setpoints(payload: bytes | memoryview) -> np.ndarray:
    """
    Decode a control payload.

    :return: shape (count,), fields ``id`` and ``value``; a read-only view into `payload`.
    :raises MalformedRow: when count and length do not agree, or count is out of range.
    :raises MalformedControl: when a value is not finite or beyond what MuJoCo takes.
    """
    size = len(payload)
    count = COUNT.unpack_from(payload)[0] if size >= COUNT.size else -1
    if not 0 <= count <= MAX_SETPOINTS or size != COUNT.size + count * SETPOINT_DTYPE.itemsize:
        raise MalformedRow(CONTROL, size, f'4 + 8 * count, count up to {MAX_SETPOINTS}')
    setpoints = np.frombuffer(payload, SETPOINT_DTYPE, count, COUNT.size)
    # Not `<= largest` of the magnitude negated: that would let NaN by.
    if not (np.abs(setpoints['value']) <= MAX_MAGNITUDE).all():
        raise MalformedControl(CONTROL, f'a value is not within +-{MAX_MAGNITUDE:g}')
    return setpoints


def pack_gains(gains: Mapping[str, Mapping[str, float]]) -> bytes:
    """Encode a set_gains payload: JSON, actuator (local name) -> {kp?, kv?, torque_limit?}."""
    return json.dumps(gains, allow_nan=False).encode()


def unpack_gains(payload: bytes | memoryview) -> dict[str, dict[str, float]]:
    """
    Decode a set_gains payload.

    :return: gain (`GAINS`) -> {actuator: value >= 0}, the shape that controllers take.
    :raises MalformedControl: for anything else; all of it is refused.
    """
    actuators = _load_gains(payload)
    if not isinstance(actuators, dict):
        raise MalformedControl(SET_GAINS, f'{type(actuators).__name__}, expected a map')
    out: dict[str, dict[str, float]] = {}
    for actuator, gains in actuators.items():
        if not isinstance(gains, dict):
            raise MalformedControl(SET_GAINS, f'{actuator!r:.80}: expected a map of gains')
        for gain, value in gains.items():
            if gain not in GAINS:
                valid = ', '.join(GAINS)
                raise MalformedControl(SET_GAINS, f'{gain!r:.80} is not one of {valid}')
            out.setdefault(gain, {})[actuator] = _gain(actuator, gain, value)
    return out


def _load_gains(payload: bytes | memoryview) -> Any:
    """Decode JSON of as many bytes and values as `encoding.limits` allows."""
    if len(payload) > GAINS_BYTES:
        raise MalformedControl(SET_GAINS, f'{len(payload)} bytes, at most {GAINS_BYTES}')
    text = bytes(payload)
    if text.count(b'{') + text.count(b'[') > STREAM_CONTAINERS:
        raise MalformedControl(SET_GAINS, f'more than {STREAM_CONTAINERS} maps and lists')
    if text.count(b',') + text.count(b':') > STREAM_VALUES:
        raise MalformedControl(SET_GAINS, f'more than {STREAM_VALUES} values')
    try:
        # UTF-8 only, so that a payload cannot pick another encoding by its first bytes.
        return json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise MalformedControl(SET_GAINS, f'not JSON: {error}') from error


def _gain(actuator: str, gain: str, value: Any) -> float:
    if type(value) in (int, float) and 0 <= value <= MAX_MAGNITUDE:
        return float(value)
    raise MalformedControl(
        SET_GAINS, f'{actuator!r:.80}: {gain} must be within [0, {MAX_MAGNITUDE:g}]'
    )


class ActuatorList(NamedTuple):
    """
    One message of the info stream.

    :ivar robot: prefix of the articulation.
    :ivar names: compiled (full) names; `ids`, `mins` and `maxs` run alike.
    :ivar cameras: camera name -> ZMQ endpoint.
    """

    robot: str
    names: list[str]
    ids: list[int]
    mins: list[float]
    maxs: list[float]
    cameras: dict[str, str]


def pack_info(info: ActuatorList) -> bytes:
    """Encode a message of the info stream."""
    return json.dumps(
        {
            'type': 'actuator_list',
            'robot': info.robot,
            'names': info.names,
            'ids': info.ids,
            'mins': info.mins,
            'maxs': info.maxs,
            'camera_list': [
                {'name': name, 'endpoint': endpoint} for name, endpoint in info.cameras.items()
            ],
        },
        allow_nan=False,
    ).encode()
