# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Limits what the connections of a server's sockets may make it hold: memory and descriptors.

libzmq keeps what has arrived of a message, and all subscriptions.  It counts messages, not their
parts or bytes, and limits neither their time nor the number of connections.  The system knows how
many bytes a connection has received (TCP_INFO), and the readers of the sockets report which
connections have finished a message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import logging
import resource
import threading
import time

import zmq

from urlab_ros_bridge.kept_memory import trim_memory
from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.transport.connection_events import ConnectionEvents
from urlab_ros_bridge.transport.peer_connection import PeerConnection

MAX_CONNECTIONS = 1000  # of a socket
# A socket's connections take this part of the descriptors at most: a server has four sockets, and
# needs some for files.
DESCRIPTOR_SHARE = 8
CHECK_SECONDS = 0.1
_FEW_BYTES = 1 << 13  # a handshake and some pings
_GRACE_SECONDS = 1.0  # in which a new connection sends its first message
_MUCH = 1 << 20  # bytes; memory is returned to the system when a connection that held as much ends
_TRIM_SECONDS, _TRIMS = 3.0, 5  # libzmq frees what it held in a while
# After a connection was closed for its subscriptions and these were read, for which no other is
# accepted: whoever floods a port comes back at once, and causes more work than can be done.
REFUSAL_SECONDS = 5.0
_EVENTS_AT_ONCE = 1000
# The last one wakes the thread when it is to end.
_EVENTS = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_MONITOR_STOPPED
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Connection:
    """
    What is known of a connection; times are s by time.monotonic.

    :ivar accepted: when it began.
    :ivar since: when it held few bytes last.
    :ivar used: when it finished a message last, 0 before the first.
    :ivar base: bytes that it had received when it finished a message last.
    :ivar held: bytes received since then.
    """

    peer: PeerConnection
    accepted: float
    since: float
    used: float = 0.0
    base: int = 0
    held: int = 0


class WatchedSocket:
    """
    The connections of one socket.

    :ivar finish: to be called for each message with the descriptor of its connection, by any
        thread.
    """

    def __init__(
        self, socket: zmq.Socket[bytes], held_bytes: int, held_seconds: float, *, keeps: bool
    ) -> None:
        """
        Start to record connections; call it before the socket is bound.

        :param held_bytes: of all connections together; who holds most is closed first.
        :param held_seconds: for which a connection may hold more than a few bytes.
        :param keeps: what a connection sends is kept as long as it lasts, as subscriptions are.
        """
        self.events = ConnectionEvents(socket, _EVENTS)
        self._held_bytes = held_bytes
        self._held_seconds = held_seconds
        self._keeps = keeps
        self._connections: dict[int, _Connection] = {}
        self._finished: set[int] = set()
        self.finish: Callable[[int], None] = self._finished.add
        self._has_freed = False
        self._refuses_until = 0.0
        self._log = LimitedLog(_LOG)

    def take_events(self) -> None:
        """Take note of connections that have begun or ended."""
        for _ in range(_EVENTS_AT_ONCE):
            if not self.events.poll(0):
                return
            event, descriptor = self.events.take()
            self._forget(descriptor)
            if event == zmq.EVENT_ACCEPTED:
                peer = PeerConnection.of_descriptor(descriptor)
                if peer is not None:
                    self._accept(peer, time.monotonic())

    def _accept(self, peer: PeerConnection, now: float) -> None:
        if now < self._refuses_until:
            peer.end()
            return
        self._finished.discard(peer.descriptor)
        self._connections[peer.descriptor] = _Connection(peer, now, now)

    def check(self, now: float) -> bool:
        """
        Close connections that hold too much, or are too many.

        :return: whether a connection that held much has ended since the last check.
        """
        for descriptor in tuple(self._finished):
            if descriptor not in self._connections:  # it has ended, and what it sent is read now
                self._finished.discard(descriptor)
                if now < self._refuses_until:
                    self._refuses_until = now + REFUSAL_SECONDS
        for descriptor, each in self._connections.items():
            self._measure(descriptor, each, now)
        self._end_overdue(now)
        self._end_largest(now)
        self._end_excess(now)
        has_freed, self._has_freed = self._has_freed, False
        return has_freed

    def _measure(self, descriptor: int, each: _Connection, now: float) -> None:
        received = each.peer.bytes_received()
        if descriptor in self._finished:
            self._finished.discard(descriptor)
            each.used = now
            if not self._keeps:
                each.base = received
        each.held = received - each.base
        if each.held <= _FEW_BYTES:
            each.since = now

    def _end_overdue(self, now: float) -> None:
        for each in list(self._connections.values()):
            if now - each.since > self._held_seconds:
                text = 'closed a connection: %d bytes of a message, unfinished for %g s'
                self._end(each, text, each.held, self._held_seconds)

    def _end_largest(self, now: float) -> None:
        total = sum(each.held for each in self._connections.values())
        while total > self._held_bytes:
            largest = max(self._connections.values(), key=lambda each: each.held)
            text = 'closed a connection: it held most, %d bytes; all may hold %d together'
            self._end(largest, text, largest.held, self._held_bytes)
            total -= largest.held
            if self._keeps:
                self._refuses_until = now + REFUSAL_SECONDS

    def _end_excess(self, now: float) -> None:
        """Close those that never sent a message, oldest first, then the least recently used."""
        limit = most_connections()
        excess = len(self._connections) - limit
        if excess <= 0:
            return

        def rank(each: _Connection) -> tuple[bool, bool, float]:
            is_new = now - each.accepted < _GRACE_SECONDS
            return each.used > 0.0, is_new, max(each.used, each.accepted)

        text = 'closed the connection that was idle for longest: there may be %d'
        for each in sorted(self._connections.values(), key=rank)[:excess]:
            self._end(each, text, limit)

    def _end(self, each: _Connection, text: str, *values: object) -> None:
        self._log.warning(text, *values)
        self._forget(each.peer.descriptor)
        each.peer.end()

    def _forget(self, descriptor: int) -> None:
        each = self._connections.pop(descriptor, None)
        if each is not None and each.held > _MUCH:
            self._has_freed = True


class ConnectionGuard(threading.Thread):
    """Watches the sockets of a process; its thread starts with the first of them."""

    def __init__(self) -> None:
        super().__init__(name='connection-guard', daemon=True)
        self._watched: list[WatchedSocket] = []
        self._is_stopping = False

    def watch(self, socket: WatchedSocket) -> None:
        """Also watch this socket."""
        self._watched.append(socket)
        if not self.is_alive():
            self.start()

    def run(self) -> None:
        """Watch until `stop`."""
        next_check = next_trim = 0.0
        trims = 0
        while not self._is_stopping:
            watched = tuple(self._watched)
            readers = [(each.events.reader, zmq.POLLIN) for each in watched]
            zmq.zmq_poll(readers, round(1000 * CHECK_SECONDS))
            for each in watched:
                each.take_events()
            now = time.monotonic()
            if now >= next_check:
                next_check = now + CHECK_SECONDS
                freed = [each.check(now) for each in watched]
                if any(freed):
                    trims = _TRIMS
            if trims and now >= next_trim:
                trims, next_trim = trims - 1, now + _TRIM_SECONDS
                trim_memory()

    def stop(self) -> None:
        """End the thread; the sockets stay open."""
        self._is_stopping = True
        for each in self._watched:
            each.events.stop()
        if self.is_alive():
            self.join(timeout=5.0)
        for each in self._watched:
            each.events.release()


def most_connections() -> int:
    """Return how many connections a socket may have, by the descriptors of this process."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return min(MAX_CONNECTIONS, max(descriptors // DESCRIPTOR_SHARE, 1))
