# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Reads numbers from snapshots without decoding them.

The snapshots of one world have the same keys and vector lengths, packed at full width, so of one
and the next only the bytes of numbers differ.  Where they are is learned from the first one.
Any other bytes, such as those of a server that packs short integers, are left to the decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
import struct
from typing import Any

import numpy as np

from urlab_ros_bridge.wire.encoding import stepwise
from urlab_ros_bridge.wire.encoding.limits import MAX_DEPTH

Path = tuple[str | int, ...]

_TIME, _STEP = struct.Struct('>d'), struct.Struct('>q')
_NUMBER_BYTES = 8
# As `struct` writes them: the numbers that take all of these bytes.
_FLOAT, _INTEGERS = '>d', ('>Q', '>q')


class _OtherBytes(Exception):
    """The bytes are not msgpack, or have values that are not read here."""


class PackedState:
    """
    Reads some of the numbers in snapshots that differ in their numbers alone.

    Not thread-safe.
    """

    def __init__(self, snapshot: bytes, wanted: Sequence[Path]) -> None:
        """
        Learn from a snapshot, which was decoded without an error.

        :param wanted: where the numbers are, such as ``('entities', 'box', 'qpos', 0)``.
        """
        self._kept = b''
        fixed = np.full(len(snapshot), 0xFF, np.uint8)
        try:
            found = _Places(snapshot)
            wanted_places = [found.floats[path] for path in wanted]
            self._time, self._step = found.floats[('time',)], found.integers[('step',)]
        except (_OtherBytes, KeyError, UnicodeDecodeError):
            return
        for place in (*found.floats.values(), *found.integers.values()):
            fixed[place : place + _NUMBER_BYTES] = 0
        self._fixed = fixed
        self._bytes = np.add.outer(
            np.array(wanted_places, np.intp), np.arange(_NUMBER_BYTES)
        ).ravel()
        self._work = np.frombuffer(snapshot, np.uint8) & fixed
        self._kept = self._work.tobytes()

    def read(self, snapshot: bytes) -> tuple[float, int, np.ndarray] | None:
        """Return time (s), step and the wanted numbers; None for a snapshot of another kind."""
        if not self._kept or len(snapshot) != len(self._kept):
            return None
        raw = np.frombuffer(snapshot, np.uint8)
        if np.bitwise_and(raw, self._fixed, out=self._work).tobytes() != self._kept:
            return None
        (time,) = _TIME.unpack_from(snapshot, self._time)
        (step,) = _STEP.unpack_from(snapshot, self._step)
        return time, step, raw.take(self._bytes).view('>f8').astype(float)


class _Places:
    """
    Where the numbers of full width in a msgpack frame are.

    :ivar floats: path -> place of its eight bytes; `integers` likewise.
    """

    def __init__(self, frame: bytes) -> None:
        """
        Look at each value.

        :raises _OtherBytes: for anything but maps, lists, texts, constants and such numbers.
        """
        self._frame, self._at = frame, 0
        self.floats: dict[Path, int] = {}
        self.integers: dict[Path, int] = {}
        self._value(())

    def _value(self, path: Path) -> None:
        if len(path) > MAX_DEPTH:
            raise _OtherBytes
        kind, size = self._head()
        if kind == stepwise.NUMBER:
            if size.format != _FLOAT and size.format not in _INTEGERS:
                raise _OtherBytes
            (self.floats if size.format == _FLOAT else self.integers)[path] = self._at
            self._take(_NUMBER_BYTES)
        elif kind == stepwise.MAP:
            for _ in range(size):
                self._value((*path, self._key()))
        elif kind == stepwise.LIST:
            for index in range(size):
                self._value((*path, index))
        elif kind == stepwise.TEXT:
            self._take(size)
        elif kind != stepwise.CONSTANT:
            raise _OtherBytes

    def _key(self) -> str:
        kind, size = self._head()
        if kind != stepwise.TEXT:
            raise _OtherBytes
        return self._take(size).decode()

    def _head(self) -> tuple[int, Any]:
        """Return the kind of the next value, and what it has of these: layout, length, value."""
        head = stepwise.HEADS[self._take(1)[0]]
        if head is None:
            raise _OtherBytes
        kind, size = head
        if kind != stepwise.NUMBER and isinstance(size, struct.Struct):
            (size,) = size.unpack(self._take(size.size))
        return kind, size

    def _take(self, count: int) -> bytes:
        if self._at + count > len(self._frame):
            raise _OtherBytes
        self._at += count
        return self._frame[self._at - count : self._at]


__all__ = ['PackedState', 'Path']
