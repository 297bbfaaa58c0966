# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's geoms as standard primitives, which every viewer of the protocol draws."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.client.model import Geom
from urlab_ros_bridge.gateways.simspark.monitor.nodes import fixed
from urlab_ros_bridge.gateways.simspark.monitor.nodes import primitive
from urlab_ros_bridge.gateways.simspark.monitor.nodes import Rgba
from urlab_ros_bridge.gateways.simspark.monitor.nodes import SceneNode
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.model.colors import Colors
from urlab_ros_bridge.wire.names import Prefixes

BOX = 'StdUnitBox'
SPHERE = 'StdUnitSphere'
# Viewers ignore the parameters; the scale has the size.
CYLINDER = 'StdUnitCylinder 1 1'

# MuJoCo's viewer draws the groups below this one.
SHOWN_GROUPS = 3
# For viewers that do not know colours; RoboViz uses the colour that follows.
GREY = 'matGrey'
# Geoms with the material of this local name get the colour of their team from the viewer.
TEAM = 'team'


class GeomShapes:
    """
    The shapes of one model.

    :param model: mujoco.MjModel.
    """

    def __init__(self, model: Any, prefixes: Prefixes) -> None:
        self._model = model
        self._prefixes = prefixes
        self._colors = Colors(model)

    def nodes(self, geoms: list[Geom], team_material: str = '') -> list[SceneNode]:
        """
        Return nodes of the geoms of one body, children of its transform.

        :param team_material: for geoms in the colour of the team.
        """
        shown = [geom for geom in geoms if geom.group < SHOWN_GROUPS]
        return [
            node
            for geom in shown
            if geom.kind != 'plane'  # infinite; viewers draw the field
            for node in self._shape(geom, team_material)
        ]

    def _shape(self, geom: Geom, team_material: str) -> list[SceneNode]:
        rgba: Rgba | None = self._colors.of_geom(geom)
        material = GREY
        if rgba is not None and rgba[3] <= 0:
            return []
        if team_material and self._has_team_color(geom):
            material, rgba = team_material, None
        a, b, c = geom.size
        if geom.kind == 'box':
            return [_at(geom.pose, primitive(BOX, (2 * a, 2 * b, 2 * c), material, rgba))]
        if geom.kind == 'sphere':
            return [_at(geom.pose, primitive(SPHERE, (a, a, a), material, rgba))]
        if geom.kind == 'ellipsoid':
            return [_at(geom.pose, primitive(SPHERE, (a, b, c), material, rgba))]
        if geom.kind == 'cylinder':
            return [_at(geom.pose, primitive(CYLINDER, (a, a, 2 * b), material, rgba))]
        if geom.kind == 'capsule':
            ends = (Pose((0.0, 0.0, b)), Pose((0.0, 0.0, -b)))
            return [
                _at(geom.pose, primitive(CYLINDER, (a, a, 2 * b), material, rgba)),
                *(
                    _at(geom.pose.then(end), primitive(SPHERE, (a, a, a), material, rgba))
                    for end in ends
                ),
            ]
        return [self._bounds(geom, material, rgba)]

    def _bounds(self, geom: Geom, material: str, rgba: Rgba | None) -> SceneNode:
        """Return the box around a mesh: the protocol carries no vertices."""
        x, y, z, a, b, c = self._model.geom_aabb[geom.id].tolist()
        pose = geom.pose.then(Pose((x, y, z)))
        return _at(pose, primitive(BOX, (2 * a, 2 * b, 2 * c), material, rgba))

    def _has_team_color(self, geom: Geom) -> bool:
        if geom.material < 0:
            return False
        return self._prefixes.split(self._model.mat(geom.material).name)[1] == TEAM


def _at(pose: Pose, node: SceneNode) -> SceneNode:
    return node if pose.is_identity else fixed(pose, node)


__all__ = ['BOX', 'CYLINDER', 'GREY', 'SPHERE', 'TEAM', 'GeomShapes']
