# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages to one client, sent by a thread of its own so that no client delays another."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
from functools import partial

from websockets.exceptions import ConnectionClosed

from urlab_ros_bridge.gateways.serving.latest import LatestExecutor
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketConnection


class Outbox:
    """What is sent to one client during one session."""

    def __init__(self, connection: WebSocketConnection, name: str) -> None:
        self._connection = connection
        self._executor = LatestExecutor(f'{name}-{connection.peer}')

    def send(self, message: bytes) -> None:
        """
        Send a binary message; wait for a client that does not read.

        :raises ConnectionClosed: when the client has disconnected.
        """
        self._connection.send(message)

    def send_text(self, message: bytes) -> None:
        """
        Send a text message, UTF-8; wait for a client that does not read.

        :raises ConnectionClosed: when the client has disconnected.
        """
        self._connection.send(message, text=True)

    def post(self, job: Callable[[], None], key: object) -> bool:
        """
        Run a job in the thread that sends to this client; the newest of each key counts.

        :returns: whether an older job was replaced, because the client is slow.
        """

        def run() -> None:
            with contextlib.suppress(ConnectionClosed):
                job()

        return self._executor.submit(run, key)

    def offer(self, message: bytes, key: object) -> None:
        """Send a binary message soon, unless a newer one with the same key replaces it."""
        self.post(partial(self.send, message), key)

    def close(self) -> None:
        """Drop what waits, and end the thread."""
        self._executor.close()


__all__ = ['Outbox']
