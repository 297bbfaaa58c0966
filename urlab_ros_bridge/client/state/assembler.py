# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Splitting the row stream into ticks, without sockets.

Rows carry no time, and only the last message of a tick marks its end: ``sim_time`` from the
bundled server, ``state/full`` from stock servers.  Which of the two is learned from the stream,
again when it changes (another server may take over the port).  With neither, a tick ends where one
of its topics repeats, and its stamp is wall time.
"""

from __future__ import annotations

from collections import deque
import time

from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.client.state.tick import TopicCache
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.rows import POINTS
from urlab_ros_bridge.wire.rows import SIM_TIME
from urlab_ros_bridge.wire.rows import SIM_TIME_TOPIC
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

CLOSINGS = ('auto', 'sim_time', 'state_full')
# A tick with more rows never ends: its closing row is not coming.
MAX_TICK_ROWS = 1 << 16
# More consecutive snapshots without sim_time mean that the server does not send it.
_SNAPSHOTS_TO_RELEARN = 3

_SIM_TIME = SIM_TIME_TOPIC.encode()
_STATE_FULL = STATE_FULL_TOPIC.encode()
_POINTS = POINTS.encode()


class TickAssembler:
    """
    Collects rows into ticks.

    :ivar ready: finished ticks, oldest first; the caller removes them.
    :ivar closed_by: how ticks are closed, None while unknown.
    :ivar wants_snapshot: true when only `state/full` could give the time of this stream.
    :ivar decode_errors: closing rows that could not be read.
    :ivar torn_ticks: ticks whose beginning was discarded because the closing row of the one before
        was lost.
    """

    def __init__(self, closing: str = 'auto') -> None:
        if closing not in CLOSINGS:
            raise UnknownName('closing rule', closing, CLOSINGS)
        self.ready: deque[Tick] = deque()
        self.wants_snapshot = closing == 'state_full'
        self.decode_errors = 0
        self.torn_ticks = 0
        self.closed_by: str | None = None if closing == 'auto' else closing
        self._fixed = closing != 'auto'
        self._topics = TopicCache()
        self._snapshots = 0
        self._rows: list[tuple[bytes, bytes]] = []
        self._points: list[tuple[bytes, bytes]] = []
        self._clear()

    def push(self, topic: bytes, payload: bytes) -> None:
        """Take one row."""
        if topic == _SIM_TIME:
            self._take_sim_time(payload)
        elif topic == _STATE_FULL:
            self._take_snapshot(payload)
        elif topic.startswith(_POINTS):
            self._points.append((topic, payload))
            if len(self._points) > MAX_TICK_ROWS:
                self.abandon()
        else:
            if self.closed_by is None:
                self._take_undecided(topic)
            rows = self._rows
            rows.append((topic, payload))
            if len(rows) > MAX_TICK_ROWS:
                self.abandon()

    def abandon(self) -> None:
        """Discard the unfinished tick, and what was learned about the stream."""
        self.decode_errors += 1
        self._relearn()
        self._clear()

    def _clear(self) -> None:
        self._rows, self._points = [], []
        self._snapshot: bytes | None = None
        self._seen: set[bytes] = set()
        self._began_ns = 0

    def _relearn(self) -> None:
        if not self._fixed:
            self.closed_by = None
        self._snapshots = 0

    def _close(self, closed_by: str, stamp_ns: int, step: int, wall_ns: int | None) -> None:
        self.ready.append(
            Tick(
                stamp_ns,
                step,
                wall_ns,
                self._rows,
                self._snapshot,
                closed_by,
                self._points,
                self._topics,
            )
        )
        self._clear()

    def _take_sim_time(self, payload: bytes) -> None:
        if self.closed_by == 'state_full':
            if not self._fixed:  # this row followed its tick: it closes ticks from the next one on
                self.closed_by = 'sim_time'
                self._clear()
            return
        if not self._fixed:
            self.closed_by = 'sim_time'
        self._snapshots = 0
        if len(payload) != SIM_TIME.size:
            self.decode_errors += 1
            self._clear()
            return
        self._drop_torn_rows()
        self._close('sim_time', *SIM_TIME.unpack(payload))

    def _take_snapshot(self, payload: bytes) -> None:
        if self.closed_by == 'state_full':
            self._snapshot = payload
            self._drop_torn_rows()
            self._close('state_full', 0, -1, None)
            return
        if self.closed_by is None and self._snapshot is not None:
            self._settle_on_snapshots()
            self._take_snapshot(payload)
            return
        self._snapshot = payload
        self._snapshots += 1
        if self.closed_by == 'sim_time' and self._snapshots > _SNAPSHOTS_TO_RELEARN:
            self._relearn()

    def _take_undecided(self, topic: bytes) -> None:
        if self._snapshot is not None:  # what followed state/full was not sim_time
            self._settle_on_snapshots()
            return
        if topic in self._seen:
            self.wants_snapshot = True
            self._close('wall', self._began_ns, -1, None)
        if not self._rows:
            self._began_ns = time.time_ns()
        self._seen.add(topic)

    def _settle_on_snapshots(self) -> None:
        self.closed_by = 'state_full'
        self._drop_torn_rows()
        self._close('state_full', 0, -1, None)

    def _drop_torn_rows(self) -> None:
        """Keep the last tick's rows only, if a lost closing row joined two ticks."""
        rows = self._rows
        if len({topic for topic, _ in rows}) == len(rows):
            return
        self.torn_ticks += 1
        seen: set[bytes] = set()
        start = len(rows)
        while start and rows[start - 1][0] not in seen:
            start -= 1
            seen.add(rows[start][0])
        del rows[:start]
