# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The meshes and points that publishers have added to the scene."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
from functools import singledispatchmethod
import threading
from typing import Any

import orjson

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import shown
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import AddMesh
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import MESH
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import MoveMesh
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import OVERLAY
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import Publication
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import Remove
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import SetPoints
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import Mesh
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import mesh_state
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import RESERVED

# Limits of one owner, and of all together.
MAX_MESHES = 64
MAX_OVERLAYS = 64
MAX_TOTAL_BYTES = 64 << 20
MAX_TOTAL_POINTS = 32768

Ack = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Item:
    """
    A mesh, or points.

    :ivar state: as in scene_state, of a mesh without its data.
    :ivar size: bytes of the data of a mesh, or number of points.
    """

    owner_id: str
    state: Any
    size: int
    mesh: Mesh | None = None


class Publications:
    """
    The current publications.  Thread-safe.

    :ivar version: grows with every change.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: dict[str, dict[str, _Item]] = {MESH: {}, OVERLAY: {}}
        self._made = 0  # counts meshes: an id that is reused gets a new version
        self.version = 0

    def apply(self, owner: str, publication: Publication) -> Ack:
        """
        Execute a request of a publisher; return type and payload of the reply.

        :raises BadMessage: when it is refused; nothing has changed then.
        """
        with self._lock:
            kind, fields = self._apply(publication, owner)
            self.version += 1
        return f'{kind}_ack', {'owner_id': owner, **fields}

    def forget(self, owner: str) -> None:
        """Remove everything of an owner."""
        with self._lock:
            for kind in self._items:
                self._clear(kind, owner)
            self.version += 1

    def read(self) -> tuple[int, dict[str, Any], dict[str, Any], dict[str, Mesh]]:
        """Return version, states of meshes and overlays as in scene_state, and the meshes."""
        with self._lock:
            meshes, overlays = self._items[MESH], self._items[OVERLAY]
            return (
                self.version,
                {name: item.state for name, item in meshes.items()},
                {name: item.state for name, item in overlays.items()},
                {name: item.mesh for name, item in meshes.items() if item.mesh is not None},
            )

    @singledispatchmethod
    def _apply(self, publication: Any, owner: str) -> Ack:
        raise NotImplementedError(type(publication).__name__)

    @_apply.register
    def _(self, it: AddMesh, owner: str) -> Ack:
        if it.mesh_id.startswith(RESERVED):
            raise BadMessage(
                f'mesh_id {shown(it.mesh_id)}: {RESERVED} is reserved for the simulation'
            )
        mesh = Mesh(it.mesh_id, owner, self._made + 1, it.asset_uri)
        state = mesh_state(
            it.mesh_id,
            owner,
            it.translation,
            it.rotation,
            it.scale,
            visible=it.visible,
            static_asset=it.static_asset,
        )
        self._put(MESH, it.mesh_id, _Item(owner, state, len(it.asset_uri), mesh))
        self._made += 1
        return MESH, {'mesh_id': it.mesh_id, 'status': 'added'}

    @_apply.register
    def _(self, it: MoveMesh, owner: str) -> Ack:
        found = self._items[MESH].get(it.mesh_id)
        if found is None or found.owner_id != owner:
            raise BadMessage('mesh not found or ownership mismatch for update')
        self._items[MESH][it.mesh_id] = replace(found, state={**found.state, **it.changes})
        return MESH, {'mesh_id': it.mesh_id, 'status': 'updated'}

    @_apply.register
    def _(self, it: SetPoints, owner: str) -> Ack:
        state = {
            'overlay_id': it.overlay_id,
            'owner_id': owner,
            'points': it.points,
            'point_size': it.point_size,
            'visible': it.visible,
        }
        item = _Item(owner, orjson.Fragment(orjson.dumps(state)), len(it.points))
        self._put(OVERLAY, it.overlay_id, item)
        return OVERLAY, {'overlay_id': it.overlay_id, 'status': 'updated'}

    @_apply.register
    def _(self, it: Remove, owner: str) -> Ack:
        if it.item_id is None:
            self._clear(it.kind, owner)
            return it.kind, {'status': 'cleared'}
        self._check_owner(it.kind, it.item_id, owner)
        self._items[it.kind].pop(it.item_id, None)
        return it.kind, {f'{it.kind}_id': it.item_id, 'status': 'removed'}

    def _put(self, kind: str, item_id: str, item: _Item) -> None:
        """Add an item, or replace one of the same owner, within the limits."""
        self._check_owner(kind, item_id, item.owner_id)
        others = [other for name, other in self._items[kind].items() if name != item_id]
        name, count, total, unit = (
            ('meshes', MAX_MESHES, MAX_TOTAL_BYTES, 'bytes')
            if kind == MESH
            else ('overlays', MAX_OVERLAYS, MAX_TOTAL_POINTS, 'points')
        )
        if sum(other.owner_id == item.owner_id for other in others) >= count:
            raise BadMessage(f'{item.owner_id!r} already publishes {count} {name}, the maximum')
        if sum(other.size for other in others) + item.size > total:
            raise BadMessage(f'all {name} together would have more than {total} {unit}')
        self._items[kind][item_id] = item

    def _check_owner(self, kind: str, item_id: str, owner: str) -> None:
        found = self._items[kind].get(item_id)
        if found is not None and found.owner_id != owner:
            raise BadMessage(f'{kind} {shown(item_id)} belongs to {found.owner_id!r}')

    def _clear(self, kind: str, owner: str) -> None:
        items = self._items[kind]
        self._items[kind] = {n: item for n, item in items.items() if item.owner_id != owner}


__all__ = ['MAX_MESHES', 'MAX_OVERLAYS', 'MAX_TOTAL_POINTS', 'Publications']
