# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Binary messages between the gateway and its page, both ways (docs/webxr_protocol.md).

The first byte is the kind.  Numbers are little-endian; arrays begin at a multiple of 4, so that a
browser can read them in place.  Positions are y-up metres: (x, y, z) of MuJoCo is (x, z, -y).
"""

from __future__ import annotations

from collections.abc import Mapping
import struct
from typing import Any
from typing import NamedTuple

import numpy as np
import orjson

from urlab_ros_bridge.wire.errors import UrlabError

STATE, TEXT, IMAGE, CONTACTS, ACK = 1, 2, 3, 4, 5

# kind, 3 spare bytes, number of the message, time (s), step, counts of bodies and values
_STATE = struct.Struct('<B3xIdQII')
# kind, camera, width, height, time (s)
_IMAGE = struct.Struct('<BxHHHd')
_CONTACTS = struct.Struct('<B3xI')
_ACK = struct.Struct('<B3xI')
MAX_TEXT = 1 << 16


class BadPageMessage(UrlabError, ValueError):
    """The bytes from a page are not a valid message."""


class Request(NamedTuple):
    """
    A request of a page.

    :ivar number: echoed in the answer; None: no answer is expected.
    """

    op: str
    number: int | None
    fields: dict[str, Any]


def state(number: int, time: float, step: int, poses: np.ndarray, values: np.ndarray) -> bytes:
    """
    Return a state.

    :param poses: shape (n, 7), float32: position, quaternion x y z w, y up.
    :param values: shape (m,), float32: of the watched channels, concatenated.
    """
    head = _STATE.pack(STATE, number & 0xFFFFFFFF, time, step, len(poses), len(values))
    return head + poses.tobytes() + values.tobytes()


def text(content: dict[str, Any]) -> bytes:
    """Return a JSON message; numbers that are not finite become null."""
    return bytes([TEXT]) + orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)


def published(
    meshes: Mapping[str, Any], assets: Mapping[str, str], overlays: Mapping[str, Any]
) -> bytes:
    """
    Return the message with the publications.

    :param meshes: id -> placement, as in scene_state; `overlays` likewise.
    :param assets: id -> ``data:`` URI of the meshes that the page does not have yet.
    """
    content = {'type': 'published', 'meshes': meshes, 'assets': assets, 'overlays': overlays}
    return text(content)


def image(camera: int, width: int, height: int, time: float, jpeg: bytes) -> bytes:
    """Return an image of the camera with this index in the description."""
    return _IMAGE.pack(IMAGE, camera, width, height, time) + jpeg


def contacts(rows: np.ndarray) -> bytes:
    """Return contacts, shape (n, 6), float32: position and force on the first body (N), y up."""
    return _CONTACTS.pack(CONTACTS, len(rows)) + rows.tobytes()


def read_message(message: bytes) -> Request | int:
    """
    Decode a message of a page: a request, or the number of the state that it has drawn.

    :raises BadPageMessage: for anything else.
    """
    kind = message[0] if message else None
    if kind == ACK:
        if len(message) != _ACK.size:
            raise BadPageMessage(f'an acknowledgement has {_ACK.size} bytes, not {len(message)}')
        number: int = _ACK.unpack(message)[1]
        return number
    if kind != TEXT:
        raise BadPageMessage(f'message of kind {kind}; valid: {TEXT} (request), {ACK} (ack)')
    if len(message) > MAX_TEXT:
        raise BadPageMessage(f'a request of {len(message)} bytes; at most {MAX_TEXT} are allowed')
    return _read_request(message[1:])


def _read_request(body: bytes) -> Request:
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadPageMessage(f'not JSON: {error!s:.100}') from None
    if not isinstance(content, dict):
        raise BadPageMessage('a request must be a JSON object')
    op, number = content.pop('op', None), content.pop('id', None)
    if not isinstance(op, str):
        raise BadPageMessage('a request must have a string "op"')
    if number is not None and type(number) is not int:
        raise BadPageMessage('the "id" of a request must be a whole number')
    return Request(op, number, content)


__all__ = [
    'ACK',
    'CONTACTS',
    'IMAGE',
    'MAX_TEXT',
    'STATE',
    'TEXT',
    'BadPageMessage',
    'Request',
    'contacts',
    'image',
    'published',
    'read_message',
    'state',
    'text',
]  # fmt: skip
