# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Frames of the request/reply channel: one msgpack (or JSON) map each.

Rules, from the Protocol Reference ("Wire encoding", "JSON fallback") and from what stock peers do:

- A request may be msgpack or JSON at any time: a first byte ``{`` or white space means JSON.
- Under JSON a binary field ``key`` travels as ``key_base64`` (stock peers also write
  ``key__b64__``).
- Map keys that are not strings are dropped, extension types become null.

Every decoder is total: any bytes give a value or a `WireError`, the size is checked first, and
`limits` bounds what the rest may cost.  A frame that might cost much is decoded in steps.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Generator
import json
import math
import re
from typing import Any

import msgpack

from urlab_ros_bridge.wire.encoding.known_layouts import KnownLayouts
from urlab_ros_bridge.wire.encoding.limits import DecodeLimits
from urlab_ros_bridge.wire.encoding.limits import MAX_DEPTH
from urlab_ros_bridge.wire.encoding.limits import REPLY
from urlab_ros_bridge.wire.encoding.limits import REQUEST
from urlab_ros_bridge.wire.encoding.stepwise import unpack_stepwise
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import MalformedFrame

MAX_REQUEST_BYTES = REQUEST.size
MAX_REPLY_BYTES = REPLY.size
BASE64_SUFFIX = '_base64'
_BASE64_SUFFIXES = (BASE64_SUFFIX, '__b64__')
_JSON_FIRST_BYTES = frozenset(b'{ \t\n\r')
_MAP_FIRST_BYTES = frozenset((*range(0x80, 0x90), 0xDE, 0xDF))
_CONTAINER_BYTES = bytes((*range(0x80, 0xA0), 0xDC, 0xDD, 0xDE, 0xDF))
# What a C decoder leaves wrong is searched only where the bytes suggest it.
_LONG_INTEGER = re.compile(b'[0-9]{19}')
_SURROGATE = re.compile(r'\\u[dD][89a-fA-F]')
_SHORT = 1000  # bytes; in longer frames, counting takes longer than looking
_LAYOUTS = KnownLayouts()
Steps = Generator[None, None, dict[str, Any]]


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


def unpack(frame: bytes | memoryview, limit: int = MAX_REQUEST_BYTES) -> dict[str, Any]:
    """
    Decode a msgpack or JSON frame into a dict with string keys, within the limits of a reply.

    :param limit: the largest frame accepted, in bytes.
    :raises FrameTooLarge: before anything is decoded.
    :raises MalformedFrame: when the frame is neither, its top level is not a map, or it holds more
        than `wire.encoding.limits.REPLY` allows.
    """
    size = len(frame)
    if size > limit:
        raise FrameTooLarge(size, limit)
    if size > _SHORT and type(frame) is bytes:
        return _unpack_again(frame)
    message = _at_once(frame, REPLY)
    return message if message is not None else _to_the_end(_steps(frame, REPLY))


def _unpack_again(frame: bytes) -> dict[str, Any]:
    """Decode a frame that may have the layout of an earlier one, which passed all checks."""
    if _LAYOUTS.knows(frame):
        again: dict[str, Any] = msgpack.unpackb(frame, ext_hook=_drop_extension, timestamp=1)
        return again
    message = _at_once(frame, REPLY)
    if message is None:
        return _to_the_end(_steps(frame, REPLY))
    if frame[0] in _MAP_FIRST_BYTES:
        _LAYOUTS.learn(frame)
    return message


def unpack_request(frame: bytes) -> dict[str, Any] | Steps:
    """
    Decode a request as `unpack` does, within `wire.encoding.limits.REQUEST`.

    :return: the request when it is cheap to decode, else a generator that decodes it in short
        steps: its value is the request, and it raises what `unpack` raises.
    """
    if len(frame) > REQUEST.size:
        raise FrameTooLarge(len(frame), REQUEST.size)
    message = _at_once(frame, REQUEST)
    return message if message is not None else _steps(frame, REQUEST)


def _at_once(frame: bytes | memoryview, limits: DecodeLimits) -> dict[str, Any] | None:
    """Decode a frame of which that cannot take long; None for others, and for odd ones."""
    size = len(frame)
    if size == 0:
        raise MalformedFrame('frame is empty')
    first = frame[0]
    if first in _MAP_FIRST_BYTES:
        few = size <= limits.at_once_containers or (
            size <= limits.at_once and _container_bytes(frame) <= limits.at_once_containers
        )
        if not few:
            return None
        frame = bytes(frame)
        # A hook costs a call for each map; only a frame with such a byte can have binary keys.
        binary = b'\xc4' in frame or b'\xc5' in frame or b'\xc6' in frame
        hook = _refuse_binary_keys if binary else None
        try:
            message = msgpack.unpackb(
                frame, ext_hook=_drop_extension, timestamp=1, object_hook=hook
            )
        except Exception:  # msgpack raises ValueError, TypeError, its own classes
            return None
        return message if _is_flat(frame) or _depth_is_right(message) else None
    if first not in _JSON_FIRST_BYTES:
        raise MalformedFrame(f'first byte {first:#04x} begins neither a msgpack map nor JSON')
    return _to_the_end(_json_steps(frame, limits)) if _is_quick_json(frame, limits) else None


def _container_bytes(frame: bytes | memoryview) -> int:
    """Return how many maps and lists there are at most; bytes of numbers look like some, too."""
    return len(frame) - len(bytes(frame).translate(None, _CONTAINER_BYTES))


def _is_quick_json(frame: bytes | memoryview, limits: DecodeLimits) -> bool:
    size = len(frame)
    if size <= limits.at_once_containers:
        return True
    if size > limits.at_once:
        return False
    text = bytes(frame)
    brackets = text.count(b'{') + text.count(b'[')
    # What needs a look at each value afterwards is not quick.
    return (
        brackets <= limits.at_once_containers
        and b'\\u' not in text
        and _LONG_INTEGER.search(text) is None
    )


def _refuse_binary_keys(fields: dict[Any, Any]) -> dict[str, Any]:
    """Raise for keys of bytes, which msgpack's own check of map keys lets by."""
    if bytes in map(type, fields):
        raise ValueError('a map key is binary')
    return fields


def _is_flat(frame: bytes | memoryview) -> bool:
    """Return whether a frame holds too few containers to nest them too deep, if that is cheap."""
    size = len(frame)
    return size <= MAX_DEPTH or (size <= _SHORT and _container_bytes(frame) <= MAX_DEPTH)


def _depth_is_right(message: dict[str, Any]) -> bool:
    """Return whether no containers are nested too deep."""
    level: list[Any] = [message]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for box in level:
            if type(box) is dict:
                items: Any = box.values()
            else:
                try:
                    sum(box)  # the quickest way to learn that there are numbers only
                    continue
                except TypeError:
                    items = box
            inner += [item for item in items if type(item) is dict or type(item) is list]
        if not inner:
            return True
        level = inner
    return False


def _steps(frame: bytes | memoryview, limits: DecodeLimits) -> Steps:
    if frame[0] in _JSON_FIRST_BYTES:
        return _json_steps(frame, limits)
    return unpack_stepwise(frame, limits)


def _to_the_end(steps: Steps) -> dict[str, Any]:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            message: dict[str, Any] = end.value
            return message


def _drop_extension(code: int, data: bytes) -> None:
    return None


def _json_steps(frame: bytes | memoryview, limits: DecodeLimits) -> Steps:
    """
    Decode JSON; a step is one pass over the text.

    What each pass costs at most follows from counts that are made first.
    """
    frame = bytes(frame)
    if len(frame) > limits.json_size:
        raise FrameTooLarge(len(frame), limits.json_size, 'JSON frame')
    containers = frame.count(b'{') + frame.count(b'[')
    if containers > limits.containers:
        raise MalformedFrame(f'more than {limits.containers} opening brackets in JSON')
    yield
    if frame.count(b',') + frame.count(b':') > limits.json_values:
        raise MalformedFrame(f'more than {limits.json_values} commas and colons in JSON')
    yield
    try:
        text = frame.decode()
        hook = _integer if _LONG_INTEGER.search(frame) else None
        message = json.loads(text, parse_int=hook, parse_constant=_no_number)
        if _SURROGATE.search(text):
            yield
            # An escaped half of a surrogate pair is text that can never be sent again.
            json.dumps(message, ensure_ascii=False).encode()
    except (ValueError, RecursionError, OverflowError) as error:
        raise MalformedFrame(f'frame is not JSON: {error}') from error
    if not isinstance(message, dict):
        raise MalformedFrame(f'top level is {type(message).__name__}, expected a map')
    yield
    if containers > MAX_DEPTH and not _depth_is_right(message):
        raise MalformedFrame(f'JSON is nested deeper than {MAX_DEPTH}')
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
        if {dict, list}.isdisjoint(map(type, value)):
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
