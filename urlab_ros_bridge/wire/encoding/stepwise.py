# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
msgpack decoded in short steps, with everything counted.

msgpack's own decoder is quicker, but it keeps the interpreter from the first byte to the last and
limits each container, not all of them together.  This one is a generator: it pauses at every
yield, after about a tenth of a millisecond, and gives up at the first value too many.  It keeps
the rules of `codec`: keys that are not text are dropped, extension types become null.
"""

from __future__ import annotations

import codecs
from collections.abc import Generator
import struct
from typing import Any

import msgpack
import numpy as np

from urlab_ros_bridge.wire.encoding.limits import DecodeLimits
from urlab_ros_bridge.wire.encoding.limits import MAX_DEPTH
from urlab_ros_bridge.wire.errors import MalformedFrame

STEP = 200  # values between two yields
_STEP_BYTES = 1 << 11  # of text, binary or packed numbers count like a value
_CHUNK = 1 << 16  # bytes of text that are decoded at a time
_RUN = 4096  # numbers that are taken at a time
_FLOAT64 = 0xCB
_SHORTEST_RUN = 16
_DROPPED = object()

CONSTANT, NUMBER, TEXT, BINARY, LIST, MAP, EXTENSION = range(7)


def _heads() -> list[tuple[int, Any] | None]:
    """Return what each first byte of a value means: its kind, and value, size or layout."""
    heads: list[tuple[int, Any] | None] = [None] * 256
    for byte in range(0x80):
        heads[byte] = (CONSTANT, byte)
    for byte in range(0xE0, 0x100):
        heads[byte] = (CONSTANT, byte - 0x100)
    for low in range(16):
        heads[0x80 + low] = (MAP, low)
        heads[0x90 + low] = (LIST, low)
    for low in range(32):
        heads[0xA0 + low] = (TEXT, low)
    for byte, value in ((0xC0, None), (0xC2, False), (0xC3, True)):
        heads[byte] = (CONSTANT, value)
    for first, kind, layouts in (
        (0xC4, BINARY, 'BHI'),
        (0xC7, EXTENSION, 'BHI'),
        (0xCA, NUMBER, 'fdBHIQbhiq'),
        (0xD9, TEXT, 'BHI'),
        (0xDC, LIST, 'HI'),
        (0xDE, MAP, 'HI'),
    ):
        for place, layout in enumerate(layouts):
            heads[first + place] = (kind, struct.Struct('>' + layout))
    for place in range(5):
        heads[0xD4 + place] = (EXTENSION, 1 << place)
    return heads


HEADS = _heads()


def unpack_stepwise(frame: bytes | memoryview, limits: DecodeLimits) -> Generator[None, None, Any]:
    """
    Decode a frame; the value is what the generator returns.

    :raises MalformedFrame: when it is not msgpack, or exceeds the limits.
    """
    reader = _StepwiseReader(frame, limits)
    try:
        while not reader.advance(STEP):
            yield
    except (IndexError, struct.error):
        raise MalformedFrame('the frame is cut short') from None
    except (UnicodeDecodeError, ValueError) as error:
        if isinstance(error, MalformedFrame):
            raise
        raise MalformedFrame(f'the frame is not msgpack: {error}') from error
    return reader.value


def _long_text(part: memoryview) -> str:
    """Decode a text in pieces, between which other threads may have the interpreter."""
    decoder = codecs.getincrementaldecoder('utf-8')()
    pieces = [
        decoder.decode(part[start : start + _CHUNK]) for start in range(0, len(part), _CHUNK)
    ]
    pieces.append(decoder.decode(b'', True))
    return ''.join(pieces)


class _StepwiseReader:
    """
    A position in a frame, and the containers around it.

    :ivar value: what was decoded, when `advance` has returned true.
    """

    def __init__(self, frame: bytes | memoryview, limits: DecodeLimits) -> None:
        self._data = frame
        self._view = memoryview(frame)
        self._limits = limits
        self._place = 0
        self._values = self._containers = 0
        # Of the container that is being filled: values to come (keys count), and the last key.
        self._box: list[Any] | dict[str, Any] | None = None
        self._left = 0
        self._key: Any = _DROPPED
        self._around: list[tuple[list[Any] | dict[str, Any], int, Any]] = []
        self._runs = True
        self.value: Any = None

    def advance(self, budget: int) -> bool:
        """Decode about `budget` values; return whether that was the last one."""
        data, heads = self._data, HEADS
        while budget > 0:
            head = data[self._place]
            box = self._box
            if (
                head == _FLOAT64
                and self._left >= _SHORTEST_RUN
                and self._runs
                and type(box) is list
            ):
                budget -= self._take_run(box)
                if self._left == 0 and self._close():
                    return True
                continue
            self._place += 1
            budget -= 1
            meaning = heads[head]
            if meaning is None:
                raise MalformedFrame(f'byte {head:#04x} does not begin a value')
            kind, detail = meaning
            if kind == CONSTANT:
                value = detail
            elif kind == NUMBER:
                (value,) = detail.unpack_from(data, self._place)
                self._place += detail.size
            else:
                size = self._size(detail)
                if kind in (LIST, MAP):
                    if self._open(kind, size):
                        continue
                    value = {} if kind == MAP else []
                else:
                    value = self._blob(kind, size)
                    budget -= size // _STEP_BYTES
            if self._place_value(value):
                return True
        return False

    def _size(self, detail: int | struct.Struct) -> int:
        if isinstance(detail, int):
            return detail
        size: int
        (size,) = detail.unpack_from(self._data, self._place)
        self._place += detail.size
        return size

    def _blob(self, kind: int, size: int) -> Any:
        """Return a text, a binary or null for an extension."""
        start = self._place + (kind == EXTENSION)
        self._place = end = start + size
        if end > len(self._data):
            raise IndexError
        part = self._view[start:end]
        if kind == TEXT:
            return str(part, 'utf-8') if size <= _CHUNK else _long_text(part)
        if kind == BINARY:
            return bytes(part)
        if self._data[start - 1] == 0xFF:  # a time, which the other decoder knows too
            return msgpack.Timestamp.from_bytes(bytes(part)).to_unix()
        return None

    def _open(self, kind: int, size: int) -> bool:
        """Begin a map or a list; false when it is empty."""
        self._containers += 1
        count = 2 * size if kind == MAP else size
        self._values += count
        limits = self._limits
        if self._containers > limits.containers:
            raise MalformedFrame(f'more than {limits.containers} maps and lists')
        if self._values > limits.values:
            raise MalformedFrame(f'more than {limits.values} values')
        if count > len(self._data) - self._place:  # each takes a byte at least
            raise IndexError
        if len(self._around) + (self._box is not None) >= MAX_DEPTH:
            raise MalformedFrame(f'nested deeper than {MAX_DEPTH}')
        if not count:
            return False
        if self._box is not None:
            self._around.append((self._box, self._left, self._key))
        self._box = {} if kind == MAP else []
        self._left, self._key = count, _DROPPED
        return True

    def _place_value(self, value: Any) -> bool:
        """Put a value where it belongs; return whether everything is complete."""
        box = self._box
        if box is None:
            return self._finish(value)
        if type(box) is list:
            box.append(value)
        elif self._left & 1:
            if self._key is not _DROPPED:
                box[self._key] = value
        else:
            self._key = value if type(value) is str else _DROPPED
        self._left -= 1
        return self._left == 0 and self._close()

    def _close(self) -> bool:
        """Take the full container for a value of the one around it."""
        value = self._box
        if not self._around:
            return self._finish(value)
        self._box, self._left, self._key = self._around.pop()
        return self._place_value(value)

    def _finish(self, value: Any) -> bool:
        if self._place != len(self._data):
            raise MalformedFrame(f'{len(self._data) - self._place} bytes follow the message')
        if type(value) is not dict:
            raise MalformedFrame(f'top level is {type(value).__name__}, expected a map')
        self.value = value
        return True

    def _take_run(self, box: list[Any]) -> int:
        """Take float64 numbers that follow each other, many at once; return what that costs."""
        count = min(self._left, _RUN, (len(self._data) - self._place) // 9)
        if count == 0:
            raise IndexError
        table = np.frombuffer(self._data, np.uint8, 9 * count, self._place).reshape(count, 9)
        other = np.flatnonzero(table[:, 0] != _FLOAT64)
        if len(other):
            count = int(other[0])
        # Where floats and other values take turns, one at a time is quicker.
        self._runs = count >= _SHORTEST_RUN
        box.extend(table[:count, 1:].copy().view('>f8')[:, 0].tolist())
        self._left -= count
        self._place += 9 * count
        return 10 + 9 * count // _STEP_BYTES


__all__ = ['unpack_stepwise']
