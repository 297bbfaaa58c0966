# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of PUB sockets: with libzmq, and on a plain connection."""

from __future__ import annotations

from collections.abc import Iterable

from urlab_ros_bridge.client.transports.subscriptions.libzmq_subscriber import LibzmqSubscriber
from urlab_ros_bridge.client.transports.subscriptions.publisher_reader import Memory
from urlab_ros_bridge.client.transports.subscriptions.publisher_reader import MessageReader
from urlab_ros_bridge.client.transports.subscriptions.subscriber import Message
from urlab_ros_bridge.client.transports.subscriptions.subscriber import Subscriber
from urlab_ros_bridge.client.transports.subscriptions.zmtp_subscriber import ZmtpSubscriber
from urlab_ros_bridge.transport.keys import ClientKeys


def open_subscriber(
    endpoint: str,
    topics: Iterable[bytes],
    limit: int,
    memory: Memory,
    *,
    deep: bool,
    keys: ClientKeys | None = None,
) -> Subscriber[Message]:
    """
    Connect to a PUB socket; one that is not up yet is waited for.

    :param endpoint: as libzmq names it; all but ``tcp://HOST:PORT`` is left to libzmq.
    :param topics: prefixes of what is to be received.
    :param limit: of a message, in bytes; the connection with a larger one ends.
    :param memory: makes memory for large parts.
    :param deep: as many messages as can be wait for a consumer that lags; else a few.
    :param keys: the server lets in encrypted connections alone.
    """
    if keys is None and ZmtpSubscriber.can_reach(endpoint):
        return ZmtpSubscriber(endpoint, topics, lambda: MessageReader(limit, memory), deep=deep)
    return LibzmqSubscriber(endpoint, topics, limit, keys, deep=deep)


__all__ = ['Message', 'Subscriber', 'ZmtpSubscriber', 'open_subscriber']
