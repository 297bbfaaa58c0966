# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A connection to a port of any SimSpark server."""

from __future__ import annotations

from collections import deque
import socket
import time
from typing import TypeVar

from urlab_ros_bridge.gateways.simspark.errors import SimSparkError
from urlab_ros_bridge.gateways.simspark.wire.expressions import Writable
from urlab_ros_bridge.gateways.simspark.wire.expressions import write
from urlab_ros_bridge.gateways.simspark.wire.framing import frame
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader
from urlab_ros_bridge.gateways.simspark.wire.framing import MAX_SCENE

_READ = 1 << 16

C = TypeVar('C', bound='SimSparkConnection')


class ServerGone(SimSparkError, ConnectionError):
    """The server has closed the connection."""


class SimSparkConnection:
    """
    Sends expressions and receives messages.  Not thread-safe.

    :ivar timeout: seconds for sending and receiving.
    """

    def __init__(self, host: str, port: int, timeout: float) -> None:
        """
        Connect.

        :raises OSError: when nothing listens there.
        """
        self.timeout = timeout
        self._socket = socket.create_connection((host, port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = FrameReader(MAX_SCENE)
        self._ready: deque[bytes] = deque()

    def __enter__(self: C) -> C:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def send(self, *expressions: Writable) -> None:
        """Send expressions in one message, without waiting for an answer."""
        self._socket.settimeout(self.timeout)
        self._socket.sendall(frame(write(*expressions)))

    def receive(self, timeout: float | None = None) -> bytes:
        """
        Return the next message.

        :param timeout: seconds, `timeout` of the connection by default.
        :raises ServerGone: when the server has closed the connection.
        :raises TimeoutError: when none arrived in time.
        """
        seconds = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + seconds
        while not self._ready:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f'no message arrived within {seconds:g} s')
            self._socket.settimeout(left)
            try:
                data = self._socket.recv(_READ)
            except ConnectionError as error:
                raise ServerGone(str(error)) from error
            if not data:
                raise ServerGone('the server has closed the connection')
            self._ready += self._reader.feed(data)
        return self._ready.popleft()


__all__ = ['ServerGone', 'SimSparkConnection']
