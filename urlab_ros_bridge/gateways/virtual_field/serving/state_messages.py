# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Turns frames into scene_state: once for all clients, and again for those that lack meshes."""

from __future__ import annotations

from typing import Any

import orjson

from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_message
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import Mesh
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import with_asset
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import LAST
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import left_open
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import MessageTemplate
from urlab_ros_bridge.gateways.virtual_field.scene.served import ServedScene
from urlab_ros_bridge.gateways.virtual_field.scene.state_message import arms_json
from urlab_ros_bridge.gateways.virtual_field.scene.state_message import Ownership
from urlab_ros_bridge.gateways.virtual_field.scene.state_message import scene_json
from urlab_ros_bridge.gateways.virtual_field.serving.client import WebXrClient
from urlab_ros_bridge.gateways.virtual_field.serving.publications import Publications
from urlab_ros_bridge.gateways.virtual_field.serving.ticker import framed

# A message with the data of meshes holds about so much of it (bytes): the rest comes next time.
ASSETS_AT_ONCE = 4 << 20
_NOTHING: frozenset[tuple[str, int]] = frozenset()


class StateMessages:
    """
    Makes the messages of one simulation.  For one thread.

    :ivar made: how many messages were serialised.
    """

    def __init__(self, scene: ServedScene, publications: Publications) -> None:
        self._scene = scene
        self._publications = publications
        self._frame: SceneFrame | None = None
        self._template: MessageTemplate | None = None  # of messages without meshes
        self._rows: list[bytes] = []  # of numbers, the time last
        self._versions = (-1, -1)
        self._published = -1
        self._touched = False
        self._payload: dict[str, Any] = {}
        self._meshes: dict[str, Mesh] = {}
        self._keys: frozenset[tuple[str, int]] = frozenset()
        self._framed: dict[frozenset[tuple[str, int]], bytes] = {}
        self.made = 0

    def show(self, client: WebXrClient, frame: SceneFrame, ownership: Ownership) -> bool:
        """Send a client the frame, unless it is still busy; return whether it gets it."""
        if client.connection.is_busy and not client.connection.push():
            return False
        self._prepare(frame, ownership)
        extra = _NOTHING
        if client.assets is not self._keys:
            missing = self._keys - client.assets
            extra = frozenset(self._some(missing)) if missing else _NOTHING
        if extra not in self._framed:
            self._framed[extra] = self._make(extra)
        if not client.connection.offer(self._framed[extra]):
            return False
        if client.assets is not self._keys:
            # What has vanished would be another mesh if it came back.
            had = (client.assets & self._keys) | extra
            client.assets = self._keys if had == self._keys else had
        return True

    def _prepare(self, frame: SceneFrame, ownership: Ownership) -> None:
        versions = (self._publications.version, ownership.version)
        if self._frame is frame and self._versions == versions:
            return
        before, self._frame = self._frame, frame
        self._framed = {}
        time = orjson.dumps(frame.time)
        if before is not None and before.posed is frame.posed and self._versions == versions:
            self._rows[LAST] = time
            return
        scene = self._scene
        shapes = scene.shapes(frame)
        scene.numbers.follow(frame)
        self._rows = [*scene.numbers.texts(), time]
        # While nothing touches and nobody comes or goes, only numbers change.
        touches = any(shape.contacts for shape in shapes)
        if self._versions == versions and not (touches or self._touched):
            return
        version, published, overlays, meshes = self._publications.read()
        if self._published != version:
            self._published = version
            self._meshes = scene.bodies.meshes() | meshes
            self._keys = frozenset(mesh.key for mesh in self._meshes.values())
        shown, spheres = scene.bodies.states(frame)
        self._payload = scene_json(
            left_open(LAST),
            arms_json(shapes, ownership),
            ownership.users,
            shown | published,
            overlays,
            spheres,
        )
        self._template = None
        self._touched, self._versions = touches, (version, ownership.version)

    def _some(self, missing: frozenset[tuple[str, int]]) -> list[tuple[str, int]]:
        """Return as many of the missing meshes as go into one message."""
        chosen, size = [], 0
        for mesh in self._meshes.values():
            if mesh.key in missing:
                chosen.append(mesh.key)
                size += len(mesh.asset_uri)
                if size > ASSETS_AT_ONCE:
                    break
        return chosen

    def _make(self, extra: frozenset[tuple[str, int]]) -> bytes:
        self.made += 1
        if extra:
            meshes = dict(self._payload['meshes'])
            for mesh_id, _ in extra:
                meshes[mesh_id] = with_asset(meshes[mesh_id], self._meshes[mesh_id])
            return framed(_template(self._payload | {'meshes': meshes}).fill(self._rows))
        if self._template is None:
            self._template = _template(self._payload)
        return framed(self._template.fill(self._rows))


def _template(payload: dict[str, Any]) -> MessageTemplate:
    return MessageTemplate(write_message('scene_state', payload))


__all__ = ['StateMessages']
