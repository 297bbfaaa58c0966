# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Frames of the request/reply channel: one msgpack (or JSON) map each.

Rules, from the Protocol Reference ("Wire encoding", "JSON fallback") and from what stock peers do:

- A request may be msgpack or JSON at any time: a first byte ``{`` or white space means JSON.
- Under JSON a binary field ``key`` travels as ``key_base64`` (stock peers also write
  ``key__b64__``).
- Map keys that are not strings are dropped, extension types become null.

Every decoder is total: any bytes give a value or a `WireError`, and the size is checked first.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from typing import Any

import msgpack

from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import MalformedFrame

MAX_REQUEST_BYTES = 16 * 1024 * 1024
MAX_REPLY_BYTES = 1024 * 1024 * 1024
MAX_JSON_DEPTH = 100
BASE64_SUFFIX = '_base64'
_BASE64_SUFFIXES = (BASE64_SUFFIX, '__b64__')
_JSON_FIRST_BYTES = frozenset(b'{ \t\n\r')


def pack(message: dict[str, Any], encoding: str = 'msgpack') -> bytes:
    """
    Encode a message.

    :param encoding: ``'msgpack'`` (binary stays binary) or ``'json'`` (binary becomes base64 text
        under ``<key>_base64``).
    """
    if encoding == 'json':
        return json.dumps(_json_value(message), allow_nan=False, separators=(',', ':')).encode()
    return msgpack.packb(message)


def unpack(frame: bytes | memoryview, limit: int = MAX_REQUEST_BYTES) -> dict[str, Any]:
    """
    Decode a msgpack or JSON frame into a dict with string keys.

    :param limit: the largest frame accepted, in bytes.
    :raises FrameTooLarge: before anything is decoded.
    :raises MalformedFrame: when the frame is neither, or its top level is not a map.
    """
    size = len(frame)
    if size > limit:
        raise FrameTooLarge(size, limit)
    if size == 0:
        raise MalformedFrame('frame is empty')
    if frame[0] in _JSON_FIRST_BYTES:
        return _unpack_json(bytes(frame))
    try:
        message = msgpack.unpackb(
            frame, ext_hook=_drop_extension, timestamp=1, object_hook=_refuse_binary_keys
        )
    except Exception:  # msgpack raises ValueError, TypeError, its own classes: all mean the same
        message = _unpack_loosely(frame)
    if type(message) is not dict:
        raise MalformedFrame(f'top level is {type(message).__name__}, expected a map')
    return message


def _drop_extension(code: int, data: bytes) -> None:
    return None


def _refuse_binary_keys(fields: dict[Any, Any]) -> dict[str, Any]:
    """Raise for keys of bytes, which msgpack's own check of map keys lets by."""
    if bytes in map(type, fields):
        raise ValueError('a map key is binary')
    return fields


def _string_keys(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    return {key: value for key, value in pairs if isinstance(key, str)}


def _unpack_loosely(frame: bytes | memoryview) -> Any:
    """Decode msgpack whose maps hold keys that are no strings, then try JSON."""
    try:
        return msgpack.unpackb(
            frame,
            ext_hook=_drop_extension,
            timestamp=1,
            strict_map_key=False,
            object_pairs_hook=_string_keys,
        )
    except Exception as error:
        try:
            return _unpack_json(bytes(frame))
        except MalformedFrame:
            raise MalformedFrame(f'frame is neither msgpack nor JSON: {error}') from error


def _unpack_json(frame: bytes) -> dict[str, Any]:
    try:
        message = json.loads(frame, parse_int=_integer, parse_constant=_no_number)
        # An escaped half of a surrogate pair is text that can never be sent again.
        json.dumps(message, ensure_ascii=False).encode()
    except (ValueError, RecursionError, OverflowError) as error:
        raise MalformedFrame(f'frame is not JSON: {error}') from error
    if not isinstance(message, dict):
        raise MalformedFrame(f'top level is {type(message).__name__}, expected a map')
    return _restore_binary(message)


def _integer(digits: str) -> int | float:
    """Return an integer that msgpack can carry, else the nearest float, as stock peers do."""
    value = int(digits)
    return value if -(2**63) <= value < 2**64 else float(value)


def _no_number(name: str) -> None:
    raise ValueError(f'{name} is no JSON number')


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


def _restore_binary(value: Any, depth: int = 0) -> Any:
    """Turn ``<key>_base64`` companions back into bytes under ``key``; keep what is no base64."""
    if depth > MAX_JSON_DEPTH:
        raise MalformedFrame(f'JSON is nested deeper than {MAX_JSON_DEPTH}')
    if isinstance(value, list):
        return [_restore_binary(item, depth + 1) for item in value]
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
        out[key] = _restore_binary(item, depth + 1)
    return out
