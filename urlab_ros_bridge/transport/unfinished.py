# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Ends connections of clients that begin messages and do not finish them.

libzmq keeps what has arrived of a message, counts messages and not their parts, and has no time
limit for either.  The system knows how many bytes a connection has received (TCP_INFO), and the
router knows which connections have finished a message.
"""

from __future__ import annotations

from dataclasses import dataclass
import logging
import os
import socket as sockets
import threading
import time

import zmq

from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.transport.connection_events import ConnectionEvents
from urlab_ros_bridge.transport.server_sockets import PeerConnection

MAX_BYTES = 64 << 20  # since the last message was finished
MAX_SECONDS = 30.0  # likewise, once it has sent more than a handshake and some pings
_FEW_BYTES = 1 << 14
_POLL_SECONDS = 0.25
_BYTES_RECEIVED = slice(128, 136)  # of struct tcp_info
_EVENTS = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_MONITOR_STOPPED
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Progress:
    """
    What is known of a connection.

    :ivar base: bytes that it had received when it finished a message last.
    :ivar since: s by time.monotonic, of that.
    """

    connection: PeerConnection
    base: int
    since: float


class UnfinishedMessages(threading.Thread):
    """Watches the connections of one bound socket."""

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        """Start to record connections; call it before the socket is bound."""
        super().__init__(name='rpc-unfinished', daemon=True)
        self._events = ConnectionEvents(socket, _EVENTS)
        self._log = LimitedLog(_LOG)
        self._connections: dict[int, _Progress] = {}
        self._finished: set[int] = set()
        # Called for each message with the descriptor of its connection, by any thread.
        self.finish = self._finished.add

    def run(self) -> None:
        """Watch until the socket's monitor is stopped."""
        while True:
            if not self._events.poll(_POLL_SECONDS if self._connections else None):
                self._check()
                continue
            event, descriptor = self._events.take()
            if event == zmq.EVENT_MONITOR_STOPPED:
                return
            self._connections.pop(descriptor, None)
            if event == zmq.EVENT_ACCEPTED:
                connection = PeerConnection.of_descriptor(descriptor)
                if connection is not None:
                    self._connections[descriptor] = _Progress(connection, 0, time.monotonic())

    def stop(self) -> None:
        """End the thread; the socket stays open."""
        self._events.stop()
        if self.is_alive():
            self.join(timeout=5.0)
        self._events.release()

    def _check(self) -> None:
        now = time.monotonic()
        for descriptor, progress in self._connections.items():
            received = _bytes_received(descriptor)
            if descriptor in self._finished:
                self._finished.discard(descriptor)
                progress.base, progress.since = received, now
            held, seconds = received - progress.base, now - progress.since
            if held > MAX_BYTES or (held > _FEW_BYTES and seconds > MAX_SECONDS):
                self._log.warning('closed a connection: %d bytes of an unfinished message', held)
                progress.connection.end()
            elif held <= _FEW_BYTES:
                progress.since = now


def _bytes_received(descriptor: int) -> int:
    """Return how many bytes a connection has received, 0 when it has ended."""
    try:
        with sockets.socket(fileno=os.dup(descriptor)) as copy:
            info = copy.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_INFO, 136)
    except OSError:
        return 0
    return int.from_bytes(info[_BYTES_RECEIVED], 'little')
