# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""XPUB sockets: messages for many subscribers, and which topics they have subscribed to."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import replace
import itertools
import time

import zmq

from urlab_ros_bridge.transport.peer_connection import descriptor_of
from urlab_ros_bridge.transport.server_sockets import bound_endpoint
from urlab_ros_bridge.transport.server_sockets import ServerSockets
from urlab_ros_bridge.transport.server_sockets import SocketLimits
from urlab_ros_bridge.transport.sockets import yielding_readable

MAX_SUBSCRIPTIONS = 10_000
# What is taken in before one tick: about half a millisecond's worth, or what can be done in a
# tenth of the time since the last one, at most 20 ms.
MAX_CHANGES = 200
_SHARE, _MOST_SECONDS = 0.1, 0.02
MAX_TOPIC_BYTES = 1024  # a longer subscription, which matches nothing, ends its connection
# libzmq keeps each byte of a topic in up to 32 of memory, and processes ten million a second.
MAX_SUBSCRIPTION_BYTES = 2 << 20  # that subscribers have sent, all together
_LIMITS = SocketLimits(MAX_TOPIC_BYTES + 16, receive_queue=25, held_bytes=MAX_SUBSCRIPTION_BYTES)
_FIRST = zmq.SNDMORE | zmq.NOBLOCK


class Publisher:
    """
    Sends messages without ever waiting: a subscriber that is too slow loses some.

    Used by one thread at a time.

    :ivar socket: see `SubscriptionPoller`.
    :ivar endpoint: its address.
    :ivar generation: grows with every change of subscriptions.
    """

    def __init__(
        self, socket: zmq.Socket[bytes], finish: Callable[[int], None] = lambda descriptor: None
    ) -> None:
        """
        Use a bound socket.

        :param finish: see `ServerSockets.finish_of`.
        """
        self.socket = socket
        self._finish = finish
        self.endpoint = bound_endpoint(socket)
        self.generation = 0
        self._topics: set[bytes] = set()
        self._has_more = False  # subscriptions than are known: then everything is sent
        self._sizes: tuple[int, ...] = ()
        self._last_read = time.monotonic()

    @classmethod
    def bind(
        cls, sockets: ServerSockets, host: str, port: int, option: str, send_queue: int
    ) -> Publisher:
        """
        Bind a publisher, see `ServerSockets.bind`.

        :param send_queue: messages for a subscriber that does not read.
        """
        limits = replace(_LIMITS, send_queue=send_queue)
        socket = sockets.bind(zmq.XPUB, host, port, option, limits)
        return cls(socket, sockets.finish_of(socket))

    @classmethod
    def adopt(
        cls, sockets: ServerSockets, listener: int, send_queue: int, send_buffer: int
    ) -> Publisher:
        """
        Publish to those who connect to a listening TCP socket, see `ServerSockets.adopt`.

        :param send_buffer: bytes that the kernel takes at a time.
        """
        limits = replace(_LIMITS, send_queue=send_queue, send_buffer=send_buffer)
        socket = sockets.adopt(zmq.XPUB, listener, limits)
        return cls(socket, sockets.finish_of(socket))

    @property
    def has_subscribers(self) -> bool:
        """Return whether anything is subscribed."""
        return bool(self._topics)

    def read_subscriptions(self) -> bool:
        """
        Process subscriptions and unsubscriptions since the last call; never block.

        Of very many changes some are left to the next call.

        :return: whether there were any.
        """
        if not yielding_readable(self.socket):
            return False
        before = self.generation
        for message in self._changes():
            kind, topic = message[:1], message[1:]
            if kind == b'\x01':
                self._add(topic)
                self.generation += 1
            elif kind == b'\x00':
                self._topics.discard(topic)
                self._has_more = self._has_more and bool(self._topics)
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
        return self._has_more or any(
            name[:size] in topics for size in self._sizes if size <= len(name)
        )

    def is_named(self, topic: str) -> bool:
        """Return whether a topic itself is subscribed to, not only a beginning of it."""
        return self._has_more or topic.encode() in self._topics

    def _changes(self) -> Iterator[bytes]:
        now = time.monotonic()
        end = now + min(_SHARE * (now - self._last_read), _MOST_SECONDS)
        self._last_read = now
        try:
            for number in itertools.count():
                if number >= MAX_CHANGES and time.monotonic() >= end:
                    return
                frame: zmq.Frame = self.socket.recv(zmq.NOBLOCK, copy=False)
                self._finish(descriptor_of(frame))
                yield frame.bytes
        except zmq.Again:
            pass

    def _add(self, topic: bytes) -> None:
        if len(self._topics) < MAX_SUBSCRIPTIONS or topic in self._topics:
            self._topics.add(topic)
        else:
            self._has_more = True

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
        yielding_readable(self.socket)
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
