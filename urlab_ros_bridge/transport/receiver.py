# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A SUB socket that is drained between steps: bounded in messages, parts and time."""

from __future__ import annotations

from collections.abc import Callable

import zmq

from urlab_ros_bridge.transport.peer_connection import descriptor_of
from urlab_ros_bridge.transport.server_sockets import bound_endpoint
from urlab_ros_bridge.transport.server_sockets import ServerSockets
from urlab_ros_bridge.transport.server_sockets import SocketLimits
from urlab_ros_bridge.transport.sockets import yielding_readable

MAX_MESSAGE_BYTES = 1 << 20
RECEIVE_QUEUE = 1000  # messages; what a faster sender sends beyond that is lost at the sender


class MessageReceiver:
    """
    Receives messages of two parts; never waits.

    :ivar endpoint: its address.
    :ivar unfinished: the last message has more parts than were read.
    """

    def __init__(
        self, socket: zmq.Socket[bytes], finish: Callable[[int], None] = lambda descriptor: None
    ) -> None:
        """
        Use a bound socket.

        :param finish: see `ServerSockets.finish_of`; called when no message waits any more.
        """
        self._socket = socket
        self._finish = finish
        self._senders: set[int] = set()
        self.endpoint = bound_endpoint(socket)
        self.unfinished = False

    @classmethod
    def bind(cls, sockets: ServerSockets, host: str, port: int, option: str) -> MessageReceiver:
        """Bind a receiver, see `ServerSockets.bind`."""
        limits = SocketLimits(MAX_MESSAGE_BYTES, receive_queue=RECEIVE_QUEUE)
        socket = sockets.bind(zmq.SUB, host, port, option, limits)
        return cls(socket, sockets.finish_of(socket))

    def subscribe(self, topic: bytes) -> None:
        """Receive messages that begin with a topic."""
        self._socket.setsockopt(zmq.SUBSCRIBE, topic)

    def unsubscribe(self, topic: bytes) -> None:
        """Undo a `subscribe`."""
        self._socket.setsockopt(zmq.UNSUBSCRIBE, topic)

    def receive(self) -> list[bytes] | None:
        """Return the first parts of a message, at most three; None when there is none."""
        socket = self._socket
        if not yielding_readable(socket):
            while self._senders:
                self._finish(self._senders.pop())
            return None
        try:
            first: zmq.Frame = socket.recv(zmq.NOBLOCK, copy=False)
            self._senders.add(descriptor_of(first))
            parts = [first.bytes]
            while len(parts) < 3 and socket.getsockopt(zmq.RCVMORE):
                parts.append(socket.recv(zmq.NOBLOCK))
        except zmq.Again:
            return None
        self.unfinished = len(parts) == 3 and bool(socket.getsockopt(zmq.RCVMORE))
        return parts

    def skip_rest(self, limit: int) -> bool:
        """Drop at most `limit` further parts of a message; return whether it has ended."""
        socket = self._socket
        while self.unfinished and limit > 0:
            socket.recv(zmq.NOBLOCK)
            self.unfinished = bool(socket.getsockopt(zmq.RCVMORE))
            limit -= 1
        return not self.unfinished
