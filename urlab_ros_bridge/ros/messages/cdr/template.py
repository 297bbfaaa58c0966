# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A serialised message that is rewritten in place."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import functools
import re
import struct
from typing import Any

import numpy as np
from rclpy.serialization import serialize_message

from urlab_ros_bridge.ros.messages.cdr.layout import Field
from urlab_ros_bridge.ros.messages.cdr.layout import FieldMismatch
from urlab_ros_bridge.ros.messages.cdr.layout import HEADER
from urlab_ros_bridge.ros.messages.cdr.layout import lay_out
from urlab_ros_bridge.ros.messages.cdr.layout import Layout
from urlab_ros_bridge.ros.messages.cdr.layout import TemplateMismatch
from urlab_ros_bridge.wire.errors import UnknownName

# Fast DDS aligns the elements of an empty sequence when it computes the length, but not when it
# writes: each may add up to this many bytes at the end, which readers ignore.
_MAX_TRAILING = 8
# Where the name of a message or sequence ends and that of its element begins.
_STEP = re.compile(r'[.\[]')
_STRUCT_CODES = {
    'u1': 'B',
    'i1': 'b',
    'u2': 'H',
    'i2': 'h',
    'u4': 'I',
    'i4': 'i',
    'u8': 'Q',
    'i8': 'q',
    'f4': 'f',
    'f8': 'd',
}


class Template:
    """
    The serialisation of a message whose strings and sequences keep their lengths.

    Views and writers stay valid for the life of the template.  `to_bytes` is a bound C method,
    three times as fast as ``bytes(buffer)``.
    """

    def __init__(self, message: Any) -> None:
        """
        Lay out the message, and compare with what the middleware makes of it.

        :param message: a filled message object; it is not kept.
        :raises TemplateMismatch: when rclpy's serialiser gives other bytes.
        :raises UnsupportedType: when a field has no portable layout.
        """
        layout = lay_out(message)
        serialized = serialize_message(message)
        check(type(message).__name__, layout, serialized)
        # Bytes after the last field are zeros; the middleware determines their number.
        self._buffer = layout.data.ljust(len(serialized), b'\0')
        self.message_type = type(message)
        self.fields = layout.fields
        self._padding = frozenset(layout.padding)
        self.to_bytes: Callable[[], bytes] = memoryview(self._buffer).tobytes

    def array(self, path: str) -> np.ndarray:
        """
        Return a writable view of a sequence or array of primitives, of shape (count,).

        :raises UnknownName: for a path that is none, with those that there are.
        :raises FieldMismatch: when it is something else.
        """
        (found, *others) = self._below(path)
        if others or found.count is None or found.text:
            raise FieldMismatch(path, 'an array', 'a string' if found.text else 'something else')
        return np.ndarray((found.count,), found.dtype, self._buffer, found.offset)

    def writer(self, path: str) -> Callable[..., None]:
        """
        Return a function that writes all primitives below a path, given one by one in order.

        The fastest way for values that are Python numbers: ``writer('pose.pose')(x, y, z, ...)``.
        It raises struct.error for a wrong number of values or one that does not fit.

        :raises FieldMismatch: when there is a string or sequence below the path.
        """
        run = self._below(path)
        layout = '<'
        offset = run[0].offset
        for item in run:
            if item.text or not self._padding.issuperset(range(offset, item.offset)):
                raise FieldMismatch(path, 'primitives alone', f'a message with {item.path!r}')
            count = '' if item.count is None else item.count
            layout += f'{item.offset - offset}x{count}{_STRUCT_CODES[item.dtype.str[1:]]}'
            offset = item.offset + item.nbytes
        return functools.partial(struct.Struct(layout).pack_into, self._buffer, run[0].offset)

    def table(self, paths: Sequence[str], dtype: str, count: int) -> Callable[[Any], None]:
        """
        Return a function that writes many blocks at once: ``table(paths, 'f8', 7)(rows)``.

        It takes whatever numpy broadcasts to shape (len(paths), count); one call costs little more
        than a writer for one of them.

        :param paths: nested messages such as ``transforms[0].transform``, arrays or primitives.
        :param dtype: numpy type that all of their primitives have, e.g. ``'f8'``.
        :param count: how many each path has.
        :raises FieldMismatch: when they have another type or number, or gaps in between.
        """
        wanted = np.dtype(dtype).newbyteorder('<')
        runs = self._runs(paths)
        for path, run in runs.items():
            _check_block(path, run, wanted, count)
        # CDR aligns every primitive to its size, counted from the end of the header.
        size, body = wanted.itemsize, len(HEADER)
        flat = np.ndarray(((len(self._buffer) - body) // size,), wanted, self._buffer, body)
        starts = [(runs[path][0].offset - body) // size for path in paths]
        places = np.array(starts, np.intp)[:, None] + np.arange(count)

        def write(values: Any) -> None:
            flat[places] = values

        return write

    def _below(self, path: str) -> list[Field]:
        own = self.fields.get(path)
        return self._runs([path])[path] if own is None else [own]

    def _runs(self, paths: Iterable[str]) -> dict[str, list[Field]]:
        """
        Return the fields at or below each path, in the order of the message.

        One pass for all paths: a table has one for each of thousands of markers.
        """
        runs: dict[str, list[Field]] = {path: [] for path in paths}
        for name, found in self.fields.items():
            for path in _paths_to(name):
                if path in runs:
                    runs[path].append(found)
        for path, run in runs.items():
            if not run:
                raise UnknownName('field', path, self.fields)
        return runs


def _check_block(path: str, run: list[Field], dtype: np.dtype, count: int) -> None:
    """Raise FieldMismatch unless the fields are `count` numbers of a type, without gaps."""
    found = sum(1 if item.count is None else item.count for item in run)
    end = run[0].offset + count * dtype.itemsize
    if (
        found != count
        or run[-1].offset + run[-1].nbytes != end
        or any(item.dtype != dtype or item.text for item in run)
    ):
        kinds = ', '.join(dict.fromkeys(item.dtype.str for item in run))
        raise FieldMismatch(path, f'{count} x {dtype.str}', f'{found} x {kinds}')


def _paths_to(name: str) -> Iterator[str]:
    """
    Yield the paths of all messages and sequences that a field is in, then its own.

    >>> list(_paths_to('markers[0].pose.position'))
    ['markers', 'markers[0]', 'markers[0].pose', 'markers[0].pose.position']
    """
    for end in _STEP.finditer(name):
        yield name[: end.start()]
    yield name


def check(name: str, layout: Layout, serialized: bytes) -> None:
    """
    Compare a layout with the middleware's serialisation of the same message.

    Padding is left out of the comparison: Fast CDR does not clear it.

    :raises TemplateMismatch: when they differ.
    """
    expected = bytearray(serialized)
    if expected[:2] != HEADER[:2]:
        raise TemplateMismatch(
            name,
            'the middleware does not use plain little-endian CDR '
            f'(encapsulation {expected[:4].hex()}, not {HEADER.hex()})',
        )
    excess = len(expected) - len(layout.data)
    if not 0 <= excess < _MAX_TRAILING * (1 + len(layout.fields)):
        raise TemplateMismatch(
            name, f'the middleware makes {len(expected)} bytes, the layout {len(layout.data)}'
        )
    for offset in layout.padding:
        expected[offset] = 0
    # The last two bytes of the header are options without a meaning for version 1.
    if expected[4 : len(layout.data)] != layout.data[4:]:
        first = next(
            index for index in range(4, len(layout.data)) if expected[index] != layout.data[index]
        )
        raise TemplateMismatch(name, f'byte {first} differs')
