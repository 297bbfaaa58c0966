# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The state PUB stream of a server, received as ticks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
import math
import threading
import time
from typing import Protocol

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.errors import StreamClosed
from urlab_ros_bridge.client.state.assembler import TickAssembler
from urlab_ros_bridge.client.state.row_sources import open_rows
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.transport.keys import KeySource
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.ops import STATE_PORT
from urlab_ros_bridge.wire.rows import SIM_TIME_TOPIC
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

# How often a waiting receive looks at changes that other threads asked for.
_SLICE = 0.05
_STATE_FULL = STATE_FULL_TOPIC.encode()
# A drain ends after so many rows even if more keep coming.
_DRAIN_ROWS = 50_000


@dataclass(slots=True)
class StreamStats:
    """
    Counters of a stream since it was made.

    :ivar dropped_ticks: whole ticks that were thrown away because the consumer lagged.
    :ivar torn_ticks: ticks that lost rows because a closing row was lost on the way.
    :ivar last_receive: `time.monotonic` of the last row, None before the first.
    """

    ticks: int = 0
    rows: int = 0
    decode_errors: int = 0
    dropped_ticks: int = 0
    torn_ticks: int = 0
    last_receive: float | None = None


class TickSource(Protocol):
    """What every state stream can do, over whichever transport."""

    stats: StreamStats

    def receive(self, timeout: float | None = None) -> Tick | None:
        """Return the next tick, None when none was finished in time."""

    def close(self) -> None:
        """End the stream."""


class StateStream:
    """
    Rows of a PUB socket as ticks.

    It reconnects by itself, also when the peer died silently.  `receive` may run in one thread
    while others subscribe, unsubscribe and close.  Without keys there is no other thread: what
    comes while nobody receives waits with the system, and then with the server.

    :ivar stats: counters, see `StreamStats`.
    """

    def __init__(
        self,
        host: str = '127.0.0.1',
        state_port: int = STATE_PORT,
        topics: Iterable[str | bytes] = ('',),
        *,
        closing: str = 'auto',
        backlog: int | None = 1,
        rcvhwm: int = 20_000,
        keys: KeySource = None,
    ) -> None:
        """
        Connect; a server that is not up yet is waited for.

        :param topics: prefixes to subscribe to, ``''`` is everything.  ``sim_time`` is always
            among them; ``state/full`` is added when nothing else can close ticks.
        :param closing: ``auto``, or the closing row that the server is known to send:
            ``sim_time`` or ``state_full``.
        :param backlog: so many ticks wait for a consumer that lags, older ones are dropped and
            counted; 1 means newest wins, None keeps all that the socket holds.
        :param rcvhwm: messages that libzmq holds, which receives with keys; without, the system
            holds as much as it can.
        :param keys: see `Session`.
        """
        self.endpoint = f'tcp://{host}:{state_port}'
        self.stats = StreamStats()
        self._backlog = backlog
        self._assembler = TickAssembler(closing)
        self._ready = self._assembler.ready
        self._lock = threading.Lock()
        self._changes: deque[tuple[bool, bytes]] = deque()
        self._closed = False
        self._muted = False
        # In their order: the closing row must be there before what it closes.
        self._topics: dict[bytes, None] = {}
        for topic in (SIM_TIME_TOPIC, *topics):
            self._topics[topic.encode() if isinstance(topic, str) else topic] = None
        if self._wants_snapshot():
            self._topics[_STATE_FULL] = None
        self._source = open_rows(self.endpoint, self._topics, rcvhwm, read_client_keys(keys))

    def __enter__(self) -> StateStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def closed_by(self) -> str | None:
        """How ticks are closed: ``sim_time``, ``state_full``, or None when not known (yet)."""
        return self._assembler.closed_by

    def subscribe(self, topic: str | bytes) -> None:
        """Also receive rows whose topic begins with `topic`."""
        name = topic.encode() if isinstance(topic, str) else topic
        if name not in self._topics:
            self._topics[name] = None
            self._change(True, name)

    def unsubscribe(self, topic: str | bytes) -> None:
        """Undo a `subscribe` of the same text."""
        name = topic.encode() if isinstance(topic, str) else topic
        if name in self._topics:
            del self._topics[name]
            self._change(False, name)

    def mute(self, mute: bool) -> None:
        """Have nothing sent for a while, or everything that is subscribed again."""
        if mute != self._muted:
            self._muted = mute
            self._changes.extend((not mute, name) for name in self._topics)
            self._change_soon()

    def receive(self, timeout: float | None = None) -> Tick | None:
        """
        Return the next tick, None when none was finished in time.

        :param timeout: seconds; 0 only polls, None waits forever.
        :raises StreamClosed: after `close`, also when it is called while this waits.
        """
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        with self._lock:
            try:
                while True:
                    self._apply_changes()
                    if self._backlog is not None or not self._ready:
                        self._drain()
                    tick = self._next_ready()
                    if tick is not None:
                        return tick
                    left = deadline - time.monotonic()
                    if left <= 0:
                        return None
                    self._source.wait(min(left, _SLICE))
            finally:
                if self._closed:
                    self._source.close()

    def close(self) -> None:
        """Close the socket; a `receive` that waits in another thread raises `StreamClosed`."""
        self._closed = True
        if self._lock.acquire(timeout=20 * _SLICE):
            self._source.close()
            self._lock.release()

    def _change(self, on: bool, topic: bytes) -> None:
        if not self._muted:
            self._changes.append((on, topic))
            self._change_soon()

    def _change_soon(self) -> None:
        """Apply changes, at once unless another thread is receiving."""
        if self._lock.acquire(blocking=False):
            try:
                if not self._closed:
                    self._apply_changes()
            finally:
                self._lock.release()

    def _apply_changes(self) -> None:
        if self._closed:
            raise StreamClosed(self.endpoint)
        while self._changes:
            on, topic = self._changes.popleft()
            (self._source.subscribe if on else self._source.unsubscribe)(topic)

    def _wants_snapshot(self) -> bool:
        """Return whether ticks need state/full and no subscription covers it."""
        return self._assembler.wants_snapshot and not any(
            map(_STATE_FULL.startswith, self._topics)
        )

    def _add_snapshot(self) -> None:
        """Subscribe to state/full if it is needed."""
        if self._wants_snapshot():
            self._topics[_STATE_FULL] = None
            if not self._muted:
                self._source.subscribe(_STATE_FULL)

    def _drain(self) -> None:
        """Take what has come; without a backlog limit only up to the first tick."""
        take, assembler, count, damaged = self._source.take, self._assembler, 0, 0
        while (taken := take()) is not None:
            rows, distinct = taken
            count += len(rows)
            if distinct:
                assembler.push_rows(rows)
            elif rows:
                for topic, payload in rows:
                    assembler.push(topic, payload)
            else:
                assembler.abandon()  # some sender does not send two parts
                damaged += 1
            if count + damaged > _DRAIN_ROWS or (self._ready and self._backlog is None):
                break
        if count or assembler.decode_errors != self.stats.decode_errors:
            self._account(count)

    def _account(self, rows: int) -> None:
        stats, assembler = self.stats, self._assembler
        if rows:
            stats.rows += rows
            stats.last_receive = time.monotonic()
        stats.decode_errors = assembler.decode_errors
        stats.torn_ticks = assembler.torn_ticks
        while self._backlog is not None and len(self._ready) > self._backlog:
            self._ready.popleft()
            stats.dropped_ticks += 1
        if assembler.wants_snapshot:
            self._add_snapshot()

    def _next_ready(self) -> Tick | None:
        while self._ready:
            tick = self._ready.popleft()
            try:
                if tick.closed_by == 'state_full':
                    tick.stamp_from_snapshot()
            except (WireError, ProtocolError):
                self._assembler.decode_errors += 1
                self.stats.decode_errors = self._assembler.decode_errors
                continue
            self.stats.ticks += 1
            return tick
        return None
