# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Where the rows of the state stream come from: libzmq, or a plain connection."""

from __future__ import annotations

from collections.abc import Iterable

import zmq

from urlab_ros_bridge.client.replies.observations import MAX_SNAPSHOT_BYTES
from urlab_ros_bridge.client.state.row_reader import RowReader
from urlab_ros_bridge.client.state.row_reader import Rows
from urlab_ros_bridge.client.transports.subscriptions import Subscriber
from urlab_ros_bridge.client.transports.subscriptions import ZmtpSubscriber
from urlab_ros_bridge.client.transports.subscriptions.libzmq_subscriber import LibzmqConnection
from urlab_ros_bridge.transport.keys import ClientKeys

_MOST = 1000  # rows at a time


class LibzmqRows(LibzmqConnection[Rows]):
    """Gives rows."""

    _damaged = False

    def take(self) -> Rows | None:
        if self._damaged:
            self._damaged = False
            return Rows([], False)
        receive, no_wait, rows = self._socket.recv, zmq.NOBLOCK, list[tuple[bytes, bytes]]()
        topic = None
        try:
            for _ in range(_MOST):
                topic = None
                topic = receive(no_wait)
                rows.append((topic, receive(no_wait)))
        except zmq.Again:
            self._damaged = topic is not None  # half a message
        # Asking after each part whether more follow would cost more than receiving it, so the two
        # parts are taken on trust, and out of step is noticed here.
        while self._socket.get(zmq.RCVMORE):
            self._socket.recv()
            self._damaged = True
        return Rows(rows, False) if rows else self.take() if self._damaged else None


def open_rows(
    endpoint: str, topics: Iterable[bytes], rcvhwm: int, keys: ClientKeys | None
) -> Subscriber[Rows]:
    """
    Connect to a state stream; a server that is not up yet is waited for.

    :param topics: prefixes of what is to be received.
    :param rcvhwm: messages that libzmq keeps where it has the connection; else the system keeps
        as much as it can.
    :param keys: the server lets in encrypted connections alone.
    """
    if keys is None and ZmtpSubscriber.can_reach(endpoint):
        return ZmtpSubscriber(endpoint, topics, lambda: RowReader(MAX_SNAPSHOT_BYTES), deep=True)
    return LibzmqRows(endpoint, topics, MAX_SNAPSHOT_BYTES, keys, rcvhwm)


__all__ = ['open_rows']
