# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the state stream out of what a PUB socket sends, where possible a tick at a time."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from urlab_ros_bridge.client.state.known_runs import KnownRuns
from urlab_ros_bridge.client.transports.subscriptions.publisher_reader import PublisherReader
from urlab_ros_bridge.client.transports.subscriptions.publisher_reader import Reader
from urlab_ros_bridge.wire.rows import SIM_TIME_TOPIC
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

_PARTS = 2  # of a row: its topic and its payload
_CLOSING = SIM_TIME_TOPIC.encode()
_STATE_FULL = STATE_FULL_TOPIC.encode()
_SMALL = 1 << 17  # bytes of a row that is copied with others; snapshots of large worlds are larger
_RECENT = 8  # ticks, of which the smallest is expected to come again


class Rows(NamedTuple):
    """
    Rows that came together.

    :ivar rows: (topic, payload); empty where a message was no row.
    :ivar distinct: no topic is there twice, and no snapshot.
    """

    rows: list[tuple[bytes, bytes]]
    distinct: bool


class RowReader(PublisherReader, Reader[Rows]):
    """Gives rows."""

    def __init__(self, limit: int) -> None:
        """
        Begin.

        :param limit: of a row, in bytes.
        """
        super().__init__(limit, lambda size: memoryview(bytearray(size)), _SMALL)
        self._known = KnownRuns()
        self._tick = 0  # bytes so far
        self._ticks: deque[int] = deque(maxlen=_RECENT)

    @property
    def missing(self) -> int:
        """
        Return the bytes that are missing to most of the next tick, if it is like the last ones.

        Not to all of it: snapshots are some bytes shorter or longer each time.
        """
        if self._body is not None:
            return super().missing
        most = 3 * min(self._ticks, default=0) // 4
        return max(most - self._tick - (self._end - self._begin), 1)

    def subscribe(self, topics: tuple[bytes, ...]) -> None:
        super().subscribe(topics)
        self._known.forget()
        self._ticks.clear()

    def next(self) -> Rows | None:
        if self._body is None and not self._parts:
            rows, size = self._known.match(self._bytes, self._begin, self._end)
            if rows:
                self._begin += size
                self._count_rows(size, rows[-1][0])
                return Rows(rows, True)
        message = self._next_message()
        if message is None:
            return None
        if len(message) != _PARTS:
            self._known.end()
            return Rows([], False)
        topic, payload = (bytes(part) for part in message)
        if topic == _STATE_FULL:  # it has another size each time
            self._known.end()
        else:
            self._known.note(topic, len(payload))
            if topic == _CLOSING:
                self._known.end()
        self._count_rows(self._last_total, topic)
        return Rows([(topic, payload)], False)

    def _count_rows(self, size: int, topic: bytes) -> None:
        """Note that rows have come, of which this is the last."""
        self._tick += size
        if topic == _CLOSING:
            self._ticks.append(self._tick)
            self._tick = 0


__all__ = ['RowReader', 'Rows']
