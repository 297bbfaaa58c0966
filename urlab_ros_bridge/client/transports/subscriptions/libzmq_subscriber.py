# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions by a socket of libzmq, which can encrypt."""

from __future__ import annotations

from collections.abc import Iterable
import math

import zmq

from urlab_ros_bridge.client.transports.sockets import notice_dead_hosts
from urlab_ros_bridge.client.transports.sockets import open_socket
from urlab_ros_bridge.client.transports.subscriptions.subscriber import Message
from urlab_ros_bridge.client.transports.subscriptions.subscriber import Subscriber
from urlab_ros_bridge.client.transports.subscriptions.subscriber import Taken
from urlab_ros_bridge.transport.keys import ClientKeys

_SHALLOW, _DEEP = 2, 100  # messages


class LibzmqConnection(Subscriber[Taken]):
    """A SUB socket of libzmq, which can encrypt; `take` is for those that read it."""

    def __init__(
        self,
        endpoint: str,
        topics: Iterable[bytes],
        limit: int,
        keys: ClientKeys | None,
        rcvhwm: int,
    ) -> None:
        """
        Connect.

        :param limit: of each part, in bytes.
        :param rcvhwm: messages that are kept, besides what the system keeps.
        """
        self._socket = open_socket(zmq.SUB, keys)
        self._socket.rcvhwm = rcvhwm
        self._socket.maxmsgsize = limit
        notice_dead_hosts(self._socket)
        for topic in topics:
            self._socket.subscribe(topic)
        self._socket.connect(endpoint)
        self._poll = [(self._socket, zmq.POLLIN)]

    def wait(self, seconds: float) -> None:
        zmq.zmq_poll(self._poll, math.ceil(seconds * 1000))

    def subscribe(self, topic: bytes) -> None:
        self._socket.subscribe(topic)

    def unsubscribe(self, topic: bytes) -> None:
        self._socket.unsubscribe(topic)

    def close(self) -> None:
        self._socket.close(0)


class LibzmqSubscriber(LibzmqConnection[Message]):
    """Gives messages, part by part."""

    def __init__(
        self,
        endpoint: str,
        topics: Iterable[bytes],
        limit: int,
        keys: ClientKeys | None,
        *,
        deep: bool,
    ) -> None:
        """
        Connect, see `open_subscriber`.

        :param deep: more messages are kept than a few.
        """
        super().__init__(endpoint, topics, limit, keys, _DEEP if deep else _SHALLOW)

    def take(self) -> Message | None:
        try:
            return [part.buffer for part in self._socket.recv_multipart(zmq.NOBLOCK, copy=False)]
        except zmq.Again:
            return None


__all__ = ['LibzmqConnection', 'LibzmqSubscriber']
