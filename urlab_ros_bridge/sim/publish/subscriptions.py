# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What is subscribed on an XPUB socket."""

from __future__ import annotations

import zmq

MAX_SUBSCRIPTIONS = 10_000


class Subscriptions:
    """
    The topics that anybody listens to on one XPUB socket.

    :ivar generation: grows with every change.
    """

    def __init__(self, socket: zmq.Socket) -> None:
        self.socket = socket
        self.generation = 0
        self._topics: set[bytes] = set()

    def __bool__(self) -> bool:
        return bool(self._topics)

    def read(self) -> None:
        """Take in what was subscribed and unsubscribed since the last call; never blocks."""
        while self.socket.getsockopt(zmq.EVENTS) & zmq.POLLIN:
            message = self.socket.recv(zmq.NOBLOCK)
            kind, topic = message[:1], message[1:]
            if kind == b'\x01' and len(self._topics) < MAX_SUBSCRIPTIONS:
                self._topics.add(topic)
                self.generation += 1
            elif kind == b'\x00':
                self._topics.discard(topic)
                self.generation += 1

    def wanted(self, topic: str) -> bool:
        """Say whether anybody subscribes to a topic: a subscription is a prefix."""
        name = topic.encode()
        return any(name.startswith(prefix) for prefix in self._topics)


__all__ = ['Subscriptions']
