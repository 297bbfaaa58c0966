# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One client of the gateway: its identity, and what it has been sent."""

from __future__ import annotations

from collections.abc import Callable
import contextlib

from websockets.exceptions import ConnectionClosed

from urlab_ros_bridge.gateways.serving.latest import LatestExecutor
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketConnection
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_error
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_message
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import Hello
from urlab_ros_bridge.gateways.virtual_field.serving.page_session import PageSession
from urlab_ros_bridge.gateways.virtual_field.serving.simulation import ServedSimulation
from urlab_ros_bridge.gateways.virtual_field.serving.state_messages import StateMessage


class WebXrClient:
    """
    A connection and its session.

    :ivar hello: None before the first hello.
    :ivar name: user id or owner id.
    :ivar simulation: that it sees, or steers in; None before the hello.
    :ivar page: of a client with the binary extension, else None.
    :ivar view_only: whether it may only watch.
    :ivar sees: whether it is sent the scene: not before its hello was answered.
    :ivar sent, dropped: how many states it was sent, and how many it was too slow for.
    """

    def __init__(self, connection: WebSocketConnection) -> None:
        self.connection = connection
        self.hello: Hello | None = None
        self.name = ''
        self.simulation: ServedSimulation | None = None
        self.page: PageSession | None = None
        self.view_only = False
        self.sees = False
        self.sent = self.dropped = 0
        self._assets: frozenset[tuple[str, int]] = frozenset()  # keys of meshes that it has
        self._outbox = LatestExecutor(f'webxr-{connection.peer}')

    @property
    def role(self) -> str:
        """Return the role, empty before the hello."""
        return '' if self.hello is None else self.hello.role

    def reply(self, kind: str, payload: object) -> None:
        """
        Send a message that must arrive; waits for a client that does not read.

        :raises ConnectionClosed: when the client has disconnected.
        """
        self.connection.send(write_message(kind, payload), text=True)

    def refuse(self, reason: str) -> None:
        """
        Send an error.

        :raises ConnectionClosed: when the client has disconnected.
        """
        self.connection.send(write_error(reason), text=True)

    def send(self, message: bytes) -> None:
        """
        Send a binary message; waits for a client that does not read.

        :raises ConnectionClosed: when the client has disconnected.
        """
        self.connection.send(message)

    def post(self, job: Callable[[], None], key: object) -> bool:
        """
        Run a job in the thread that sends to this client; the newest of each key counts.

        :returns: whether an older job was replaced, because the client is slow.
        """

        def run() -> None:
            with contextlib.suppress(ConnectionClosed):
                job()

        return self._outbox.submit(run, key)

    def show(self, message: StateMessage) -> None:
        """Send a state soon, unless a newer one comes before."""
        self.dropped += self.post(lambda: self._send_state(message), 'state')

    def end_session(self) -> None:
        """Send nothing more of the session, and forget what it was."""
        self.sees, self.hello, self.page, self.simulation = False, None, None, None
        self._outbox.close()
        self._outbox = LatestExecutor(f'webxr-{self.connection.peer}')

    def close(self) -> None:
        """End the thread that sends."""
        self._outbox.close()

    def _send_state(self, message: StateMessage) -> None:
        data, assets = message.for_client(self._assets)
        self.connection.send(data, text=True)
        self._assets = assets
        self.sent += 1


__all__ = ['WebXrClient']
