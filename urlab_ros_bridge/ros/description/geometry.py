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
from typing import Any

from urlab_ros_bridge.ros.convert.frame_tree import enumeration
from urlab_ros_bridge.ros.description.colors import Color
from urlab_ros_bridge.ros.description.colors import Colors
from urlab_ros_bridge.ros.description.spatial import Pose
from urlab_ros_bridge.ros.description.spatial import pose_of

# MuJoCo's viewer hides groups from here on.
_FIRST_HIDDEN_GROUP = 3
# An endless floor is shown as a slab of so much (m) to each side, and any plane so thick.
_ENDLESS = 20.0
_THIN = 0.002


class Kind(Enum):
    """What a shape is; `size` holds full extents."""

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
    :ivar size: see `Kind`, m.
    :ivar color: r, g, b, a from 0 to 1.
    :ivar mesh: id of the mesh, or -1 - id of the height field.
    :ivar hull: whether the mesh stands for its convex hull.
    """

    kind: Kind
    name: str
    pose: Pose
    size: tuple[float, float, float]
    color: Color
    mesh: int = 0
    hull: bool = False


class Geometry:
    """The geoms of one model."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._colors = Colors(model)
        kinds = enumeration(model, 'mjtGeom')
        self._makers = {
            int(kinds.mjGEOM_PLANE): self._plane,
            int(kinds.mjGEOM_HFIELD): self._height_field,
            int(kinds.mjGEOM_SPHERE): self._sphere,
            int(kinds.mjGEOM_CAPSULE): self._capsule,
            int(kinds.mjGEOM_ELLIPSOID): self._ellipsoid,
            int(kinds.mjGEOM_CYLINDER): self._cylinder,
            int(kinds.mjGEOM_BOX): self._box,
            int(kinds.mjGEOM_MESH): self._mesh,
        }
        self._plane_type = int(kinds.mjGEOM_PLANE)

    def seen(self, body: int) -> list[int]:
        """Return the ids of the geoms of a body that a viewer shows."""
        return [
            geom
            for geom in self._geoms(body)
            if self._model.geom_group[geom] < _FIRST_HIDDEN_GROUP
            and self._colors.of_geom(geom)[3] > 0.0
        ]

    def colliding(self, body: int) -> list[int]:
        """Return the ids of the geoms of a body that touch others."""
        bits = self._model.geom_contype | self._model.geom_conaffinity
        return [geom for geom in self._geoms(body) if bits[geom]]

    def is_endless(self, geom: int) -> bool:
        """Tell whether a geom is a plane without an end."""
        is_plane = self._model.geom_type[geom] == self._plane_type
        return bool(is_plane and min(self._model.geom_size[geom][:2]) <= 0.0)

    def shapes(self, geoms: Iterable[int], prefix: str = '', *, hull: bool = False) -> list[Shape]:
        """
        Return the shapes of geoms, in their bodies' frames.

        :param prefix: cut from the names of geoms.
        :param hull: meshes as they collide, not as they look.
        """
        found: list[Shape] = []
        for geom in geoms:
            make = self._makers.get(int(self._model.geom_type[geom]))
            if make is None:  # signed distance fields and what renderers make up
                make = self._mesh if self._model.geom_dataid[geom] >= 0 else None
            if make is not None:
                found += make(geom, self._model.geom(geom).name.removeprefix(prefix), hull)
        return found

    def _geoms(self, body: int) -> range:
        first = int(self._model.body_geomadr[body])
        return (
            range(first, first + int(self._model.body_geomnum[body])) if first >= 0 else range(0)
        )

    def _make(
        self, geom: int, name: str, kind: Kind, size: Iterable[float], **fields: Any
    ) -> Shape:
        pose = pose_of(self._model.geom_pos[geom], self._model.geom_quat[geom])
        offset = fields.pop('offset', 0.0)
        if offset:
            pose = pose.then(Pose((0.0, 0.0, offset)))
        full = tuple(float(part) for part in size)
        return Shape(kind, name, pose, full, self._colors.of_geom(geom), **fields)

    def _size(self, geom: int) -> list[float]:
        return [float(part) for part in self._model.geom_size[geom]]

    def _plane(self, geom: int, name: str, hull: bool) -> list[Shape]:
        x, y, _ = self._size(geom)
        size = (2 * (x or _ENDLESS), 2 * (y or _ENDLESS), _THIN)
        return [self._make(geom, name, Kind.BOX, size, offset=-0.5 * _THIN)]

    def _height_field(self, geom: int, name: str, hull: bool) -> list[Shape]:
        field = -1 - int(self._model.geom_dataid[geom])
        return [self._make(geom, name, Kind.MESH, (1, 1, 1), mesh=field)]

    def _sphere(self, geom: int, name: str, hull: bool) -> list[Shape]:
        radius = self._size(geom)[0]
        return [self._make(geom, name, Kind.SPHERE, [2 * radius] * 3)]

    def _ellipsoid(self, geom: int, name: str, hull: bool) -> list[Shape]:
        return [self._make(geom, name, Kind.ELLIPSOID, [2 * part for part in self._size(geom)])]

    def _capsule(self, geom: int, name: str, hull: bool) -> list[Shape]:
        radius, half, _ = self._size(geom)
        ends = [
            self._make(geom, name, Kind.SPHERE, [2 * radius] * 3, offset=end)
            for end in (half, -half)
        ]
        return [*self._cylinder(geom, name, hull), *ends]

    def _cylinder(self, geom: int, name: str, hull: bool) -> list[Shape]:
        radius, half, _ = self._size(geom)
        return [self._make(geom, name, Kind.CYLINDER, (2 * radius, 2 * radius, 2 * half))]

    def _box(self, geom: int, name: str, hull: bool) -> list[Shape]:
        return [self._make(geom, name, Kind.BOX, [2 * part for part in self._size(geom)])]

    def _mesh(self, geom: int, name: str, hull: bool) -> list[Shape]:
        mesh = int(self._model.geom_dataid[geom])
        return [self._make(geom, name, Kind.MESH, (1, 1, 1), mesh=mesh, hull=hull)]
