# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What is subscribed on an XPUB socket."""

from __future__ import annotations

import zmq

from urlab_ros_bridge.sim.sockets.zmq_options import readable

MAX_SUBSCRIPTIONS = 10_000
MAX_CHANGES = 500  # taken in before one tick: about half a millisecond's worth
MAX_TOPIC_BYTES = 1024  # a longer subscription matches nothing that is published


class Subscriptions:
    """
    The topics with subscribers on one XPUB socket.

    :ivar generation: grows with every change.
    """

    def __init__(self, socket: zmq.Socket) -> None:
        self.socket = socket
        self.generation = 0
        self._topics: set[bytes] = set()
        self._sizes: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self._topics)

    def read(self) -> None:
        """
        Process subscriptions and unsubscriptions since the last call; never blocks.

        Of very many changes the rest is left to the next call.
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
        if self.generation != before:
            self._sizes = tuple(sorted({len(topic) for topic in self._topics}))

    def wanted(self, topic: str) -> bool:
        """Return whether a topic has subscribers: a subscription is a prefix."""
        # One look per length of subscription, not per subscription: a bridge of many robots has
        # one for each topic, and every topic is asked for.
        name, topics = topic.encode(), self._topics
        return any(name[:size] in topics for size in self._sizes if size <= len(name))


__all__ = ['Subscriptions']
