# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The messages (Chiral Protocol Reference, "Message Types" and "Observation Frame Header").

Pure: arrays in, buffers out, and back.  Encoding copies no pixel of a contiguous array: the
buffers of a frame are written one after the other.  Decoding checks every offset and size.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import math
from typing import Any

import numpy as np

from urlab_ros_bridge.gateways.chiral.errors import MalformedMessage
from urlab_ros_bridge.gateways.chiral.protocol.framing import Buffer
from urlab_ros_bridge.gateways.chiral.protocol.framing import bytes_of
from urlab_ros_bridge.gateways.chiral.protocol.framing import dtype_name
from urlab_ros_bridge.gateways.chiral.protocol.framing import pack_frame
from urlab_ros_bridge.gateways.chiral.protocol.framing import read_array

# Header of the opening request: a random text that a client keeps for all its connections, so that
# it is known again when its old one has not ended yet (an extension of ours).
CLIENT_ID = 'Urlab-Client-Id'

METADATA = 'metadata'
RESET = 'reset'
OBSERVE = 'obs_request'
ACT = 'apply_action'
# The older dialect, in which an action is answered by an observation.
LEGACY_ACT = 'action'

# Request -> type of its answer.  `ACT` has none.
ANSWERS: dict[str, str] = {
    METADATA: 'metadata_response',
    RESET: 'reset_response',
    OBSERVE: 'obs_response',
    LEGACY_ACT: 'step_response',
}
REQUESTS = (METADATA, RESET, OBSERVE, ACT)
OBSERVATIONS = (ANSWERS[RESET], ANSWERS[OBSERVE], ANSWERS[LEGACY_ACT])


@dataclass(slots=True)
class CameraView:
    """
    The view of one camera.

    :ivar timestamp: of the capture, in the unit that the metadata names.
    :ivar intrinsics: K, shape (3, 3), pixels.
    :ivar extrinsics: camera to world, shape (4, 4); OpenCV axes: x right, y down, z forward.
    :ivar image: shape (height, width, channels), first row on top.
    :ivar depth: shape (height, width), metres along the optical axis, 0 = none; None without.
    """

    name: str
    timestamp: float
    intrinsics: np.ndarray
    extrinsics: np.ndarray
    image: np.ndarray
    depth: np.ndarray | None = None


@dataclass(slots=True)
class Observation:
    """
    One observation.

    :ivar proprios: stream -> float32 values, shape (n,), in order.
    :ivar extra: further fields; anything that msgpack can carry.
    :ivar info: only in the answer to a reset.
    """

    timestamp: float
    cameras: list[CameraView]
    proprios: dict[str, np.ndarray]
    extra: dict[str, Any] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)

    def camera(self, name: str) -> CameraView:
        """
        Return the view of a camera.

        :raises KeyError: when the observation has no such camera.
        """
        for view in self.cameras:
            if view.name == name:
                return view
        raise KeyError(name)


@dataclass(slots=True)
class Action:
    """
    One action.

    :ivar values: float64, in the shape of the sender.
    :ivar timestamps: camera -> timestamp of the observation behind it.
    """

    values: np.ndarray
    timestamps: dict[str, float]


def encode_request(kind: str, **fields: Any) -> list[Buffer]:
    """Return the frame of a request without payload."""
    return pack_frame({'type': kind, **fields})


def encode_metadata(data: Mapping[str, Any]) -> list[Buffer]:
    """Return the frame that answers `metadata`."""
    return pack_frame({'type': ANSWERS[METADATA], 'data': dict(data)})


def encode_action(
    values: np.ndarray, timestamps: Mapping[str, float], kind: str = ACT
) -> list[Buffer]:
    """Return the frame of an action; the values travel as float32, as stock clients send them."""
    array = np.asarray(values, np.float32)
    header = {'type': kind, 'shape': list(array.shape), 'dtype': 'float32'}
    return pack_frame({**header, 'obs_timestamps': dict(timestamps)}, [bytes_of(array)])


def encode_observation(kind: str, seen: Observation, **fields: Any) -> list[Buffer]:
    """
    Return the frame of an observation: the header, then views of the arrays in the page's order.

    :param kind: one of `OBSERVATIONS`.
    :param fields: further top-level fields of the header (the older dialect has some).
    :raises MalformedMessage: when an array has a type that the wire does not know.
    """
    parts: list[Buffer] = []
    cameras: list[dict[str, Any]] = []
    offset = 0
    for view in seen.cameras:
        entry: dict[str, Any] = {
            'name': view.name,
            'timestamp': view.timestamp,
            'intrinsics': view.intrinsics.ravel().tolist(),
            'extrinsics': view.extrinsics.ravel().tolist(),
        }
        offset = _add_array(entry, 'image', view.image, offset, parts)
        if view.depth is not None:
            offset = _add_array(entry, 'depth', view.depth, offset, parts)
        cameras.append(entry)
    proprios: list[dict[str, Any]] = []
    streams: list[bytes] = []
    for name, values in seen.proprios.items():
        data = np.asarray(values, np.float32).tobytes()
        proprios.append({'name': name, 'dtype': 'float32', 'offset': offset, 'size': len(data)})
        streams.append(data)
        offset += len(data)
    if streams:
        parts.append(b''.join(streams))  # small arrays: one buffer is cheaper to send than ten
    header: dict[str, Any] = {'type': kind, 'timestamp': seen.timestamp, 'cameras': cameras}
    header |= {'proprios': proprios, 'extra': seen.extra, **fields}
    if kind == ANSWERS[RESET]:
        header['info'] = seen.info
    return pack_frame(header, parts)


def _add_array(
    entry: dict[str, Any], what: str, array: np.ndarray, offset: int, parts: list[Buffer]
) -> int:
    data = bytes_of(array)
    entry[f'{what}_shape'] = list(array.shape)
    entry[f'{what}_dtype'] = dtype_name(array)
    entry[f'{what}_offset'] = offset
    entry[f'{what}_size'] = len(data)
    parts.append(data)
    return offset + len(data)


def decode_action(header: Mapping[str, Any], payload: memoryview) -> Action:
    """
    Read an action.

    :raises MalformedMessage: when shape, type and payload do not agree.
    """
    values = read_array(header.get('shape'), header.get('dtype'), payload, 'action')
    stamps = header.get('obs_timestamps') or {}
    if not isinstance(stamps, dict):
        raise MalformedMessage(f'obs_timestamps is {stamps!r:.40}, not a map')
    return Action(
        values.astype(np.float64),
        {str(name): _number(value, f'obs_timestamps.{name}') for name, value in stamps.items()},
    )


def decode_metadata(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a `metadata_response`, {} when there is none."""
    data = header.get('data')
    return data if isinstance(data, dict) else {}


def decode_observation(
    header: Mapping[str, Any], payload: memoryview, copy: bool = True
) -> Observation:
    """
    Read an observation.

    :param copy: False gives read-only views of the payload.
    :raises MalformedMessage: when an entry does not fit the payload.
    """
    proprios: dict[str, np.ndarray] = {}
    for index, entry in enumerate(_maps(header, 'proprios')):
        name, where = str(entry.get('name')), f'proprios[{index}]'
        data = _slice(entry, 'offset', 'size', payload, where)
        kind = entry.get('dtype', 'float32')
        proprios[name] = _whole(kind, data, where, copy)
    cameras = [
        _read_camera(entry, payload, f'cameras[{index}]', copy)
        for index, entry in enumerate(_maps(header, 'cameras'))
    ]
    extra, info = header.get('extra'), header.get('info')
    return Observation(
        _number(header.get('timestamp') or 0.0, 'timestamp'),
        cameras,
        proprios,
        extra if isinstance(extra, dict) else {},
        info if isinstance(info, dict) else {},
    )


def _read_camera(
    entry: Mapping[str, Any], payload: memoryview, where: str, copy: bool
) -> CameraView:
    def array(what: str) -> np.ndarray:
        data = _slice(entry, f'{what}_offset', f'{what}_size', payload, f'{where}.{what}')
        kind = entry.get(f'{what}_dtype')
        view = read_array(entry.get(f'{what}_shape'), kind, data, f'{where}.{what}')
        return view.copy() if copy else view

    return CameraView(
        str(entry.get('name')),
        _number(entry.get('timestamp') or 0.0, f'{where}.timestamp'),
        _matrix(entry.get('intrinsics'), 3, f'{where}.intrinsics'),
        _matrix(entry.get('extrinsics'), 4, f'{where}.extrinsics'),
        array('image'),
        array('depth') if entry.get('depth_shape') is not None else None,
    )


def _whole(kind: object, data: memoryview, where: str, copy: bool) -> np.ndarray:
    size = np.dtype(kind).itemsize if kind in ('float32', 'float64') else 4
    view = read_array([len(data) // size], kind, data, where)
    return view.copy() if copy else view


def _maps(header: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    values = header.get(key) or []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise MalformedMessage(f'{key} is {values!r:.60}, not a list of maps')
    return values


def _slice(
    entry: Mapping[str, Any], offset_key: str, size_key: str, payload: memoryview, where: str
) -> memoryview:
    offset, size = entry.get(offset_key), entry.get(size_key)
    if type(offset) is not int or type(size) is not int or offset < 0 or size < 0:
        raise MalformedMessage(f'{where}: offset {offset!r:.40} or size {size!r:.40} is invalid')
    if offset + size > len(payload):
        raise MalformedMessage(
            f'{where}: bytes {offset} to {offset + size} of a payload of {len(payload)}'
        )
    return payload[offset : offset + size]


def _matrix(values: object, side: int, where: str) -> np.ndarray:
    if isinstance(values, list) and len(values) == side * side:
        return np.array([_number(v, where) for v in values]).reshape(side, side)
    raise MalformedMessage(f'{where} is {values!r:.60}, not {side * side} numbers')


def _number(value: object, where: str) -> float:
    # Integers stay integers: unix nanoseconds do not fit a float64.
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return value
    raise MalformedMessage(f'{where} is {value!r:.40}, not a finite number')
