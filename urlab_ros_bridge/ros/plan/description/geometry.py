# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The geoms of bodies as shapes that URDF and markers can both show.

What is seen is what MuJoCo's own viewer shows: groups 0 to 2 that are not transparent.  What
collides is what has contact bits; a mesh collides as its convex hull.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.model import FIRST_HIDDEN_GROUP
from urlab_ros_bridge.model import Geom
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.model.colors import Color
from urlab_ros_bridge.model.colors import Colors

# An endless floor is shown as a slab of so much (m) to each side, and any plane so thick.
_ENDLESS = 20.0
_THIN = 0.002


class ShapeKind(Enum):
    """Kind of a shape; `size` holds full extents."""

    BOX = 'box'  # x, y, z
    SPHERE = 'sphere'  # diameter, three times
    ELLIPSOID = 'ellipsoid'  # diameters
    CYLINDER = 'cylinder'  # diameter, diameter, length along z
    MESH = 'mesh'  # scale


@dataclass(frozen=True, slots=True)
class Shape:
    """
    One simple shape of a body.

    :ivar name: local name of the geom, '' when it has none; parts of a capsule share it.
    :ivar pose: in the frame of the body.
    :ivar size: see `ShapeKind`, m.
    :ivar color: r, g, b, a from 0 to 1.
    :ivar mesh: id of the mesh, or -1 - id of the height field.
    :ivar hull: whether the convex hull of the mesh is meant.
    """

    kind: ShapeKind
    name: str
    pose: Pose
    size: tuple[float, float, float]
    color: Color
    mesh: int = 0
    hull: bool = False


class Geometry:
    """
    The geoms of one model.

    :ivar world: the reading that the geoms are from.
    """

    def __init__(self, world: WorldModel, colors: Colors) -> None:
        self.world = world
        self._colors = colors
        self._of_body: dict[int, list[Geom]] = {}
        for geom in world.geoms:
            self._of_body.setdefault(geom.body, []).append(geom)
        self._makers = {
            'plane': _plane,
            'hfield': _height_field,
            'sphere': _sphere,
            'capsule': _capsule,
            'ellipsoid': _ellipsoid,
            'cylinder': _cylinder,
            'box': _box,
            'mesh': _mesh,
        }

    def seen(self, body: int) -> list[Geom]:
        """Return the geoms of a body that a viewer shows."""
        return [
            geom
            for geom in self._of_body.get(body, ())
            if geom.group < FIRST_HIDDEN_GROUP and self._colors.of_geom(geom)[3] > 0.0
        ]

    def colliding(self, body: int) -> list[Geom]:
        """Return the geoms of a body that touch others."""
        return [geom for geom in self._of_body.get(body, ()) if geom.collides]

    def shapes(
        self, geoms: Iterable[Geom], prefix: str = '', *, hull: bool = False
    ) -> list[Shape]:
        """
        Return the shapes of geoms, in their bodies' frames.

        :param prefix: of the articulation whose local names they get, others the compiled ones.
        :param hull: meshes as they collide, not as they look.
        """
        found: list[Shape] = []
        for geom in geoms:
            make = self._makers.get(geom.kind)
            if make is None and geom.data >= 0:  # a signed distance field
                make = _mesh
            if make is not None:
                name = geom.name if geom.prefix == prefix else geom.compiled
                found += make(_Maker(geom, name, self._colors.of_geom(geom), hull))
        return found


def is_endless(geom: Geom) -> bool:
    """Return whether a geom is a plane without an end."""
    return geom.kind == 'plane' and min(geom.size[:2]) <= 0.0


@dataclass(frozen=True, slots=True)
class _Maker:
    """A geom with what its shapes share."""

    geom: Geom
    name: str
    color: Color
    hull: bool

    def shape(
        self, kind: ShapeKind, x: float, y: float, z: float, *, offset: float = 0.0, mesh: int = 0
    ) -> Shape:
        """Return a shape of this size, moved along z."""
        pose = self.geom.pose
        if offset:
            pose = pose.then(Pose((0.0, 0.0, offset)))
        hull = self.hull and kind is ShapeKind.MESH and mesh >= 0
        return Shape(kind, self.name, pose, (x, y, z), self.color, mesh, hull)


def _plane(make: _Maker) -> list[Shape]:
    x, y, _ = make.geom.size
    size = (2 * (x or _ENDLESS), 2 * (y or _ENDLESS), _THIN)
    return [make.shape(ShapeKind.BOX, *size, offset=-0.5 * _THIN)]


def _height_field(make: _Maker) -> list[Shape]:
    return [make.shape(ShapeKind.MESH, 1.0, 1.0, 1.0, mesh=-1 - make.geom.data)]


def _sphere(make: _Maker) -> list[Shape]:
    diameter = 2 * make.geom.size[0]
    return [make.shape(ShapeKind.SPHERE, diameter, diameter, diameter)]


def _ellipsoid(make: _Maker) -> list[Shape]:
    x, y, z = make.geom.size
    return [make.shape(ShapeKind.ELLIPSOID, 2 * x, 2 * y, 2 * z)]


def _capsule(make: _Maker) -> list[Shape]:
    radius, half, _ = make.geom.size
    ends = [
        make.shape(ShapeKind.SPHERE, 2 * radius, 2 * radius, 2 * radius, offset=end)
        for end in (half, -half)
    ]
    return [*_cylinder(make), *ends]


def _cylinder(make: _Maker) -> list[Shape]:
    radius, half, _ = make.geom.size
    return [make.shape(ShapeKind.CYLINDER, 2 * radius, 2 * radius, 2 * half)]


def _box(make: _Maker) -> list[Shape]:
    x, y, z = make.geom.size
    return [make.shape(ShapeKind.BOX, 2 * x, 2 * y, 2 * z)]


def _mesh(make: _Maker) -> list[Shape]:
    return [make.shape(ShapeKind.MESH, 1.0, 1.0, 1.0, mesh=make.geom.data)]
