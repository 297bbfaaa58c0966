# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The shapes that viewers draw: MuJoCo's geoms as standard primitives, the Nao by its meshes."""

from __future__ import annotations

from collections.abc import Iterator
import math
from typing import Any
from typing import NamedTuple

from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import fixed
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import mesh_file
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import moving
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import primitive
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import Rgba
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import SceneNode
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.geometry import AT_ORIGIN
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.model import Body
from urlab_ros_bridge.model import Geom
from urlab_ros_bridge.model.colors import Colors
from urlab_ros_bridge.models.nao_types import NAO_TYPES
from urlab_ros_bridge.wire.names import Prefixes

# Axes of a part in those of our bodies (x forward, y left, z up), quaternion x y z w.
_AXES = (0.0, 0.0, -math.sqrt(0.5), math.sqrt(0.5))
# Axes of the meshes of torso and head in those of the part.
_Y_UP = Pose(orientation=(0.0, math.sqrt(0.5), math.sqrt(0.5), 0.0))
_FOOT = 0.16
_TOE_HEIGHT = 0.5


class Part(NamedTuple):
    """
    A part of the Nao.

    :ivar body: name of our body; `file` of the mesh, `{}` for the number of the type.
    :ivar place: middle of the part in the body, m; `scale` of the mesh; `mesh_pose` in the part.
    """

    body: str
    file: str
    place: tuple[float, float, float]
    scale: float
    mesh_pose: Pose = AT_ORIGIN


def _parts() -> Iterator[Part]:
    yield Part('base_link', 'naobody{}', (0.0, 0.0, 0.0), 0.1, _Y_UP)
    yield Part('head', 'naohead', (0.0, 0.0, 0.0), 0.1, _Y_UP)
    for side, left in (('l', 1.0), ('r', -1.0)):
        yield Part(f'{side}upperarm', side + 'upperarm{}', (0.02, left * 0.01, 0.0), 0.07)
        yield Part(f'{side}lowerarm', side + 'lowerarm', (0.05, 0.0, 0.0), 0.05)
        yield Part(f'{side}thigh', side + 'thigh', (0.01, 0.0, -0.04), 0.07)
        yield Part(f'{side}shank', side + 'shank{}', (0.01, 0.0, -0.045), 0.08)
        yield Part(f'{side}foot', side + 'foot', (0.03, 0.0, -0.04), 0.08)


PARTS = tuple(_parts())


def nao_nodes(robot: ActuatedRobot, number: int, team: str, player: str) -> list[SceneNode] | None:
    """
    Return one transform with one mesh for each part of a Nao, its torso first.

    :param number: type of the Nao, 0 to 4.
    :param team: material of its team; `player` that of its number.
    :returns: None for a robot without these parts.
    """
    if number not in range(len(NAO_TYPES)) or any(p.body not in robot.bodies for p in PARTS):
        return None
    kind = NAO_TYPES[number]
    nodes = []
    for part in PARTS:
        x, y, z = part.place
        scale = (part.scale, part.scale, part.scale)
        if part.body.endswith('thigh'):
            z -= kind.leg
        elif part.body.endswith('foot') and kind.toe:
            x -= kind.toe / 2
            scale = (part.scale, part.scale * (1 - kind.toe / _FOOT), part.scale)
            nodes.append(_toe(robot.bodies[f'{part.body[0]}toe'], part, kind.toe, team))
        own = (player,) if part is PARTS[0] else ()
        file = f'models/{part.file.format(number)}.obj'
        mesh = mesh_file(file, scale, *own, team, f'matType{number}', 'naowhite')
        if not part.mesh_pose.is_identity:
            mesh = fixed(part.mesh_pose, mesh)
        pose = Pose((x, y, z), _AXES)
        nodes.append(moving(robot.bodies[part.body].id, mesh, local=pose))
    return sorted(nodes, key=lambda node: node.body != robot.base.id)


def _toe(body: Body, foot: Part, length: float, team: str) -> SceneNode:
    scale = (foot.scale, foot.scale * length / _FOOT, foot.scale * _TOE_HEIGHT)
    mesh = mesh_file(f'models/{foot.file}.obj', scale, team, 'naowhite')
    return moving(body.id, mesh, local=Pose((length / 2, 0.0, 0.005), _AXES))


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


__all__ = ['BOX', 'CYLINDER', 'GREY', 'PARTS', 'SPHERE', 'TEAM', 'GeomShapes', 'Part', 'nao_nodes']
