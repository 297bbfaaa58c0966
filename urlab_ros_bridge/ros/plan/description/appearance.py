# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Appearance of robots and scene as plain data: equal values need no new messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.model import Body
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.ros.plan.description.geometry import Geometry
from urlab_ros_bridge.ros.plan.description.geometry import Shape
from urlab_ros_bridge.ros.plan.description.geometry import ShapeKind
from urlab_ros_bridge.ros.plan.description.meshes import MeshFiles
from urlab_ros_bridge.ros.plan.description.skeleton import Skeleton
from urlab_ros_bridge.ros.plan.frame_tree import StaticTransform


@dataclass(frozen=True)
class RobotAppearance:
    """
    A robot's links, and its URDF ('' = not published).

    :ivar static: fixed transforms of links that its frame tree does not have.
    """

    skeleton: Skeleton = field(default_factory=Skeleton)
    urdf: str = ''
    static: tuple[StaticTransform, ...] = ()


@dataclass(frozen=True, slots=True)
class AppearancePart:
    """A shape, its pose in the world or in its entity, and where its mesh is."""

    name: str
    shape: Shape
    pose: Pose
    uri: str = ''


@dataclass(frozen=True)
class SceneLook:
    """
    What is not a robot.

    :ivar frame: of all poses; its origin is that of the world.
    :ivar static: static geoms, `entities`: movable ones, by name, posed in the entity.
    """

    frame: str = 'map'
    static: tuple[AppearancePart, ...] = ()
    entities: dict[str, tuple[AppearancePart, ...]] = field(default_factory=dict)


def scene_look(
    geometry: Geometry,
    frame: str,
    robots: Iterable[Iterable[int]],
    entities: Iterable[str],
    meshes: MeshFiles,
) -> SceneLook:
    """
    Collect what belongs to no robot.

    :param robots: ids of the bodies of each.
    :param entities: names of their bodies.
    :raises MeshesUnwritable: when the folder for meshes cannot be written to.
    """
    world = geometry.world
    fixed, moving = scenery(world, robots, entities)
    static = [
        part
        for body in fixed
        for part in _parts(geometry, meshes, body, world.reference_pose(body.id))
    ]
    found = {
        name: tuple(
            part
            for body in bodies
            for part in _parts(geometry, meshes, body, world.reference_pose(body.id, bodies[0].id))
        )
        for name, bodies in moving.items()
    }
    return SceneLook(frame, tuple(static), {name: parts for name, parts in found.items() if parts})


def scenery(
    world: WorldModel, robots: Iterable[Iterable[int]], entities: Iterable[str]
) -> tuple[list[Body], dict[str, list[Body]]]:
    """
    Return the bodies that belong to no robot: static ones, and each entity with what it carries.

    :param robots: ids of the bodies of each.
    :param entities: names of their bodies.
    """
    owned = {body for bodies in robots for body in bodies}
    ids = {body.compiled: body.id for body in world.bodies}
    roots = {name: ids[name] for name in entities if name in ids}
    static = [
        body for body in world.bodies if body.id not in owned and not body.weld and not body.mocap
    ]
    moving = {}
    for name, root in roots.items():
        # What is fixed to an entity goes along with it; an entity below another has its own pose.
        rigid = world.bodies[root].weld
        moving[name] = [world.bodies[root]] + [
            body
            for body in world.bodies
            if body.weld == rigid and rigid and body.id not in roots.values()
        ]
    return static, moving


def _parts(geometry: Geometry, meshes: MeshFiles, body: Body, pose: Pose) -> list[AppearancePart]:
    return [
        AppearancePart(body.compiled, shape, pose.then(shape.pose), _uri(meshes, shape))
        for shape in geometry.shapes(geometry.seen(body.id))
    ]


def _uri(meshes: MeshFiles, shape: Shape) -> str:
    return meshes.uri(shape.mesh) if shape.kind is ShapeKind.MESH else ''
