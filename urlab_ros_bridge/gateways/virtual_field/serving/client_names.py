# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The ids of users and publishers: chosen by themselves or given, and never twice."""

from __future__ import annotations

import threading

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import shown
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import Hello
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import PUBLISHER
from urlab_ros_bridge.gateways.virtual_field.protocol.hello import VR_CLIENT
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import OWNER
from urlab_ros_bridge.gateways.virtual_field.serving.client import WebXrClient


class ClientNames:
    """Gives names out.  Thread-safe.  Users and spectators share one counter."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, WebXrClient | None] = {OWNER: None}
        self._users = self._publishers = 0

    def take(self, client: WebXrClient, hello: Hello) -> str:
        """
        Return the name of a client, reserved until `release`.

        :raises BadMessage: when another client has the name that it wants.
        """
        key = 'owner_id' if hello.role == PUBLISHER else 'user_id'
        wanted = hello.owner_id if hello.role == PUBLISHER else hello.user_id
        with self._lock:
            if wanted in self._names:
                raise BadMessage(
                    f'{key} {shown(wanted)} is in use: choose another one, or leave it out'
                )
            while not wanted or wanted in self._names:
                wanted = self._next(hello.role)
            self._names[wanted] = client
            return wanted

    def release(self, client: WebXrClient, name: str) -> None:
        """Let a name go, when it is this client's."""
        with self._lock:
            if self._names.get(name) is client:
                del self._names[name]

    def _next(self, role: str) -> str:
        if role == PUBLISHER:
            self._publishers += 1
            return f'publisher_{self._publishers}'
        self._users += 1
        return f'{"user" if role == VR_CLIENT else "spectator"}_{self._users}'


__all__ = ['ClientNames']
