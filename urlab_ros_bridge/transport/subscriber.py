# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The messages of one publisher: a SUB socket of ZeroMQ, encrypted or not."""

from __future__ import annotations

from collections.abc import Iterable
import math
import socket
from typing import Any

import zmq

from urlab_ros_bridge.transport.keys import ClientKeys
from urlab_ros_bridge.transport.sockets import open_socket

Row = tuple[bytes, bytes]
_MAX_ROWS = 1000  # at a time


class Subscriber:
    """
    A SUB socket for one publisher, to which it reconnects.  Not thread-safe.

    libzmq's thread receives up to the high-water mark; then messages wait in the system's buffers,
    and then the publisher drops them.
    """

    def __init__(
        self,
        endpoint: str,
        topics: Iterable[bytes],
        *,
        max_bytes: int,
        rcvhwm: int,
        keys: ClientKeys | None = None,
    ) -> None:
        """
        Connect; a publisher that is not up yet is waited for.

        :param topics: prefixes to subscribe to.
        :param max_bytes: of a part; a connection that sends a larger one is reset.
        :param rcvhwm: messages that libzmq holds for a consumer that lags.
        :param keys: for a server that accepts encrypted connections only.
        """
        self._socket = open_socket(zmq.SUB, keys)
        self._socket.rcvhwm = rcvhwm
        self._socket.maxmsgsize = max_bytes
        for topic in topics:
            self._socket.subscribe(topic)
        self._socket.connect(endpoint)
        self._poll: list[tuple[Any, int]] = [(self._socket, zmq.POLLIN)]
        self._is_damaged = False

    def receive(self) -> list[memoryview] | None:
        """Return the parts of the next message, None when there is none now."""
        try:
            return [part.buffer for part in self._socket.recv_multipart(zmq.NOBLOCK, copy=False)]
        except zmq.Again:
            return None

    def receive_rows(self) -> tuple[list[Row], bool]:
        """
        Return the messages that have arrived, each with a topic and a payload.

        :return: the messages, at most a thousand, and whether one of another shape follows them;
            nothing and False when there is none now.
        """
        receive, no_wait, rows = self._socket.recv, zmq.NOBLOCK, list[Row]()
        topic = None
        try:
            # Checking after each part whether more follow would cost more than receiving it.  A
            # message of another shape is noticed at the end.
            for _ in range(_MAX_ROWS):
                topic = None
                topic = receive(no_wait)
                rows.append((topic, receive(no_wait)))
        except zmq.Again:
            pass
        is_damaged = topic is not None and len(rows) < _MAX_ROWS
        while self._socket.get(zmq.RCVMORE):
            self._socket.recv()
            is_damaged = True
        return rows, is_damaged

    def wait(self, seconds: float, wake: socket.socket | None = None) -> bool:
        """
        Sleep until a message arrives, or there is something to read from `wake`.

        :param seconds: at most this long.
        :return: whether there is something to read from `wake`.
        """
        others = [] if wake is None else [(wake, zmq.POLLIN)]
        ready = zmq.zmq_poll([*self._poll, *others], math.ceil(seconds * 1000))
        # libzmq's poll reports other sockets by their file descriptors.
        return any(each is not self._socket for each, _ in ready)

    def subscribe(self, topic: bytes) -> None:
        """Also receive messages that begin with this."""
        self._socket.subscribe(topic)

    def unsubscribe(self, topic: bytes) -> None:
        """Undo one `subscribe`."""
        self._socket.unsubscribe(topic)

    def close(self) -> None:
        """End the connection; nothing is received any more."""
        self._socket.close(0)
