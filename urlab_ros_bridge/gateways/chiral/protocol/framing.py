# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Frames: a length, a msgpack map, raw bytes (Chiral Protocol Reference, "Frame Structure").

Both directions are total: any bytes give a header and a payload, or `MalformedMessage`.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
import math
import struct
from typing import Any
from typing import TypeAlias

import msgpack
import numpy as np

from urlab_ros_bridge.gateways.chiral.errors import MalformedMessage

Buffer: TypeAlias = bytes | bytearray | memoryview

MAX_HEADER = 1 << 20
MAX_DIMENSIONS = 8
PREFIX = struct.Struct('<I')

# Names on the wire -> dtype; the wire has no byte order, so it is little-endian.
DTYPES: dict[str, np.dtype] = {
    name: np.dtype(name).newbyteorder('<')
    for name in (
        'bool', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64',
        'float16', 'float32', 'float64',
    )
}  # fmt: skip

_NAMES = {kind: name for name, kind in DTYPES.items()}

_PLAIN_ERRORS = (ValueError, TypeError, OverflowError, RecursionError)


def pack_frame(header: Mapping[str, Any], parts: Sequence[Buffer] = ()) -> list[Buffer]:
    """
    Return the buffers that make up a frame, in order; the parts are not copied.

    :raises MalformedMessage: when a value of the header is nothing that msgpack can carry.
    """
    try:
        packed = msgpack.packb(header)
    except _PLAIN_ERRORS as error:
        raise MalformedMessage(f'the header cannot be packed: {error}') from error
    return [PREFIX.pack(len(packed)) + packed, *parts]


def split_frame(data: Buffer) -> tuple[dict[str, Any], memoryview]:
    """
    Split a frame into its header and a view of its payload.

    :raises MalformedMessage: when it is not a frame.
    """
    view = memoryview(data).cast('B')
    if len(view) < PREFIX.size:
        raise MalformedMessage(f'a frame of {len(view)} bytes has no header length')
    (size,) = PREFIX.unpack_from(view)
    if size > min(MAX_HEADER, len(view) - PREFIX.size):
        raise MalformedMessage(f'a header of {size} bytes in a frame of {len(view)} bytes')
    end = PREFIX.size + size
    try:
        header = msgpack.unpackb(view[PREFIX.size : end], raw=False)
    except (*_PLAIN_ERRORS, msgpack.exceptions.UnpackException) as error:
        raise MalformedMessage(f'the header is not a msgpack map: {error!s:.60}') from error
    if not isinstance(header, dict):
        raise MalformedMessage(f'the header is a {type(header).__name__}, not a map')
    return header, view[end:]


def message_type(header: Mapping[str, Any]) -> str:
    """
    Return the type of a message.

    :raises MalformedMessage: when there is none.
    """
    name = header.get('type')
    if not isinstance(name, str):
        raise MalformedMessage(f'the type is {name!r:.40}, not a string')
    return name


def read_array(shape: object, dtype: object, data: memoryview, where: str) -> np.ndarray:
    """
    Return a read-only view of `data` as an array.

    :raises MalformedMessage: when shape, dtype and size do not agree.
    """
    kind = DTYPES.get(dtype) if isinstance(dtype, str) else None
    if kind is None:
        raise MalformedMessage(f'{where}: dtype {dtype!r:.40} is not one of {", ".join(DTYPES)}')
    if (
        not isinstance(shape, (list, tuple))
        or len(shape) > MAX_DIMENSIONS
        or not all(type(side) is int and side >= 0 for side in shape)
    ):
        raise MalformedMessage(f'{where}: shape {shape!r:.60} is not a list of sizes')
    needed = math.prod(shape) * kind.itemsize
    if needed != len(data):
        raise MalformedMessage(
            f'{where}: shape {list(shape)} of {dtype} needs {needed} bytes, there are {len(data)}'
        )
    try:
        return np.frombuffer(data, kind).reshape(shape) if needed else np.zeros(shape, kind)
    except ValueError as error:  # a side of an empty array that no array can have
        raise MalformedMessage(f'{where}: shape {shape!r:.60}: {error}') from error


def bytes_of(array: np.ndarray) -> memoryview:
    """Return the bytes of an array in C order; a contiguous array is not copied."""
    if array.flags.c_contiguous and array.size:
        return array.data.cast('B')
    return memoryview(array.tobytes())


def dtype_name(array: np.ndarray) -> str:
    """
    Return the wire name of an array's type.

    :raises MalformedMessage: when the wire has none, or the bytes are in the wrong order.
    """
    name = _NAMES.get(array.dtype)
    if name is None:
        raise MalformedMessage(f'dtype {array.dtype!r} is not one of {", ".join(DTYPES)}')
    return name
