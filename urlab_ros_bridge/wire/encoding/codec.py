# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Frames of the request/reply channel: one msgpack (or JSON) map each.

Rules, from the Protocol Reference ("Wire encoding", "JSON fallback") and from what stock peers do:

- A request may be msgpack or JSON at any time: a first byte ``{`` or white space means JSON.
- Under JSON a binary field ``key`` travels as ``key_base64`` (stock peers also write
  ``key__b64__``).
- Map keys that are not strings are dropped, extension types become null.

The decoder is total: any bytes give a value or a `WireError`.  The size is checked first, so a
hostile request costs at most a third of a second (`bench/hostile_frames.py`).
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from typing import Any

import msgpack

from urlab_ros_bridge.wire.encoding.limits import MAX_DEPTH
from urlab_ros_bridge.wire.encoding.limits import MAX_ITEMS
from urlab_ros_bridge.wire.encoding.limits import MAX_JSON_CONTAINERS
from urlab_ros_bridge.wire.encoding.limits import MAX_JSON_VALUES
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_DEPTH
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_ITEMS
from urlab_ros_bridge.wire.encoding.limits import MAX_REQUEST_BYTES
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import MalformedFrame

BASE64_SUFFIX = '_base64'
_BASE64_SUFFIXES = (BASE64_SUFFIX, '__b64__')
_JSON_FIRST_BYTES = frozenset(b'{ \t\n\r')
_MAP_FIRST_BYTES = frozenset((*range(0x80, 0x90), 0xDE, 0xDF))
_CONTAINER_BYTES = bytes((*range(0x80, 0xA0), 0xDC, 0xDD, 0xDE, 0xDF))
_CONTAINERS = {dict, list}
# What Python's JSON decoder leaves wrong is searched only where the bytes suggest it.
_LONG_INTEGER = re.compile(b'[0-9]{19}')
_SURROGATE = re.compile(r'\\u[dD][89a-fA-F]')


def pack(message: dict[str, Any], encoding: str = 'msgpack') -> bytes:
    """
    Encode a message.

    :param encoding: ``'msgpack'`` (binary stays binary) or ``'json'`` (binary becomes base64 text
        under ``<key>_base64``).
    """
    if encoding == 'json':
        return json.dumps(_json_value(message), allow_nan=False, separators=(',', ':')).encode()
    packed: bytes = msgpack.packb(message)
    return packed


def pack_error(code: str, message: str, encoding: str = 'msgpack') -> bytes:
    """Encode an error reply; it has exactly op, code and message."""
    return pack({'op': 'error', 'code': code, 'message': message}, encoding)


def unpack(frame: bytes | memoryview, limit: int = MAX_REQUEST_BYTES) -> dict[str, Any]:
    """
    Decode a msgpack or JSON frame into a dict with string keys.

    :param limit: the largest frame accepted, in bytes: a reply may have `MAX_REPLY_BYTES`.
    :raises FrameTooLarge: before anything is decoded.
    :raises MalformedFrame: when the frame is neither, its top level is not a map, or it holds more
        than `limits` allow.
    """
    size = len(frame)
    if size > limit:
        raise FrameTooLarge(size, limit)
    if size == 0:
        raise MalformedFrame('frame is empty')
    first = frame[0]
    if first in _MAP_FIRST_BYTES:
        return _unpack_msgpack(frame, limit)
    if first in _JSON_FIRST_BYTES:
        return _unpack_json(bytes(frame), limit)
    raise MalformedFrame(f'first byte {first:#04x} begins neither a msgpack map nor JSON')


def _unpack_msgpack(frame: bytes | memoryview, limit: int) -> dict[str, Any]:
    is_request = limit <= MAX_REQUEST_BYTES
    items = MAX_ITEMS if is_request else MAX_REPLY_ITEMS
    depth = MAX_DEPTH if is_request else MAX_REPLY_DEPTH
    try:
        message: dict[str, Any] = msgpack.unpackb(
            frame,
            ext_hook=_drop_extension,
            object_hook=_drop_odd_keys,
            strict_map_key=False,
            timestamp=1,
            max_array_len=items,
            max_map_len=items,
        )
    # msgpack raises ValueError and its own classes; TypeError for a key that is a list or a map.
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise MalformedFrame(f'the frame is not msgpack: {reason}') from error
    if _may_nest_deep(frame, depth) and not _depth_is_right(message, depth):
        raise MalformedFrame(f'the frame is nested deeper than {depth}')
    return message


def _drop_odd_keys(fields: dict[Any, Any]) -> dict[str, Any]:
    for key in fields:
        if type(key) is not str:
            return {key: value for key, value in fields.items() if type(key) is str}
    return fields


def _may_nest_deep(frame: bytes | memoryview, most: int) -> bool:
    """Return whether a frame may hold more than `most` containers; numbers look like some."""
    size = len(frame)
    if size <= most:
        return False
    return size - len(bytes(frame).translate(None, _CONTAINER_BYTES)) > most


def _depth_is_right(message: dict[str, Any], most: int) -> bool:
    """Return whether no more than `most` containers are inside each other."""
    level: list[Any] = [message]
    for depth in range(most):
        last = depth == most - 1  # elsewhere, an empty container leads no deeper
        inner: list[Any] = []
        for box in level:
            items = box.values() if type(box) is dict else box
            if not _CONTAINERS.isdisjoint(map(type, items)):
                inner += [item for item in items if type(item) in _CONTAINERS and (item or last)]
        if not inner:
            return True
        level = inner
    return False


def _drop_extension(code: int, data: bytes) -> None:
    return None


def _unpack_json(frame: bytes, limit: int) -> dict[str, Any]:
    containers = frame.count(b'{') + frame.count(b'[')
    depth = MAX_REPLY_DEPTH
    if limit <= MAX_REQUEST_BYTES:
        depth = MAX_DEPTH
        if containers > MAX_JSON_CONTAINERS:
            raise MalformedFrame(f'more than {MAX_JSON_CONTAINERS} opening brackets in JSON')
        if frame.count(b',') + frame.count(b':') > MAX_JSON_VALUES:
            raise MalformedFrame(f'more than {MAX_JSON_VALUES} commas and colons in JSON')
    try:
        text = frame.decode()
        hook = _integer if _LONG_INTEGER.search(frame) else None
        message = json.loads(text, parse_int=hook, parse_constant=_no_number)
        if _SURROGATE.search(text):
            # An escaped half of a surrogate pair is text that can never be sent again.
            json.dumps(message, ensure_ascii=False).encode()
    except (ValueError, RecursionError, OverflowError) as error:
        raise MalformedFrame(f'frame is not JSON: {error}') from error
    if not isinstance(message, dict):
        raise MalformedFrame(f'top level is {type(message).__name__}, expected a map')
    if containers > depth and not _depth_is_right(message, depth):
        raise MalformedFrame(f'JSON is nested deeper than {depth}')
    # A key may spell its underscore, or anything else, as an escape.
    if '_base64' in text or '__b64__' in text or '\\u' in text:
        message = _restore_binary(message)
    restored: dict[str, Any] = message
    return restored


def _integer(digits: str) -> int | float:
    """Return an integer that msgpack can carry, else the nearest float, as stock peers do."""
    value = int(digits)
    return value if -(2**63) <= value < 2**64 else float(value)


def _no_number(name: str) -> None:
    raise ValueError(f'{name} is not a JSON number')


def _json_value(value: Any) -> Any:
    """Return `value` with bytes as base64 companions and numbers that JSON has (no NaN)."""
    if isinstance(value, dict):
        out: dict[str, Any] = {}
        for key, item in value.items():
            if isinstance(item, (bytes, bytearray, memoryview)):
                out[key + BASE64_SUFFIX] = base64.b64encode(item).decode('ascii')
            else:
                out[key] = _json_value(item)
        return out
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode('ascii')
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _restore_binary(value: Any) -> Any:
    """Turn ``<key>_base64`` companions back into bytes under ``key``; keep what is not base64."""
    if isinstance(value, list):
        if _CONTAINERS.isdisjoint(map(type, value)):
            return value
        return [_restore_binary(item) for item in value]
    if not isinstance(value, dict):
        return value
    out: dict[str, Any] = {}
    for key, item in value.items():
        suffix = next((end for end in _BASE64_SUFFIXES if key.endswith(end)), None)
        if suffix and isinstance(item, str):
            try:
                out[key[: -len(suffix)]] = base64.b64decode(item, validate=True)
                continue
            except (binascii.Error, ValueError):
                pass
        out[key] = _restore_binary(item)
    return out
