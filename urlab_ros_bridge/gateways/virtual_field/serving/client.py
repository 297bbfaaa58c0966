# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The clients of the gateway: their names, and what each has been sent."""

from __future__ import annotations

import threading

from urlab_ros_bridge.gateways.serving.outbox import Outbox
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketConnection
from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.page.session import PageSession
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import shown
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_error
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_message
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import Hello
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import PUBLISHER
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import VR_CLIENT
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import OWNER
from urlab_ros_bridge.gateways.virtual_field.serving.field_world import FieldWorld
from urlab_ros_bridge.gateways.virtual_field.serving.state_messages import StateMessage


class WebXrClient:
    """
    A connection and its session.

    :ivar hello: None before the first hello.
    :ivar name: user id or owner id.
    :ivar world: that it watches or steers in; None before the hello.
    :ivar page: of a client with the binary extension, else None.
    :ivar view_only: whether it may only watch.
    :ivar gets_scene: whether it is sent the scene: not before its hello was answered.
    :ivar outbox: of this session.
    :ivar sent, dropped: states that were sent to it, and states that it was too slow for.
    """

    def __init__(self, connection: WebSocketConnection) -> None:
        self.connection = connection
        self.hello: Hello | None = None
        self.name = ''
        self.world: FieldWorld | None = None
        self.page: PageSession | None = None
        self.view_only = False
        self.gets_scene = False
        self.sent = self.dropped = 0
        self._assets: frozenset[tuple[str, int]] = frozenset()  # keys of meshes that it has
        self.outbox = Outbox(connection, 'webxr')

    @property
    def role(self) -> str:
        """Return the role, empty before the hello."""
        return '' if self.hello is None else self.hello.role

    def reply(self, kind: str, payload: object) -> None:
        """
        Send a message that must arrive; waits for a client that does not read.

        :raises ConnectionClosed: when the client has disconnected.
        """
        self.outbox.send_text(write_message(kind, payload))

    def refuse(self, reason: str) -> None:
        """
        Send an error.

        :raises ConnectionClosed: when the client has disconnected.
        """
        self.outbox.send_text(write_error(reason))

    def show(self, message: StateMessage) -> None:
        """Queue a state; a newer one replaces it."""
        self.dropped += self.outbox.post(lambda: self._send_state(message), 'state')

    def end_session(self) -> None:
        """End the session: nothing more of it is sent."""
        self.gets_scene, self.hello, self.page, self.world = False, None, None, None
        self.outbox.close()
        self.outbox = Outbox(self.connection, 'webxr')

    def close(self) -> None:
        """End the sending thread."""
        self.outbox.close()

    def _send_state(self, message: StateMessage) -> None:
        data, assets = message.for_client(self._assets)
        self.outbox.send_text(data)
        self._assets = assets
        self.sent += 1


class ClientNames:
    """Assigns names.  Thread-safe.  Users and spectators share one counter."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, WebXrClient | None] = {OWNER: None}
        self._users = self._publishers = 0

    def take(self, client: WebXrClient, hello: Hello) -> str:
        """
        Return the name of a client, reserved until `release`.

        :raises BadMessage: when another client has the requested name.
        """
        key = 'owner_id' if hello.role == PUBLISHER else 'user_id'
        name = hello.owner_id if hello.role == PUBLISHER else hello.user_id
        with self._lock:
            if name in self._names:
                raise BadMessage(
                    f'{key} {shown(name)} is in use: choose another one, or leave it out'
                )
            while not name or name in self._names:
                name = self._next(hello.role)
            self._names[name] = client
            return name

    def release(self, client: WebXrClient, name: str) -> None:
        """Release a name, if it is this client's."""
        with self._lock:
            if self._names.get(name) is client:
                del self._names[name]

    def _next(self, role: str) -> str:
        if role == PUBLISHER:
            self._publishers += 1
            return f'publisher_{self._publishers}'
        self._users += 1
        return f'{"user" if role == VR_CLIENT else "spectator"}_{self._users}'


__all__ = ['ClientNames', 'WebXrClient']
