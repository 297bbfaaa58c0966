# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Raw frames over ZMQ: no session, no encoding, nothing repaired."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
import time
from typing import Any
from urllib.parse import urlsplit

import zmq

from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_BYTES

REPLY_SECONDS = 30.0  # in which a reply must come; a server may try an option in a process first
# Gives a socket the keys that the server asks for, before it connects.
Protect = Callable[['zmq.Socket[Any]'], None]


def no_keys(socket: zmq.Socket[Any]) -> None:
    """Leave a socket as it is, for a server without keys."""


class NoAnswer(Failed):
    """A request was not answered in time."""

    def __init__(self, seconds: float, where: str) -> None:
        super().__init__(f'a reply within {seconds:g} s', f'none from {where}')


class ZmqChannel:
    """Requests to a REP or ROUTER socket; after a timeout the next request works again."""

    name = 'zmq'

    def __init__(self, endpoint: str, protect: Protect = no_keys) -> None:
        self.endpoint = endpoint
        self._protect = protect
        self._context = zmq.Context()
        self._socket: zmq.Socket | None = None

    def parts(self, frame: bytes, timeout: float = REPLY_SECONDS) -> list[bytes]:
        """
        Send one frame and return the parts of the reply.

        :raises NoAnswer: when none comes in time.
        """
        self.send(frame)
        return self.receive(timeout)

    def exchange(self, frame: bytes, timeout: float = REPLY_SECONDS) -> bytes:
        """Send one frame and return the first part of the reply."""
        return self.parts(frame, timeout)[0]

    def send(self, frame: bytes) -> None:
        """Send one frame."""
        if self._socket is None:
            self._socket = self._context.socket(zmq.REQ)
            self._socket.setsockopt(zmq.LINGER, 0)
            self._socket.setsockopt(zmq.MAXMSGSIZE, MAX_REPLY_BYTES)
            self._protect(self._socket)
            self._socket.connect(self.endpoint)
        self._socket.send(frame)

    def receive(self, timeout: float = REPLY_SECONDS) -> list[bytes]:
        """Return the parts of the reply to what was sent."""
        socket = self._socket
        if socket is not None and socket.poll(int(timeout * 1000)):
            return socket.recv_multipart()
        if socket is not None:
            socket.close()
            self._socket = None
        raise NoAnswer(timeout, self.endpoint)

    def close(self) -> None:
        """Close the socket."""
        self._context.destroy(linger=0)


class RowListener:
    """A SUB socket that keeps all received messages."""

    def __init__(
        self, endpoint: str, topics: Iterable[bytes] = (b'',), protect: Protect = no_keys
    ) -> None:
        self.endpoint = endpoint
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.SUB)
        self._socket.setsockopt(zmq.RCVHWM, 100_000)
        for topic in topics:
            self._socket.setsockopt(zmq.SUBSCRIBE, topic)
        protect(self._socket)
        self._socket.connect(endpoint)

    def __enter__(self) -> RowListener:
        return self

    def __exit__(self, *_: object) -> None:
        self._context.destroy(linger=0)

    def receive(self, timeout: float) -> list[bytes] | None:
        """Return the parts of the next message, None when none comes in time."""
        if not self._socket.poll(max(int(timeout * 1000), 0)):
            return None
        return self._socket.recv_multipart()

    def during(self, seconds: float, enough: int = 1 << 30) -> list[list[bytes]]:
        """Return the messages of the next seconds, at most `enough`."""
        end = time.monotonic() + seconds
        heard: list[list[bytes]] = []
        while len(heard) < enough and (left := end - time.monotonic()) > 0:
            message = self.receive(left)
            if message is not None:
                heard.append(message)
        return heard

    def drain(self, quiet: float = 0.05, limit: float = 1.0) -> None:
        """Discard messages until none has arrived for `quiet` seconds."""
        end = time.monotonic() + limit
        while time.monotonic() < end and self.receive(quiet) is not None:
            pass


class ControlSender:
    """A PUB socket that connects to a SUB that is bound (the inbound control stream)."""

    def __init__(self, endpoint: str, protect: Protect = no_keys) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PUB)
        protect(self._socket)
        self._socket.connect(endpoint)

    def __enter__(self) -> ControlSender:
        return self

    def __exit__(self, *_: object) -> None:
        self._context.destroy(linger=100)

    def send(self, *parts: bytes) -> None:
        """Send one message."""
        self._socket.send_multipart(parts)


def host_and_port(endpoint: str, default_port: int) -> tuple[str, int]:
    """
    Split ``tcp://host:port``; ``tcp://host`` and ``host`` take the default port.

    >>> host_and_port('tcp://10.0.0.2', 5559)
    ('10.0.0.2', 5559)
    """
    parts = urlsplit(endpoint if '://' in endpoint else f'tcp://{endpoint}')
    return parts.hostname or '127.0.0.1', parts.port or default_port
