# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""XPUB sockets: messages for many subscribers, and which topics they have subscribed to."""

from __future__ import annotations

import zmq

from urlab_ros_bridge.transport.server_sockets import bound_endpoint
from urlab_ros_bridge.transport.server_sockets import ServerSockets
from urlab_ros_bridge.transport.server_sockets import SocketLimits
from urlab_ros_bridge.transport.sockets import readable

MAX_SUBSCRIPTIONS = 10_000
MAX_CHANGES = 500  # taken in before one tick: about half a millisecond's worth
MAX_TOPIC_BYTES = 1024  # a longer subscription matches nothing that is published
_FIRST = zmq.SNDMORE | zmq.NOBLOCK


class Publisher:
    """
    Sends messages without ever waiting: a subscriber that is too slow loses some.

    Used by one thread at a time.

    :ivar socket: see `SubscriptionPoller`.
    :ivar endpoint: its address.
    :ivar generation: grows with every change of subscriptions.
    """

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self.socket = socket
        self.endpoint = bound_endpoint(socket)
        self.generation = 0
        self._topics: set[bytes] = set()
        self._sizes: tuple[int, ...] = ()

    @classmethod
    def bind(
        cls, sockets: ServerSockets, host: str, port: int, option: str, send_queue: int
    ) -> Publisher:
        """
        Bind a publisher, see `ServerSockets.bind`.

        :param send_queue: messages for a subscriber that does not read.
        """
        limits = SocketLimits(4 * MAX_TOPIC_BYTES, send_queue)
        return cls(sockets.bind(zmq.XPUB, host, port, option, limits))

    @classmethod
    def adopt(
        cls, sockets: ServerSockets, listener: int, send_queue: int, send_buffer: int
    ) -> Publisher:
        """
        Publish to those who connect to a listening TCP socket, see `ServerSockets.adopt`.

        :param send_buffer: bytes that the kernel takes at a time.
        """
        limits = SocketLimits(4 * MAX_TOPIC_BYTES, send_queue, send_buffer=send_buffer)
        return cls(sockets.adopt(zmq.XPUB, listener, limits))

    @property
    def has_subscribers(self) -> bool:
        """Return whether anything is subscribed."""
        return bool(self._topics)

    def read_subscriptions(self) -> bool:
        """
        Process subscriptions and unsubscriptions since the last call; never block.

        Of very many changes the rest is left to the next call.

        :return: whether there were any.
        """
        before = self.generation
        for _ in range(MAX_CHANGES):
            if not readable(self.socket):
                break
            message = self.socket.recv(zmq.NOBLOCK)
            kind, topic = message[:1], message[1:]
            if kind == b'\x01':
                if len(self._topics) < MAX_SUBSCRIPTIONS and len(topic) <= MAX_TOPIC_BYTES:
                    self._topics.add(topic)
                self.generation += 1
            elif kind == b'\x00':
                self._topics.discard(topic)
                self.generation += 1
        if self.generation == before:
            return False
        self._sizes = tuple(sorted({len(topic) for topic in self._topics}))
        return True

    def is_subscribed(self, topic: str) -> bool:
        """Return whether a topic has subscribers: a subscription is a prefix."""
        # One lookup per length of subscription, not per subscription: a bridge of many robots has
        # one for each topic, and every topic is asked for.
        name, topics = topic.encode(), self._topics
        return any(name[:size] in topics for size in self._sizes if size <= len(name))

    def is_named(self, topic: str) -> bool:
        """Return whether a topic itself is subscribed to, not only a beginning of it."""
        return topic.encode() in self._topics

    def send(self, topic: bytes, payload: bytes | memoryview) -> None:
        """Send a message of two parts."""
        self.socket.send(topic, _FIRST)
        self.socket.send(payload, zmq.NOBLOCK)

    def send_single(self, message: bytes) -> None:
        """Send a message of one part."""
        self.socket.send(message, zmq.NOBLOCK)

    def send_in_place(self, topic: bytes, payload: memoryview) -> None:
        """Send a message whose payload is not copied; it must not change any more."""
        # While sending, libzmq checks only once a millisecond what subscribers have received.
        readable(self.socket)
        self.socket.send(topic, _FIRST)
        self.socket.send(payload, zmq.NOBLOCK, copy=False)


class SubscriptionPoller:
    """Waits for subscriptions, and for readable descriptors."""

    def __init__(self) -> None:
        self._poller = zmq.Poller()
        self._publishers: dict[zmq.Socket[bytes], Publisher] = {}

    def add(self, source: Publisher | int) -> None:
        """Also wait for a publisher or a descriptor."""
        if isinstance(source, Publisher):
            self._publishers[source.socket] = source
        socket = source.socket if isinstance(source, Publisher) else source
        self._poller.register(socket, zmq.POLLIN)

    def poll(self) -> set[Publisher | int]:
        """Sleep until something can be read, and return what."""
        ready = self._poller.poll()
        return {
            source if isinstance(source, int) else self._publishers[source] for source, _ in ready
        }
