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

import zmq

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.errors import StreamClosed
from urlab_ros_bridge.client.replies.observations import MAX_SNAPSHOT_BYTES
from urlab_ros_bridge.client.state.assembler import TickAssembler
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.client.transports.sockets import notice_dead_hosts
from urlab_ros_bridge.client.transports.sockets import open_socket
from urlab_ros_bridge.files.curve_keys import ClientKeys
from urlab_ros_bridge.files.curve_keys import KeySource
from urlab_ros_bridge.files.curve_keys import read_client_keys
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.ops import STATE_PORT
from urlab_ros_bridge.wire.rows import SIM_TIME_TOPIC
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

# How often a waiting receive looks at changes that other threads asked for.
_SLICE = 0.05
# A drain ends after so many rows even if more keep coming, as soon as there is a tick.
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
    A SUB socket whose rows come out as ticks.

    It reconnects by itself, also when the peer died silently (heartbeats).  `receive` may
    run in one thread while others subscribe, unsubscribe and close.

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
        :param rcvhwm: messages that the socket holds.
        :param keys: see `Session`.
        """
        self.endpoint = f'tcp://{host}:{state_port}'
        self.stats = StreamStats()
        self._backlog = backlog
        self._assembler = TickAssembler(closing)
        self._ready = self._assembler.ready
        self._lock = threading.Lock()
        self._changes: deque[tuple[int, bytes]] = deque()
        self._closed = False
        self._muted = False
        # In their order: the closing row must be there before what it closes.
        self._topics: dict[bytes, None] = {}
        self._socket = self._open(rcvhwm, read_client_keys(keys))
        self._poll = [(self._socket, zmq.POLLIN)]
        self.subscribe(SIM_TIME_TOPIC)
        for topic in topics:
            self.subscribe(topic)
        self._add_snapshot()
        self._socket.connect(self.endpoint)

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
            self._change(zmq.SUBSCRIBE, name)

    def unsubscribe(self, topic: str | bytes) -> None:
        """Undo a `subscribe` of the same text."""
        name = topic.encode() if isinstance(topic, str) else topic
        if name in self._topics:
            del self._topics[name]
            self._change(zmq.UNSUBSCRIBE, name)

    def mute(self, mute: bool) -> None:
        """Have nothing sent for a while, or everything that is subscribed again."""
        if mute != self._muted:
            self._muted = mute
            option = zmq.UNSUBSCRIBE if mute else zmq.SUBSCRIBE
            self._changes.extend((option, name) for name in self._topics)
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
                    zmq.zmq_poll(self._poll, math.ceil(min(left, _SLICE) * 1000))
            finally:
                if self._closed:
                    self._socket.close(0)

    def close(self) -> None:
        """Close the socket; a `receive` that waits in another thread raises `StreamClosed`."""
        self._closed = True
        if self._lock.acquire(timeout=20 * _SLICE):
            self._socket.close(0)
            self._lock.release()

    def _open(self, rcvhwm: int, keys: ClientKeys | None) -> zmq.Socket[bytes]:
        socket = open_socket(zmq.SUB, keys)
        socket.rcvhwm = rcvhwm
        socket.maxmsgsize = MAX_SNAPSHOT_BYTES
        notice_dead_hosts(socket)
        return socket

    def _change(self, option: int, topic: bytes) -> None:
        if not self._muted:
            self._changes.append((option, topic))
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
            self._socket.set(*self._changes.popleft())

    def _add_snapshot(self) -> None:
        """Subscribe to state/full when ticks need it and no subscription covers it."""
        name = STATE_FULL_TOPIC.encode()
        if self._assembler.wants_snapshot and not any(map(name.startswith, self._topics)):
            self._topics[name] = None
            if not self._muted:
                self._socket.subscribe(name)

    def _drain(self) -> None:
        """Take what the socket holds; without a backlog limit only up to the first tick."""
        receive, push, ready = self._socket.recv, self._assembler.push, self._ready
        no_wait, keep_all, count = zmq.NOBLOCK, self._backlog is None, 0
        topic = None
        try:
            while True:
                topic = None
                topic = receive(no_wait)
                payload = receive(no_wait)
                count += 1
                push(topic, payload)
                if ready and (keep_all or count > _DRAIN_ROWS):
                    break
        except zmq.Again:
            if topic is not None:
                self._assembler.abandon()  # half a message: some sender does not send two parts
        if count:
            self._account(count)

    def _account(self, rows: int) -> None:
        stats, assembler = self.stats, self._assembler
        # Asking after each part whether more follow would cost more than receiving it, so the
        # two parts are taken on trust, and out of step is noticed here.
        if self._socket.get(zmq.RCVMORE):
            while self._socket.get(zmq.RCVMORE):
                self._socket.recv()
            assembler.abandon()
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
