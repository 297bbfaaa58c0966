# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Where each field of a message is in its serialisation.

The rules are those of plain CDR version 1, little-endian (OMG DDS-XTYPES 1.3, section 7.4.1.1, and
the encapsulation header of RTPS 2.5, section 10.2): a primitive is aligned to its own size,
counted from the first byte after the 4-byte header; a sequence or string is a uint32 count and its
elements, a string counts its closing NUL; an array has no count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field
import struct
from typing import Any

import numpy as np
from rosidl_parser.definition import AbstractNestedType
from rosidl_parser.definition import AbstractSequence
from rosidl_parser.definition import AbstractString
from rosidl_parser.definition import BasicType
from rosidl_parser.definition import NamespacedType

from urlab_ros_bridge.wire.errors import UrlabError


class CdrError(UrlabError):
    """Base of the errors of this package."""


class UnsupportedType(CdrError, TypeError):
    """A field has a type whose serialisation differs between implementations."""

    def __init__(self, path: str, typename: str) -> None:
        super().__init__(
            f'field {path!r} is a {typename}, which has no portable layout in CDR; '
            'all types of ROS interfaces except wstring and wchar are supported'
        )


class FieldMismatch(CdrError, TypeError):
    """A field was requested as something that it is not."""

    def __init__(self, path: str, wanted: str, found: str) -> None:
        super().__init__(f'field {path!r} was requested as {wanted}, but is {found}')


class TemplateMismatch(CdrError):
    """The layout computed here differs from the middleware's."""

    def __init__(self, message_type: str, reason: str) -> None:
        super().__init__(f'cannot make a template of {message_type}: {reason}')


HEADER = b'\x00\x01\x00\x00'

# IDL type -> numpy type; the names on the left are rosidl_parser.definition.BASIC_TYPES.
DTYPES: dict[str, np.dtype] = {
    name: np.dtype(code)
    for name, code in {
        'boolean': 'u1',
        'octet': 'u1',
        'char': 'u1',
        'uint8': 'u1',
        'int8': 'i1',
        'int16': '<i2',
        'short': '<i2',
        'uint16': '<u2',
        'unsigned short': '<u2',
        'int32': '<i4',
        'long': '<i4',
        'uint32': '<u4',
        'unsigned long': '<u4',
        'int64': '<i8',
        'long long': '<i8',
        'uint64': '<u8',
        'unsigned long long': '<u8',
        'float': '<f4',
        'double': '<f8',
    }.items()
}


@dataclass(frozen=True, slots=True)
class Field:
    """
    One primitive, string or run of primitives.

    `offset` counts bytes from the start of the serialised message, header included.  `count` is
    None for a single primitive, else the number of elements.  A string has `text` set, and counts
    its bytes without the NUL.
    """

    path: str
    dtype: np.dtype
    offset: int
    count: int | None
    text: bool = False

    @property
    def nbytes(self) -> int:
        """Number of bytes it takes."""
        return self.dtype.itemsize * (1 if self.count is None else self.count)


@dataclass(slots=True)
class Layout:
    """
    The fields of one message, in order, and its serialisation.

    `data` is the whole message with zeros as padding; `padding` lists the offsets of the padding
    bytes, whose content the standard leaves open.
    """

    fields: dict[str, Field] = field(default_factory=dict)
    data: bytearray = field(default_factory=lambda: bytearray(HEADER))
    padding: list[int] = field(default_factory=list)

    def align(self, size: int) -> None:
        """Pad to a multiple of `size` bytes after the header."""
        missing = -(len(self.data) - len(HEADER)) % size
        self.padding.extend(range(len(self.data), len(self.data) + missing))
        self.data.extend(bytes(missing))

    def count(self, length: int) -> None:
        """Append the count of a sequence or string."""
        self.align(4)
        self.data += struct.pack('<I', length)

    def primitive(self, path: str, dtype: np.dtype, value: Any) -> None:
        """Append one primitive."""
        self.align(dtype.itemsize)
        self.fields[path] = Field(path, dtype, len(self.data), None)
        self.data += dtype.type(value).astype(dtype).tobytes()

    def run(self, path: str, dtype: np.dtype, values: np.ndarray) -> None:
        """Append primitives without gaps; an empty run is not aligned."""
        if len(values):
            self.align(dtype.itemsize)
        self.fields[path] = Field(path, dtype, len(self.data), len(values))
        self.data += values.tobytes()

    def string(self, path: str, value: str) -> None:
        """Append a string with its count and NUL; like strings of C, it ends at its first NUL."""
        data = value.encode().partition(b'\0')[0]
        self.count(len(data) + 1)
        self.fields[path] = Field(path, DTYPES['uint8'], len(self.data), len(data), text=True)
        self.data += data + b'\0'


def lay_out(message: Any) -> Layout:
    """
    Compute the layout of a message object, as it is filled now.

    Paths are written as in Python: ``pose.pose.position.x``, ``transforms[0].header.stamp.sec``.

    :raises UnsupportedType: for wide characters and long doubles.
    """
    layout = Layout()
    _message(layout, '', message)
    return layout


def _message(layout: Layout, path: str, message: Any) -> None:
    names = list(message.get_fields_and_field_types())
    if not names:
        # IDL has no empty structures: rosidl gives them one hidden octet.
        layout.data += b'\0'
        layout.padding.append(len(layout.data) - 1)
    for name, slot_type in zip(names, message.SLOT_TYPES, strict=True):
        _value(layout, f'{path}.{name}' if path else name, slot_type, getattr(message, name))


def _value(layout: Layout, path: str, kind: Any, value: Any) -> None:
    if isinstance(kind, BasicType):
        dtype = _dtype(path, kind)
        layout.primitive(path, dtype, value[0] if isinstance(value, bytes) else value)
    elif isinstance(kind, AbstractString):
        layout.string(path, value)
    elif isinstance(kind, NamespacedType):
        _message(layout, path, value)
    elif isinstance(kind, AbstractNestedType):
        _elements(layout, path, kind, value)
    else:
        raise UnsupportedType(path, getattr(kind, 'typename', type(kind).__name__))


def _elements(layout: Layout, path: str, kind: AbstractNestedType, values: Any) -> None:
    if isinstance(kind, AbstractSequence):
        layout.count(len(values))
    if isinstance(kind.value_type, BasicType):
        dtype = _dtype(path, kind.value_type)
        layout.run(path, dtype, _primitives(dtype, values))
        return
    for index, value in enumerate(values):
        _value(layout, f'{path}[{index}]', kind.value_type, value)


def _primitives(dtype: np.dtype, values: Iterable[Any]) -> np.ndarray:
    """Return the elements as an array; octets come as bytes of length one."""
    if isinstance(values, list | tuple) and values and isinstance(values[0], bytes):
        return np.frombuffer(b''.join(values), dtype)
    return np.asarray(values, dtype)


def _dtype(path: str, kind: BasicType) -> np.dtype:
    try:
        return DTYPES[kind.typename]
    except KeyError:
        raise UnsupportedType(path, kind.typename) from None
