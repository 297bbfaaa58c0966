# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Runs of rows recognised by their bytes.

The rows of a tick are mostly those of the one before, with other numbers in them: what is between
the numbers, topics and sizes, is the same.  Comparing all of it at once takes a fraction of the
time that reading row by row does.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from urlab_ros_bridge.wire import zmtp

_MOST_RUNS = 4  # a scanner has a row in some ticks only, for example
_MOST_BYTES = 1 << 16
_MOST_ROWS = 1 << 13


class Run(NamedTuple):
    """
    Rows that follow each other.

    :ivar fields: what is before each payload, and the payload, by turns.
    :ivar last_head: where that of the last row is, which tells most runs apart.
    """

    fields: struct.Struct
    heads: tuple[bytes, ...]
    topics: tuple[bytes, ...]
    last_head: slice


class KnownRuns:
    """The runs that came last."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._rows: list[tuple[bytes, int]] = []
        self._bytes = 0  # of these rows, without what is between them

    def forget(self) -> None:
        """Expect others."""
        self._runs = []
        self._begin()

    def note(self, topic: bytes, size: int) -> None:
        """Note a row that was read by itself; `size` is that of its payload."""
        self._bytes += len(topic) + size
        # A server that never ends a tick must not be remembered without end.
        if self._bytes <= _MOST_BYTES and len(self._rows) < _MOST_ROWS:
            self._rows.append((topic, size))
        else:
            self._rows, self._bytes = [], _MOST_BYTES + 1

    def end(self) -> None:
        """Note that a run ends with the row before."""
        rows = self._rows
        self._begin()
        # One with a topic twice is damaged, and has to be looked at row by row.
        if not rows or len({topic for topic, _ in rows}) < len(rows):
            return
        heads = tuple(zmtp.frame(topic, zmtp.MORE) + zmtp.frame_head(size) for topic, size in rows)
        sizes = [size for _, size in rows]
        fields = struct.Struct(
            ''.join(f'{len(head)}s{size}s' for head, size in zip(heads, sizes, strict=True))
        )
        if fields.size <= _MOST_BYTES:
            stop = fields.size - sizes[-1]
            topics = tuple(topic for topic, _ in rows)
            run = Run(fields, heads, topics, slice(stop - len(heads[-1]), stop))
            self._runs = [run, *self._runs[: _MOST_RUNS - 1]]

    def match(
        self, data: bytearray, begin: int, end: int
    ) -> tuple[list[tuple[bytes, bytes]], int]:
        """
        Return the rows of the run that `data` has from `begin` on, and its bytes.

        :return: no rows where it is not complete, or like none of the last ones.
        """
        for fields, heads, topics, last in self._runs:
            if (
                begin + fields.size > end
                or data[begin + last.start : begin + last.stop] != heads[-1]
            ):
                continue
            values = fields.unpack_from(data, begin)
            if values[::2] == heads:
                self._begin()
                return list(zip(topics, values[1::2], strict=True)), fields.size
        return [], 0

    def _begin(self) -> None:
        """Expect the first row of a run."""
        self._rows, self._bytes = [], 0


__all__ = ['KnownRuns']
