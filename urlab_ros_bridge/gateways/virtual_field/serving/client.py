# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One client of the gateway: its identity, and what it has been sent."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from urlab_ros_bridge.gateways.serving.websocket_connection import frame_head
from urlab_ros_bridge.gateways.serving.websocket_connection import WebSocketConnection
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_error
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_message
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import Hello
from urlab_ros_bridge.gateways.virtual_field.serving.page_session import PageSession

if TYPE_CHECKING:
    from urlab_ros_bridge.gateways.virtual_field.serving.simulation import ServedSimulation


class WebXrClient:
    """
    A connection and its session.

    :ivar hello: None before the first hello.
    :ivar name: user id or owner id.
    :ivar simulation: that it sees, or steers in; None before the hello.
    :ivar page: of a client with the binary extension, else None.
    :ivar sees: whether it is sent the scene: not before its hello was answered.
    :ivar assets: ids of meshes whose data it has been sent.
    :ivar sent, dropped: how many states it was sent, and how many it was too slow for.
    """

    def __init__(self, connection: WebSocketConnection) -> None:
        self.connection = connection
        self.hello: Hello | None = None
        self.name = ''
        self.simulation: ServedSimulation | None = None
        self.page: PageSession | None = None
        self.sees = False
        self.assets: frozenset[tuple[str, int]] = frozenset()
        self.sent = self.dropped = 0
        # Held while the session begins or ends, so that no tick comes between.
        self.changing = threading.Lock()

    @property
    def role(self) -> str:
        """Return the role, empty before the hello."""
        return '' if self.hello is None else self.hello.role

    def reply(self, kind: str, payload: object) -> None:
        """
        Send a message that must arrive; waits for a client that does not read.

        :raises PeerGone: when the client is gone.
        """
        self.connection.send([write_message(kind, payload)], text=True)

    def refuse(self, reason: str) -> None:
        """
        Send an error.

        :raises PeerGone: when the client is gone.
        """
        self.connection.send([write_error(reason)], text=True)

    def send_page(self, message: bytes, *, droppable: bool) -> bool:
        """Send a binary message, see `PageSend`."""
        if droppable:
            taken = self.connection.offer(frame_head(len(message)) + message)
            self.count(taken)
            return taken
        self.connection.send([message])
        return True

    def count(self, taken: bool) -> None:
        """Count a state."""
        if taken:
            self.sent += 1
        else:
            self.dropped += 1


__all__ = ['WebXrClient']
