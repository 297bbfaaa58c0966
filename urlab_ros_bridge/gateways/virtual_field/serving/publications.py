# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The meshes and points that publishers have put into the scene."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from dataclasses import replace
from functools import singledispatchmethod
import threading
from typing import Any

import orjson

from urlab_ros_bridge.gateways.virtual_field.errors import BadMessage
from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import shown
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import AddMesh
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import ClearMeshes
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import ClearPoints
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import MoveMesh
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import Placement
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import Publication
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import RemoveMesh
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import RemovePoints
from urlab_ros_bridge.gateways.virtual_field.protocol.publishing import SetPoints
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import Mesh
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import mesh_state
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import RESERVED

# Of one owner, and of all together.
MAX_MESHES = 64
MAX_OVERLAYS = 64
MAX_TOTAL_BYTES = 64 << 20
MAX_TOTAL_POINTS = 32768

Ack = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Published:
    mesh: Mesh
    placement: Placement
    static_asset: bool


@dataclass(frozen=True, slots=True)
class _Overlay:
    owner_id: str
    points: int
    json: bytes


class Publications:
    """
    The current publications.  Thread-safe.

    :ivar version: grows with every change.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._meshes: dict[str, _Published] = {}
        self._overlays: dict[str, _Overlay] = {}
        self._made = 0  # meshes: a new one of an old id is another one
        self.version = 0
        self._json: tuple[int, dict[str, Any], dict[str, Any], dict[str, Mesh]] = (0, {}, {}, {})

    def apply(self, owner: str, publication: Publication) -> Ack:
        """
        Execute a request of a publisher; return type and payload of the reply.

        :raises BadMessage: when it is refused; nothing has changed then.
        """
        with self._lock:
            kind, fields = self._apply(publication, owner)
            self.version += 1
        return kind, {'owner_id': owner, **fields}

    def forget(self, owner: str) -> None:
        """Remove everything of an owner."""
        with self._lock:
            self._drop_meshes(owner)
            self._drop_overlays(owner)
            self.version += 1

    def read(self) -> tuple[int, dict[str, Any], dict[str, Any], dict[str, Mesh]]:
        """Return version, states of meshes and overlays as in scene_state, and the meshes."""
        with self._lock:
            if self._json[0] != self.version:
                self._json = (
                    self.version,
                    {name: _state_of(mesh) for name, mesh in self._meshes.items()},
                    {name: orjson.Fragment(o.json) for name, o in self._overlays.items()},
                    {name: published.mesh for name, published in self._meshes.items()},
                )
            return self._json

    @singledispatchmethod
    def _apply(self, publication: Any, owner: str) -> Ack:
        raise NotImplementedError(type(publication).__name__)

    @_apply.register
    def _(self, it: AddMesh, owner: str) -> Ack:
        before = self._own(it.mesh_id, owner)
        if it.mesh_id.startswith(RESERVED):
            raise BadMessage(
                f'mesh_id {shown(it.mesh_id)}: {RESERVED} is reserved for the simulation'
            )
        others = [p.mesh for name, p in self._meshes.items() if name != it.mesh_id]
        if before is None and sum(mesh.owner_id == owner for mesh in others) >= MAX_MESHES:
            raise BadMessage(f'{owner!r} already publishes {MAX_MESHES} meshes, the maximum')
        if sum(len(mesh.asset_uri) for mesh in others) + len(it.asset_uri) > MAX_TOTAL_BYTES:
            raise BadMessage(f'all meshes together would have more than {MAX_TOTAL_BYTES} bytes')
        self._made += 1
        mesh = Mesh(it.mesh_id, owner, self._made, it.asset_uri)
        self._meshes[it.mesh_id] = _Published(mesh, it.placement, it.static_asset)
        return 'mesh_ack', {'mesh_id': it.mesh_id, 'status': 'added'}

    @_apply.register
    def _(self, it: MoveMesh, owner: str) -> Ack:
        found = self._meshes.get(it.mesh_id)
        if found is None or found.mesh.owner_id != owner:
            raise BadMessage('mesh not found or ownership mismatch for update')
        old = found.placement
        placement = Placement(
            old.translation if it.translation is None else it.translation,
            old.rotation if it.rotation is None else it.rotation,
            old.scale if it.scale is None else it.scale,
            old.visible if it.visible is None else it.visible,
        )
        self._meshes[it.mesh_id] = replace(found, placement=placement)
        return 'mesh_ack', {'mesh_id': it.mesh_id, 'status': 'updated'}

    @_apply.register
    def _(self, it: RemoveMesh, owner: str) -> Ack:
        if self._own(it.mesh_id, owner) is not None:
            del self._meshes[it.mesh_id]
        return 'mesh_ack', {'mesh_id': it.mesh_id, 'status': 'removed'}

    @_apply.register
    def _(self, it: ClearMeshes, owner: str) -> Ack:
        self._drop_meshes(owner)
        return 'mesh_ack', {'status': 'cleared'}

    @_apply.register
    def _(self, it: SetPoints, owner: str) -> Ack:
        before = self._own_overlay(it.overlay_id, owner)
        mine = Counter(overlay.owner_id for overlay in self._overlays.values())
        if before is None and mine[owner] >= MAX_OVERLAYS:
            raise BadMessage(f'{owner!r} already publishes {MAX_OVERLAYS} overlays, the maximum')
        total = sum(o.points for name, o in self._overlays.items() if name != it.overlay_id)
        if total + len(it.points) > MAX_TOTAL_POINTS:
            raise BadMessage(f'all overlays would have more than {MAX_TOTAL_POINTS} points')
        fields = {
            'overlay_id': it.overlay_id,
            'owner_id': owner,
            'points': it.points,
            'point_size': it.point_size,
            'visible': it.visible,
        }
        self._overlays[it.overlay_id] = _Overlay(owner, len(it.points), orjson.dumps(fields))
        return 'overlay_ack', {'overlay_id': it.overlay_id, 'status': 'updated'}

    @_apply.register
    def _(self, it: RemovePoints, owner: str) -> Ack:
        if self._own_overlay(it.overlay_id, owner) is not None:
            del self._overlays[it.overlay_id]
        return 'overlay_ack', {'overlay_id': it.overlay_id, 'status': 'removed'}

    @_apply.register
    def _(self, it: ClearPoints, owner: str) -> Ack:
        self._drop_overlays(owner)
        return 'overlay_ack', {'status': 'cleared'}

    def _own(self, mesh_id: str, owner: str) -> _Published | None:
        """Return a mesh of the owner, None when there is none of this id."""
        found = self._meshes.get(mesh_id)
        if found is not None and found.mesh.owner_id != owner:
            raise BadMessage(f'mesh {shown(mesh_id)} belongs to {found.mesh.owner_id!r}')
        return found

    def _own_overlay(self, overlay_id: str, owner: str) -> _Overlay | None:
        found = self._overlays.get(overlay_id)
        if found is not None and found.owner_id != owner:
            raise BadMessage(f'overlay {shown(overlay_id)} belongs to {found.owner_id!r}')
        return found

    def _drop_meshes(self, owner: str) -> None:
        kept = {n: p for n, p in self._meshes.items() if p.mesh.owner_id != owner}
        self._meshes = kept

    def _drop_overlays(self, owner: str) -> None:
        self._overlays = {n: o for n, o in self._overlays.items() if o.owner_id != owner}


def _state_of(published: _Published) -> dict[str, Any]:
    mesh, where = published.mesh, published.placement
    return mesh_state(
        mesh.mesh_id,
        mesh.owner_id,
        where.translation,
        where.rotation,
        where.scale,
        visible=where.visible,
        static_asset=published.static_asset,
    )


__all__ = ['MAX_MESHES', 'MAX_OVERLAYS', 'MAX_TOTAL_POINTS', 'Publications']
