# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What robots and scene look like, as plain data: equal looks need no new messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from urlab_ros_bridge.ros.convert import FrameTree
from urlab_ros_bridge.ros.description.geometry import Geometry
from urlab_ros_bridge.ros.description.geometry import Kind
from urlab_ros_bridge.ros.description.geometry import Shape
from urlab_ros_bridge.ros.description.links import Skeleton
from urlab_ros_bridge.ros.description.meshes import MeshFiles
from urlab_ros_bridge.ros.description.spatial import Pose
from urlab_ros_bridge.ros.description.spatial import pose_of


@dataclass(frozen=True)
class RobotLook:
    """
    A robot's links, and its URDF ('' = not published).

    :ivar static: fixed transforms of links that its frame tree does not have.
    """

    skeleton: Skeleton = field(default_factory=Skeleton)
    urdf: str = ''
    static: tuple[tuple, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A shape, its pose in the world or in its entity, and where its mesh is."""

    name: str
    shape: Shape
    pose: Pose
    uri: str = ''


@dataclass(frozen=True)
class SceneLook:
    """
    What is no robot.

    :ivar frame: of all poses; its origin is that of the world.
    :ivar static: what stands still, `entities`: what moves, by name, posed in the entity.
    """

    frame: str = 'map'
    static: tuple[Part, ...] = ()
    entities: dict[str, tuple[Part, ...]] = field(default_factory=dict)


def scene_look(
    model: Any,
    frame: str,
    robots: Iterable[FrameTree | Iterable[int]],
    entities: Iterable[str],
    meshes: MeshFiles,
) -> SceneLook:
    """
    Collect what belongs to no robot.

    :param robots: ids of the bodies of each.
    :param entities: names of their bodies.
    :raises MeshesUnwritable: when the folder for meshes cannot be written to.
    """
    owned = {body for bodies in robots for body in bodies}
    geometry = Geometry(model)
    ids = {model.body(index).name: index for index in range(model.nbody)}
    moving = {name: ids[name] for name in entities if name in ids}
    static = [
        part
        for body in range(model.nbody)
        if body not in owned and not model.body_weldid[body] and model.body_mocapid[body] < 0
        for part in _parts(model, geometry, meshes, body, _in_world(model, body))
    ]
    # What is fixed to an entity goes along with it; an entity below another has its own pose.
    found = {}
    for name, root in moving.items():
        rigid = int(model.body_weldid[root])
        bodies = [b for b in range(model.nbody) if model.body_weldid[b] == rigid and rigid]
        found[name] = tuple(
            part
            for body in bodies
            if body == root or body not in moving.values()
            for part in _parts(model, geometry, meshes, body, _below(model, root, body))
        )
    return SceneLook(frame, tuple(static), {name: parts for name, parts in found.items() if parts})


def _parts(model: Any, geometry: Geometry, meshes: MeshFiles, body: int, pose: Pose) -> list[Part]:
    name = model.body(body).name
    return [
        Part(name, shape, pose.then(shape.pose), _uri(meshes, shape))
        for shape in geometry.shapes(geometry.seen(body))
    ]


def _uri(meshes: MeshFiles, shape: Shape) -> str:
    return meshes.uri(shape.mesh) if shape.kind is Kind.MESH else ''


def _below(model: Any, root: int, body: int) -> Pose:
    """Return the pose of a body that is fixed to `root`, in its frame."""
    pose = Pose()
    while body != root and body:
        pose = pose_of(model.body_pos[body], model.body_quat[body]).then(pose)
        body = int(model.body_parentid[body])
    return pose


def _in_world(model: Any, body: int) -> Pose:
    return _below(model, 0, body)
