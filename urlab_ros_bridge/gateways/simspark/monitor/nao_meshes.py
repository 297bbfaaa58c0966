# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The meshes of the Nao that viewers have, one for each part: a fifth of the text of our own shapes.

SimSpark's parts have x to the right, y forward and z up, in the middle of their box; torso and
head are drawn with y up.
"""

from __future__ import annotations

from collections.abc import Iterator
import math
from typing import NamedTuple

from urlab_ros_bridge.client.model import Body
from urlab_ros_bridge.gateways.simspark.monitor.nodes import fixed
from urlab_ros_bridge.gateways.simspark.monitor.nodes import mesh_file
from urlab_ros_bridge.gateways.simspark.monitor.nodes import moving
from urlab_ros_bridge.gateways.simspark.monitor.nodes import SceneNode
from urlab_ros_bridge.gateways.simulation.robot import ServedRobot
from urlab_ros_bridge.geometry import AT_ORIGIN
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.models.nao_types import NAO_TYPES

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


def nao_nodes(robot: ServedRobot, number: int, team: str, player: str) -> list[SceneNode] | None:
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


__all__ = ['PARTS', 'Part', 'nao_nodes']
