# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The scene graph of a world: the layout of its top level.

Tools rely on the indices of SimSpark's field: 0 and 1 are lights, 2 the field, 3 the sky, 35 the
ball, and from 36 on the agents.  Between them is the scenery.
"""

from __future__ import annotations

from collections.abc import Iterable

from urlab_ros_bridge.gateways.simspark.game.players import Player
from urlab_ros_bridge.gateways.simspark.game.players import Roster
from urlab_ros_bridge.gateways.simspark.game.players import Side
from urlab_ros_bridge.gateways.simspark.monitor.geoms import CYLINDER
from urlab_ros_bridge.gateways.simspark.monitor.geoms import GeomShapes
from urlab_ros_bridge.gateways.simspark.monitor.geoms import nao_nodes
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import fixed
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import light
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import mesh_file
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import moving
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import primitive
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import SceneNode
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.geometry import AT_ORIGIN
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.model import Geom

SCENERY_PLACE = 10
BALL_PLACE = 35

BALL_MESH = 'models/soccerball.obj'
BALL_MATERIAL = 'soccerball_rcs-soccerball.png'
FIELD_MESH = 'models/naosoccerfield.obj'
SKY_MESH = 'models/skybox.obj'
TEAM_MATERIALS = {Side.LEFT: 'matLeft', Side.RIGHT: 'matRight'}
# RoboViz finds a player by the materials of this mesh, which is never shown.
MARK = 'StdUnitBox'
MARK_SIZE = 0.01

# A disc below the selected player.
_DISC = (0.25, 0.25, 0.01)
_DISC_COLOR = (1.0, 0.9, 0.1, 0.6)
# Geoms below this height are paint on the floor; viewers draw their own lines (m).
_PAINT = 0.02

_WHITE = (1.0, 1.0, 1.0, 1.0)
_DIM = (0.4, 0.4, 0.4, 1.0)
_NONE = (0.0, 0.0, 0.0, 1.0)


def selection_key(player: Player) -> str:
    """Return the key of the disc under a selected player."""
    return f'{player.side.value} {player.number}'


def scene_nodes(
    scene: SimSparkScene, roster: Roster, *, nao_meshes: bool = True
) -> list[SceneNode]:
    """
    Return the top level of the scene graph; robots in reserve are hidden.

    :param nao_meshes: whether the Nao is shown by the meshes that viewers have of it.
    """
    return _Layout(scene, nao_meshes).nodes(list(roster), roster.reserve)


class _Layout:
    def __init__(self, scene: SimSparkScene, nao_meshes: bool) -> None:
        self._scene = scene
        self._nao_meshes = nao_meshes
        self._world = scene.world
        self._shapes = GeomShapes(scene.model, scene.world.prefixes)
        self._geoms: dict[int, list[Geom]] = {}
        for geom in self._world.geoms:
            self._geoms.setdefault(geom.body, []).append(geom)

    def nodes(self, players: list[Player], reserve: Iterable[str]) -> list[SceneNode]:
        players = [player for player in players if player.robot in self._scene.robots]
        playing = {player.robot for player in players}
        top = [light(_WHITE, _NONE, _WHITE), light(_DIM, _DIM, _NONE)]
        top.append(fixed(AT_ORIGIN, mesh_file(FIELD_MESH, 1.0, 'matField')))
        top.append(fixed(AT_ORIGIN, mesh_file(SKY_MESH, 1.0, 'matSky')))
        self._fill(top, SCENERY_PLACE)
        top += self._scenery({*playing, *reserve}, BALL_PLACE - SCENERY_PLACE)
        self._fill(top, BALL_PLACE)
        top.append(self._ball())
        top += [self._agent(player) for player in players]
        return top

    @staticmethod
    def _fill(top: list[SceneNode], count: int) -> None:
        while len(top) < count:
            top.append(fixed(AT_ORIGIN))

    def _ball(self) -> SceneNode:
        ball = self._scene.ball
        if ball is None:
            return fixed(AT_ORIGIN)
        return moving(ball.body, mesh_file(BALL_MESH, ball.radius, BALL_MATERIAL))

    def _agent(self, player: Player) -> SceneNode:
        """Return a fixed transform that contains one per body, in the world frame."""
        robot = self._scene.robots[player.robot]
        team, number = TEAM_MATERIALS[player.side], f'matNum{player.number}'
        disc = primitive(
            CYLINDER, _DISC, 'matYellow', _DISC_COLOR, visible=False, marks=selection_key(player)
        )
        kind = self._scene.nao_type(player.robot)
        if self._nao_meshes and kind is not None:
            parts = nao_nodes(robot, kind, team, number)
            if parts is not None:
                parts[0].children.append(disc)
                return fixed(AT_ORIGIN, *parts)
        bodies = [moving(body.id) for body in robot.bodies.values()]
        base = next((node for node in bodies if node.body == robot.base.id), None)
        if base is None:  # a robot without bodies
            base = fixed(AT_ORIGIN)
        else:
            bodies.remove(base)
        for node in (base, *bodies):
            if node.body >= 0:
                node.children = self._shapes.nodes(self._geoms.get(node.body, []), team)
        base.children += [
            # A primitive has one material only, and viewers need number and team together.
            mesh_file(MARK, MARK_SIZE, number, team, 'naowhite', visible=False),
            disc,
        ]
        # The base goes first: tools regard the first body as the torso.
        return fixed(AT_ORIGIN, base, *bodies)

    def _scenery(self, playing: set[str], places: int) -> list[SceneNode]:
        """Return everything but the ball and the players: first all static parts."""
        ball = None if self._scene.ball is None else self._scene.ball.body
        still: list[SceneNode] = []
        roots: dict[int, list[SceneNode]] = {}
        for body in self._world.bodies:
            if body.prefix in playing or body.root == ball:
                continue
            geoms = self._geoms.get(body.id, [])
            if self._world.is_static(body.id):
                pose = self._world.reference_pose(body.id)
                nodes = self._shapes.nodes([g for g in geoms if not _is_paint(g, pose)])
                still += [fixed(pose, *nodes)] if nodes else []
            else:
                nodes = self._shapes.nodes(geoms)
                if nodes:
                    roots.setdefault(body.root, []).append(moving(body.id, *nodes))
        groups = [fixed(AT_ORIGIN, *still)]
        groups += [fixed(AT_ORIGIN, *nodes) for nodes in roots.values()]
        if len(groups) > places:
            crowd = [node for group in groups[places - 1 :] for node in group.children]
            groups[places - 1 :] = [fixed(AT_ORIGIN, *crowd)]
        return groups


def _is_paint(geom: Geom, body: Pose) -> bool:
    """Return whether a geom lies flat on the floor."""
    if geom.kind not in ('box', 'cylinder'):
        return False
    pose = body.then(geom.pose)
    height = geom.size[2] if geom.kind == 'box' else geom.size[1]
    upright = max(map(abs, pose.orientation[:2])) < 1e-6
    return upright and height < _PAINT and abs(pose.position[2]) + height < _PAINT


__all__ = [
    'BALL_PLACE', 'SCENERY_PLACE', 'TEAM_MATERIALS', 'scene_nodes',
    'selection_key',
]  # fmt: skip
