# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bodies of a model as binary glTF files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
import threading
from typing import Any

import numpy as np

from urlab_ros_bridge.client.model import read_world
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.gateways.virtual_field.gltf.binary import glb
from urlab_ros_bridge.gateways.virtual_field.gltf.binary import joined
from urlab_ros_bridge.gateways.virtual_field.gltf.binary import Material
from urlab_ros_bridge.gateways.virtual_field.gltf.binary import Surface
from urlab_ros_bridge.gateways.virtual_field.gltf.materials import Materials
from urlab_ros_bridge.gateways.virtual_field.gltf.shapes import Shapes
from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.model import Body
from urlab_ros_bridge.model import FIRST_HIDDEN_GROUP
from urlab_ros_bridge.model import Geom
from urlab_ros_bridge.model import WorldModel

# (x, y, z) with z up -> (x, z, -y) with y up, as glTF and WebXR want it.
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


class Geoms(Enum):
    """Which geoms of a body are drawn."""

    SEEN = 'seen'  # what MuJoCo's viewer shows: groups 0 to 2 that are not transparent
    COLLIDING = 'colliding'  # what touches other bodies, in any group


class BodyModels:
    """
    The bodies of one world as binary glTF.  Thread-safe.

    Files have y up and are in the frame of the body: with (x, y, z) -> (x, z, -y) for positions
    and quaternions alike, a body's pose in the world places its file.
    """

    def __init__(self, model: Any, world: WorldModel) -> None:
        """
        Take the model.

        :param model: mujoco.MjModel, from which `world` was read.
        """
        self._world = world
        self._materials = Materials(model)
        self._shapes = Shapes(model)
        self._lock = threading.Lock()  # shapes and materials keep what they made
        self._geoms: dict[int, list[Geom]] = defaultdict(list)
        for geom in world.geoms:
            self._geoms[geom.body].append(geom)

    def geoms(self, body: int, which: Geoms = Geoms.SEEN) -> list[Geom]:
        """Return the geoms of a body that are drawn."""
        found = self._geoms.get(body, [])
        if which is Geoms.COLLIDING:
            return [geom for geom in found if geom.collides]
        return [
            geom for geom in found if geom.group < FIRST_HIDDEN_GROUP and self.rgba(geom)[3] > 0.0
        ]

    def rgba(self, geom: Geom) -> tuple[float, ...]:
        """Return the colour that a geom is drawn with, as in the model (sRGB)."""
        return self._materials.rgba(geom)

    def is_drawn(self, body: int, which: Geoms = Geoms.SEEN) -> bool:
        """Return whether there is something in the file of a body."""
        return bool(self.geoms(body, which))

    def glb(self, body: int, which: Geoms = Geoms.SEEN, *, named: bool = True) -> bytes:
        """
        Return the file of a body, metres, y up; geoms of equal appearance are one primitive.

        :param body: its id.
        :param named: whether its name is in the file; without names, bodies of equal appearance
            have equal files.
        """
        name = self._world.bodies[body].compiled if named else ''
        with self._lock:
            parts = self._parts(self.geoms(body, which))
        return glb(parts, name)

    def _parts(self, geoms: Iterable[Geom]) -> list[tuple[Surface, Material]]:
        by_material: dict[Material, list[Surface]] = {}
        for geom in geoms:
            appearance = self._materials.appearance(geom)
            shape = self._shapes.surface(geom, appearance)
            if shape is not None and len(shape.faces):
                by_material.setdefault(appearance.material, []).append(_placed(shape, geom))
        return [(joined(surfaces), material) for material, surfaces in by_material.items()]


def body_glb(handshake: Handshake, body: Body | int) -> bytes:
    """
    Return one body of a world as binary glTF; for several keep a `BodyModels`.

    :param body: as `client.model.read_world` has it, or its id.
    :raises ModelUnavailable: see `Handshake.model`.
    """
    models = BodyModels(handshake.model, read_world(handshake))
    return models.glb(body.id if isinstance(body, Body) else body)


def _placed(surface: Surface, geom: Geom) -> Surface:
    """Bring a surface from the frame of its geom into that of its body, with y up."""
    turn = Y_UP @ matrix_of(geom.pose.orientation)
    return replace(
        surface,
        positions=surface.positions @ turn.T + Y_UP @ np.array(geom.pose.position),
        normals=surface.normals @ turn.T,
    )


__all__ = ['Y_UP', 'BodyModels', 'Geoms', 'body_glb']
