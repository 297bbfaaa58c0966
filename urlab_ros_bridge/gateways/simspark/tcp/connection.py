# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One client: messages to it without waiting, and what it has sent."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import socket
import threading

from urlab_ros_bridge.gateways.simspark.wire.framing import frame
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader

# What the system holds for a client that does not read.
SEND_BUFFER = 1 << 19


class Connection:
    """
    A client of one of the ports.

    `send` never waits.  What the system does not take of one message is kept; until it is gone,
    further messages to this client are dropped whole.  So the stream stays in frame, and a client
    that never reads costs no more than its buffer.

    :ivar port: name of the port it came by.
    :ivar peer: address, for logs.
    :ivar dropped: messages that it did not get.
    :ivar is_busy: whether what it sent waits to be carried out: it gets no new turn meanwhile.
    """

    def __init__(
        self, link: socket.socket, port: str, peer: str, wants_write: Callable[[Connection], None]
    ) -> None:
        link.setblocking(False)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self.link = link
        self.port = port
        self.peer = peer
        self.dropped = 0
        self.is_busy = False
        self.reader = FrameReader()
        self._wants_write = wants_write
        self._lock = threading.Lock()
        self._tail = memoryview(b'')
        self._open = True

    def __repr__(self) -> str:
        """Return port and peer."""
        return f'<Connection to {self.port} from {self.peer}>'

    @property
    def is_open(self) -> bool:
        """Return whether messages can reach it."""
        return self._open

    @property
    def is_clear(self) -> bool:
        """Return whether a message would be sent now."""
        return self._open and not self._tail

    def send(self, payload: bytes) -> bool:
        """
        Send one message, its length in front; return whether it is on its way.

        An empty payload is not sent: clients take it for the end of the stream.
        """
        if not payload:
            return False
        with self._lock:
            if not self._open:
                return False
            if self._tail:
                self.dropped += 1
                return False
            self._tail = memoryview(frame(payload))
            self._push()
            unsent = bool(self._tail)
        if unsent:
            self._wants_write(self)
        return True

    def close(self) -> None:
        """End the connection; the server notices and forgets it.  Safe to call twice."""
        with self._lock:
            if self._open:
                self._open = False
                with contextlib.suppress(OSError):  # it may have gone already
                    self.link.shutdown(socket.SHUT_RDWR)

    def flush(self) -> bool:
        """Send what was left over; return whether nothing is left."""
        with self._lock:
            self._push()
            return not self._tail

    def _push(self) -> None:
        try:
            while self._tail:
                self._tail = self._tail[self.link.send(self._tail) :]
        except BlockingIOError:
            pass
        except OSError:  # the reading side notices
            self._open = False
            self._tail = memoryview(b'')


__all__ = ['Connection']
