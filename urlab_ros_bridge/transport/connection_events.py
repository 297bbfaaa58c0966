# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Connection events of client sockets: the lost connection of a request, the end of a server.

libzmq's thread, which serves every socket of the process, writes these events, and it blocks when
nobody reads them: when the reader is closed, or when two thousand events are unread.  So the queue
is unbounded here, and the socket is always closed before its reader, also when nobody calls
`close`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
import math
import struct
import threading
import weakref

import zmq

from urlab_ros_bridge.transport.keys import ClientKeys
from urlab_ros_bridge.transport.sockets import open_socket

_numbers = count()
# The first of an event's two frames: its number and its value.  `zmq.utils.monitor`, which reads
# it too, imports asyncio.
_EVENT = struct.Struct('=Hi')
# A server that runs answers the handshake of a connection within this time (s).
_CONNECT_SECONDS = 5.0
_RECONNECT_MS = 10


class ConnectionEvents:
    """
    A socket and its events; they end together.

    :ivar socket: to be used by one thread at a time, until `close`.
    :ivar reader: the socket that events are read from, for polling.
    """

    def __init__(self, socket: zmq.Socket[bytes], events: int) -> None:
        """
        Start to record events; call it before the socket is connected.

        :param events: some of zmq.EVENT_*.
        """
        self.socket = socket
        # pyzmq names monitors after descriptors, which are reused.
        address = f'inproc://urlab-events-{next(_numbers)}'
        self.reader: zmq.Socket[bytes] = socket.context.socket(zmq.PAIR)
        self.reader.rcvhwm = 0
        socket.monitor(address, events)
        self.reader.connect(address)
        self._end = weakref.finalize(self, _close_both, socket, self.reader)
        self._end.atexit = False

    def poll(self, timeout: float | None) -> bool:
        """Wait for an event (s, None: forever); return whether there is one."""
        return bool(self.reader.poll(None if timeout is None else math.ceil(1000 * timeout)))

    def take(self) -> tuple[int, int]:
        """Return the next event, one of zmq.EVENT_*, and its value."""
        event, value = _EVENT.unpack(self.reader.recv_multipart()[0])
        return int(event), int(value)

    def discard(self) -> None:
        """Discard all events so far."""
        while int(self.reader.get(zmq.EVENTS)) & zmq.POLLIN:  # cheaper than a poll
            self.reader.recv_multipart()

    def stop(self) -> None:
        """Record no more events; those that were recorded can still be read."""
        if not self.socket.closed:
            self.socket.disable_monitor()

    def close(self) -> None:
        """Close the socket and the reader of its events."""
        self._end()

    def release(self) -> None:
        """Close the reader alone; the socket is its owner's to close."""
        self._end.detach()
        self.stop()
        self.reader.close(0)


def _close_both(socket: zmq.Socket[bytes], reader: zmq.Socket[bytes]) -> None:
    if not socket.closed:
        socket.disable_monitor()
        socket.close(0)
    reader.close(0)


class ServerWatch:
    """
    Reports at once when a server has ended, also while no request is sent.

    It keeps a silent connection.  The system reports within milliseconds when the process has
    ended, for any reason, and keepalive within some seconds when its machine is unreachable.
    A connection that breaks is renewed once: a server with very many clients closes silent ones.
    A process that is stopped (SIGSTOP) keeps its connections, and is not noticed here.
    """

    def __init__(
        self, endpoint: str, on_lost: Callable[[], None], keys: ClientKeys | None = None
    ) -> None:
        """
        Start to watch a server that is up.

        :param endpoint: of its requests, ``tcp://host:port``.
        :param on_lost: called once, from the thread of the watch.
        """
        self._on_lost = on_lost
        self._socket = open_socket(zmq.DEALER, keys)
        self._socket.reconnect_ivl = _RECONNECT_MS
        self._events = ConnectionEvents(
            self._socket,
            zmq.EVENT_HANDSHAKE_SUCCEEDED
            | zmq.EVENT_DISCONNECTED
            | zmq.EVENT_CLOSED
            | zmq.EVENT_MONITOR_STOPPED,
        )
        self._socket.connect(endpoint)
        self._thread = threading.Thread(target=self._run, name='urlab-watch', daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the watch; may be called by `on_lost` too, and twice."""
        if self._socket.closed:
            return
        self._events.stop()
        if self._thread is not threading.current_thread():
            self._thread.join()
        self._events.close()

    def _run(self) -> None:
        if self._is_lost():
            self._on_lost()

    def _is_lost(self) -> bool:
        """Wait for the end; return whether it was that of the server and not of the watch."""
        is_connected = False
        while self._events.poll(None if is_connected else _CONNECT_SECONDS):
            event, _ = self._events.take()
            if event == zmq.EVENT_MONITOR_STOPPED:
                return False
            if event != zmq.EVENT_HANDSHAKE_SUCCEEDED and not is_connected:
                return True  # refused
            is_connected = event == zmq.EVENT_HANDSHAKE_SUCCEEDED
        return True
