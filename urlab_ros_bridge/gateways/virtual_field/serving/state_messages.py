# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Writes frames as scene_state: once for all clients, and again for those that lack meshes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_message
from urlab_ros_bridge.gateways.virtual_field.scene.arms import ArmShape
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.gateways.virtual_field.scene.live_scene import LiveScene
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import ASSETS_AT_ONCE
from urlab_ros_bridge.gateways.virtual_field.scene.meshes import Mesh
from urlab_ros_bridge.gateways.virtual_field.scene.publications import Publications
from urlab_ros_bridge.gateways.virtual_field.steering.arm_pool import Ownership

AssetKeys = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True, eq=False)
class StateMessage:
    """
    One scene_state.

    :ivar payload: of plain values and arrays; `data` the message without data of `meshes`.
    :ivar keys: of these meshes.
    """

    payload: dict[str, Any]
    data: bytes
    meshes: dict[str, Mesh]
    keys: AssetKeys

    def for_client(self, assets: AssetKeys) -> tuple[bytes, AssetKeys]:
        """
        Return the message for a client, and the keys of the meshes that it has afterwards.

        :param assets: keys of the meshes that it has.
        """
        if assets == self.keys:
            return self.data, self.keys
        # A mesh that was removed would be another one if it came back.
        had, size = set(assets & self.keys), 0
        states = dict(self.payload['meshes'])
        for mesh_id, mesh in self.meshes.items():
            if mesh.key not in had and size < ASSETS_AT_ONCE:
                states[mesh_id] = {**states[mesh_id], 'asset_uri': mesh.asset_uri}
                had.add(mesh.key)
                size += len(mesh.asset_uri)
        data = self.data
        if size:
            data = write_message('scene_state', self.payload | {'meshes': states})
        return data, self.keys if had == self.keys else frozenset(had)


class StateMessages:
    """
    Makes the messages of one simulation.  For one thread.

    :ivar made: how many messages were serialised.
    """

    def __init__(self, scene: LiveScene, publications: Publications) -> None:
        self._scene = scene
        self._publications = publications
        self._newest: tuple[object, StateMessage] | None = None
        self.made = 0

    def message(self, frame: SceneFrame, ownership: Ownership) -> StateMessage:
        """Return the message of a frame, the same one as before when nothing has changed."""
        version = (frame, self._publications.version, ownership)
        if self._newest is None or self._newest[0] != version:
            self._newest = version, self._make(frame, ownership)
        return self._newest[1]

    def _make(self, frame: SceneFrame, ownership: Ownership) -> StateMessage:
        self.made += 1
        _, published, overlays, added = self._publications.read()
        shown, spheres = self._scene.bodies.states(frame)
        meshes = self._scene.bodies.meshes() | added
        shapes = self._scene.shapes(frame)
        payload = {
            'timestamp': frame.time,
            'arms': {
                arm_id: arm_state(shape, arm_id, owner, radii)
                for shape, arm_id, owner, radii in zip(
                    shapes, ownership.arm_ids, ownership.owners, self._scene.radii, strict=True
                )
            },
            'scenery': {},
            'user_arms': ownership.users,
            'meshes': shown | published,
            'overlay_points': overlays,
            'spheres': spheres,
            'haptics': [
                {
                    'arm_id': arm_id,
                    'active': bool(shape.contacts),
                    'intensity': 1.0 if shape.contacts else 0.0,
                }
                for shape, arm_id, owner in zip(
                    shapes, ownership.arm_ids, ownership.owners, strict=True
                )
                if owner is not None
            ],
        }
        keys = frozenset(mesh.key for mesh in meshes.values())
        return StateMessage(payload, write_message('scene_state', payload), meshes, keys)


def arm_state(
    shape: ArmShape, arm_id: str, owner: str | None, radii: list[float]
) -> dict[str, Any]:
    """Return one arm of scene_state."""
    return {
        'arm_id': arm_id,
        'owner_user_id': owner,
        'base': {'translation': shape.base_position, 'rotation_xyzw': shape.base_rotation},
        'tip': {'translation': shape.tip_position, 'rotation_xyzw': shape.tip_rotation},
        'centerline': shape.centerline,
        'radii': radii,
        'element_lengths': shape.lengths,
        'directors': shape.directors,
        'contact_points': shape.contacts,
    }


__all__ = ['StateMessage', 'StateMessages']
