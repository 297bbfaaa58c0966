# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The state of a running world, received as ticks: rows of the PUB socket, or snapshots.

Rows (joints, sensors, entities) are sent over ZeroMQ only.  Shared memory (`state.shm`, Protocol
Reference, "Transports") holds the newest snapshot, which is what `state/full` holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
import time

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.replies.observations import MAX_SNAPSHOT_BYTES
from urlab_ros_bridge.client.state.assembler import TickAssembler
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.transport.keys import KeySource
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.transport.shm.access import RegionReader
from urlab_ros_bridge.transport.shm.directory import STATE_FILE
from urlab_ros_bridge.transport.shm.stream import Directory
from urlab_ros_bridge.transport.shm.stream import open_stream
from urlab_ros_bridge.transport.shm.stream import RegionStream
from urlab_ros_bridge.transport.stream import SubscriberStream
from urlab_ros_bridge.transport.subscriber import Subscriber
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.ops import STATE_PORT
from urlab_ros_bridge.wire.rows import SIM_TIME_TOPIC
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

_STATE_FULL = STATE_FULL_TOPIC.encode()
_DRAIN_ROWS = 50_000  # at most in one poll, even if more keep arriving


@dataclass(slots=True)
class StreamStats:
    """
    Counters of a stream since it was opened.

    :ivar dropped_ticks: complete ticks that were discarded because the consumer lagged.
    :ivar torn_ticks: ticks that lost rows because a closing row was lost.
    :ivar last_receive: `time.monotonic` of the last row, None before the first.
    """

    ticks: int = 0
    rows: int = 0
    decode_errors: int = 0
    dropped_ticks: int = 0
    torn_ticks: int = 0
    last_receive: float | None = None


class StateStream(SubscriberStream[Tick]):
    """
    Rows of a PUB socket as ticks.

    It reconnects automatically, also when the peer died silently.  `receive` may run in one thread
    while others subscribe, unsubscribe and close.

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
        :param backlog: ticks that wait for a consumer that lags; older ones are dropped and
            counted.  1: the newest wins; None: all that the socket holds.
        :param rcvhwm: messages that the socket holds for a consumer that lags.
        :param keys: see `Session`.
        """
        self.stats = StreamStats()
        self._backlog = backlog
        self._assembler = TickAssembler(closing)
        self._ready = self._assembler.ready
        self._changes: deque[tuple[bool, bytes]] = deque()
        # In order: the closing row is subscribed to before the rows that it closes.
        self._topics: dict[bytes, None] = {}
        for topic in (SIM_TIME_TOPIC, *topics):
            self._topics[_encoded(topic)] = None
        if self._wants_snapshot():
            self._topics[_STATE_FULL] = None
        endpoint = f'tcp://{host}:{state_port}'
        subscriber = Subscriber(
            endpoint,
            self._topics,
            max_bytes=MAX_SNAPSHOT_BYTES,
            rcvhwm=rcvhwm,
            keys=read_client_keys(keys),
        )
        super().__init__(endpoint, subscriber)

    @property
    def closed_by(self) -> str | None:
        """How ticks are closed: ``sim_time``, ``state_full``, or None when not known (yet)."""
        return self._assembler.closed_by

    def subscribe(self, topic: str | bytes) -> None:
        """Also receive rows whose topic begins with `topic`."""
        name = _encoded(topic)
        if name not in self._topics:
            self._topics[name] = None
            self._change(True, name)

    def unsubscribe(self, topic: str | bytes) -> None:
        """Undo a `subscribe` of the same text."""
        name = _encoded(topic)
        if name in self._topics:
            del self._topics[name]
            self._change(False, name)

    def _next(self) -> Tick | None:
        self._apply_changes()
        if self._backlog is not None or not self._ready:
            self._drain()
        return self._next_ready()

    def _change(self, on: bool, topic: bytes) -> None:
        """Apply a change at once, unless another thread is receiving: that applies it."""
        self._changes.append((on, topic))
        self._wake()
        if self._lock.acquire(blocking=False):
            try:
                if not self._closed:
                    self._apply_changes()
            finally:
                self._lock.release()

    def _apply_changes(self) -> None:
        while self._changes:
            on, topic = self._changes.popleft()
            (self._subscriber.subscribe if on else self._subscriber.unsubscribe)(topic)

    def _wants_snapshot(self) -> bool:
        """Return whether ticks need state/full and no subscription covers it."""
        return self._assembler.wants_snapshot and not any(
            map(_STATE_FULL.startswith, self._topics)
        )

    def _add_snapshot(self) -> None:
        """Subscribe to state/full if it is needed."""
        if self._wants_snapshot():
            self._topics[_STATE_FULL] = None
            self._subscriber.subscribe(_STATE_FULL)

    def _drain(self) -> None:
        """Take what has arrived; without a limit of the backlog only up to the first tick."""
        assembler, push, count = self._assembler, self._assembler.push, 0
        while count < _DRAIN_ROWS and not (self._ready and self._backlog is None):
            rows, is_damaged = self._subscriber.receive_rows()
            for topic, payload in rows:
                push(topic, payload)
            if is_damaged:
                assembler.abandon()  # a sender's messages have another number of parts
            elif not rows:
                break
            count += len(rows) + is_damaged
        if count or assembler.decode_errors != self.stats.decode_errors:
            self._account(count)

    def _account(self, rows: int) -> None:
        """Update the counters, and drop ticks beyond the backlog."""
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


def _encoded(topic: str | bytes) -> bytes:
    return topic.encode() if isinstance(topic, str) else topic


class ShmStateStream(RegionStream[Tick]):
    """
    Ticks with a snapshot each, always the newest.

    The server writes while a reader has the region open.  `receive` may run in one thread while
    another one closes.

    :ivar stats: counters, see `StreamStats`; `dropped_ticks` counts states that a newer one
        replaced, `rows` the states that were read.
    :ivar closed_by: always ``state_full``: time and step of a tick are those in its snapshot.
    """

    closed_by = 'state_full'

    def __init__(self, directory: Directory, *, stamped: bool = True) -> None:
        """
        Open the region, which has to be there.

        :param directory: the handshake's `shm_session_dir`, or a function that returns that of
            the latest handshake; only with a function does the stream continue after a restart.
        :param stamped: False: snapshots are not decoded, so ticks lack time and step.
        :raises RegionUnavailable: when the region cannot be opened.
        :raises MalformedRegion: when it is none.
        """
        self.stats = StreamStats()
        self._stamped = stamped
        super().__init__(directory, STATE_FILE)

    def _read(self, reader: RegionReader) -> Tick | None:
        stats = self.stats
        try:
            payload = reader.read()
            if payload is None:
                return None
            stats.rows += 1
            stats.dropped_ticks += self._count(reader)
            stats.last_receive = time.monotonic()
            tick = Tick(0, -1, None, [], payload, self.closed_by)
            if self._stamped:
                tick.stamp_from_snapshot()
        except (WireError, ProtocolError):
            stats.decode_errors += 1
            return None
        stats.ticks += 1
        return tick


TickSource = StateStream | ShmStateStream


def open_state(
    shm_dir: Directory,
    host: str = '127.0.0.1',
    state_port: int = STATE_PORT,
    *,
    transport: str = 'auto',
    keys: KeySource = None,
    stamped: bool = True,
) -> TickSource:
    """
    Open a stream of the world's state: ticks whose `state()` is filled.

    :param shm_dir: the handshake's `shm_session_dir`, or a function that returns that of the
        latest handshake, with which a stream continues after a restart of the server.
    :param transport: ``zmq``, ``shm``, or ``auto``: shared memory when the server is here.
    :param keys: see `Session`.
    :param stamped: False: snapshots are not decoded before `Tick.state`; over shared memory, ticks
        lack time and step.
    :raises RegionUnavailable: with ``shm``, when there is none.
    :raises MalformedRegion: with ``shm``, when it makes no sense.
    :raises UnknownName: for another transport.
    """
    return open_stream(
        transport,
        shm_dir,
        host,
        lambda: ShmStateStream(shm_dir, stamped=stamped),
        lambda: StateStream(host, state_port, (STATE_FULL_TOPIC,), keys=keys),
    )


__all__ = ['ShmStateStream', 'StateStream', 'StreamStats', 'TickSource', 'open_state']
