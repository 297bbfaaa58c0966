# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bodies of the simulation as glTF meshes and spheres, and the JSON of meshes."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
import threading
from typing import Any

import numpy as np

from urlab_ros_bridge.gateways.virtual_field.gltf.bodies import BodyModels
from urlab_ros_bridge.gateways.virtual_field.scene.axes import DIGITS
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up_quaternions
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame
from urlab_ros_bridge.model import Geom
from urlab_ros_bridge.model import WorldModel

OWNER = 'simulation'
# Prefix of the ids of simulated bodies.
RESERVED = 'sim/'
# Limit of mesh data in one message (bytes); the rest follows in the next ones.
ASSETS_AT_ONCE = 4 << 20
_ONE = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Mesh:
    """
    A mesh that clients load once.

    :ivar version: another one for another mesh of the same id.
    :ivar asset_uri: of binary glTF, as a ``data:`` URI.
    """

    mesh_id: str
    owner_id: str
    version: int
    asset_uri: str

    @property
    def key(self) -> tuple[str, int]:
        """Return its unique key."""
        return self.mesh_id, self.version


def mesh_state(
    mesh_id: str,
    owner_id: str,
    translation: Sequence[float],
    rotation: Sequence[float],
    scale: Sequence[float] = _ONE,
    *,
    visible: bool = True,
    static_asset: bool = True,
) -> dict[str, Any]:
    """Return a mesh of scene_state, without its data."""
    return {
        'mesh_id': mesh_id,
        'owner_id': owner_id,
        'translation': translation,
        'rotation_xyzw': rotation,
        'scale': scale,
        'visible': visible,
        'static_asset': static_asset,
    }


class BodyMeshes:
    """
    The bodies of the simulation as meshes; a body with a single sphere is sent as a sphere.

    Meshes are made on first use, which takes a second for a large world.

    :ivar spheres: body id -> its one geom.
    """

    def __init__(self, models: BodyModels, world: WorldModel) -> None:
        self._world = world
        self._models = models
        self._lock = threading.Lock()
        self._meshes: dict[str, Mesh] | None = None
        self.spheres: dict[int, Geom] = {}
        self._moving: list[int] = []
        self._static: list[int] = []
        for body in world.bodies:
            if not self._models.is_drawn(body.id):
                continue
            geoms = self._models.geoms(body.id)
            is_static = world.is_static(body.id)
            is_sphere = len(geoms) == 1 and geoms[0].kind == 'sphere'
            if is_sphere and not is_static:
                self.spheres[body.id] = geoms[0]
            else:
                (self._static if is_static else self._moving).append(body.id)
        self._ids = {i: self._name(i) for i in (*self._static, *self._moving, *self.spheres)}
        self._centres = np.array([geom.pose.position for geom in self.spheres.values()])
        self._still: dict[str, Any] | None = None

    def meshes(self) -> dict[str, Mesh]:
        """Return all meshes by id."""
        with self._lock:
            if self._meshes is None:
                found = {}
                for body in (*self._static, *self._moving):
                    data = base64.b64encode(self._models.glb(body)).decode()
                    uri = f'data:model/gltf-binary;base64,{data}'
                    found[self._ids[body]] = Mesh(self._ids[body], OWNER, 0, uri)
                self._meshes = found
            return self._meshes

    def states(self, frame: SceneFrame) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the meshes, without their data, and the spheres of scene_state by id."""
        if self._still is None:
            self._still = self._table(self._static, frame)
        return self._still | self._table(self._moving, frame), self._spheres_at(frame)

    def _table(self, bodies: Sequence[int], frame: SceneFrame) -> dict[str, Any]:
        places = y_up(frame.body_positions[bodies]).round(DIGITS).tolist()
        turns = y_up_quaternions(frame.body_quaternions[bodies]).round(DIGITS).tolist()
        return {
            self._ids[body]: mesh_state(self._ids[body], OWNER, place, turn)
            for body, place, turn in zip(bodies, places, turns, strict=True)
        }

    def _spheres_at(self, frame: SceneFrame) -> dict[str, Any]:
        if not self.spheres:
            return {}
        bodies = list(self.spheres)
        turned = np.einsum('nij,nj->ni', frame.body_matrices[bodies], self._centres)
        places = y_up(frame.body_positions[bodies] + turned).round(DIGITS).tolist()
        return {
            self._ids[body]: {
                'sphere_id': self._ids[body],
                'owner_id': OWNER,
                'translation': place,
                'radius': geom.size[0],
                'color_rgb': list(self._models.rgba(geom)[:3]),
                'visible': True,
            }
            for place, (body, geom) in zip(places, self.spheres.items(), strict=True)
        }

    def _name(self, body: int) -> str:
        return RESERVED + (self._world.bodies[body].compiled or f'body_{body}')


__all__ = ['ASSETS_AT_ONCE', 'OWNER', 'RESERVED', 'BodyMeshes', 'Mesh', 'mesh_state']
