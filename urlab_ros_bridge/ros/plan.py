# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What there is to publish, found once for each connection.

A plan is plain data: equal plans need the same publishers, so a server that comes back
with the same world keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from urlab_ros_bridge.client.handshake import Articulation
from urlab_ros_bridge.client.handshake import Handshake
from urlab_ros_bridge.client.handshake import Lidar
from urlab_ros_bridge.ros.convert import describe_sensors
from urlab_ros_bridge.ros.convert import FrameTree
from urlab_ros_bridge.ros.convert import group_sensors
from urlab_ros_bridge.ros.convert import SensorGroups
from urlab_ros_bridge.ros.convert import static_transforms
from urlab_ros_bridge.ros.convert.frame_tree import enumeration
from urlab_ros_bridge.ros.description.look import RobotLook
from urlab_ros_bridge.ros.description.look import SceneLook
from urlab_ros_bridge.ros.names import ros_names
from urlab_ros_bridge.ros.settings import Settings
from urlab_ros_bridge.wire.errors import UnknownName

DEFAULT_BASE = 'base_link'
AUTO = 'auto'


@dataclass(frozen=True)
class FrameNames:
    """Frames of one robot that are not parts of it, and its base."""

    base: str
    footprint: str
    odom: str
    map: str


@dataclass(frozen=True)
class Actuator:
    """An actuator: local name, type as on the wire, local name of its joint or empty."""

    name: str
    kind: str
    joint: str


@dataclass(frozen=True)
class Scanner:
    """A planar scanner and the frame it measures in."""

    lidar: Lidar
    frame: str


@dataclass(frozen=True)
class RobotPlan:
    """
    One robot.

    :ivar namespace: of its topics, empty for none; `tf_namespace` likewise of its transforms.
    :ivar joints: hinge and slide joints in order of id.
    :ivar qpos, qvel: slot of each joint in the robot's own vectors; empty when not known.
    :ivar base_joint: free joint, empty for a robot that is fixed to the world.
    :ivar base_qpos, base_qvel: its first slots, -1 when not known.
    """

    prefix: str
    namespace: str
    tf_namespace: str
    frames: FrameNames
    joints: tuple[str, ...]
    qpos: tuple[int, ...] = ()
    qvel: tuple[int, ...] = ()
    base_joint: str = ''
    base_qpos: int = -1
    base_qvel: int = -1
    tree: FrameTree = field(default_factory=lambda: FrameTree(''))
    sensors: SensorGroups = field(default_factory=SensorGroups)
    scanners: tuple[Scanner, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    has_controller: bool = False
    drives: bool = False
    covariances: Mapping[str, Any] = field(default_factory=dict)
    look: RobotLook = field(default_factory=RobotLook)


@dataclass(frozen=True)
class WorldPlan:
    """All robots, the entities by name, and notes for the user about what is missing."""

    robots: tuple[RobotPlan, ...] = ()
    entities: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    scene: SceneLook = field(default_factory=SceneLook)

    def robot(self, name: str) -> RobotPlan:
        """
        Return a robot by prefix; an empty name stands for the only one.

        :raises UnknownName: when there is none, or when the name is empty and there are several.
        """
        if not name and len(self.robots) == 1:
            return self.robots[0]
        for robot in self.robots:
            if robot.prefix == name:
                return robot
        raise UnknownName('articulation', name, [robot.prefix for robot in self.robots])


def chosen(articulations: Mapping[str, Articulation], wanted: Iterable[str]) -> list[str]:
    """
    Return the prefixes that the parameter `robots` selects.

    :raises UnknownName: for a name that is neither a prefix nor an actor id.
    """
    wanted = tuple(wanted)
    if wanted == (AUTO,):
        return list(articulations)
    actors = {robot.actor_id: prefix for prefix, robot in articulations.items()}
    found = []
    for name in wanted:
        prefix = name if name in articulations else actors.get(name)
        if prefix is None:
            raise UnknownName('robot', name, articulations)
        found.append(prefix)
    return list(dict.fromkeys(found))


def namespaces(prefixes: Iterable[str], settings: Settings) -> dict[str, str]:
    """Return the namespace of each robot's topics, empty for none."""
    names = ros_names(prefixes)
    alone = settings.namespace_robots == 'never' or (
        settings.namespace_robots == 'auto' and len(names) < 2
    )
    return dict.fromkeys(names, '') if alone else names


def frame_names(prefix: str, settings: Settings, base: str) -> FrameNames:
    """Return the frames of a robot, with its prefix where one is asked for."""
    start = settings.frame_prefix.replace('{prefix}', prefix)
    return FrameNames(
        start + (settings.base_frame or base),
        start + settings.footprint_frame,
        start + settings.odom_frame,
        settings.map_frame,
    )


def plan_world(handshake: Handshake, settings: Settings) -> WorldPlan:
    """
    Plan from the compiled model.

    :raises ModelUnavailable: when the model cannot be read here.
    :raises UnknownName: when the parameter `robots` names one that is not there.
    """
    prefixes = chosen(handshake.articulations, settings.robots)
    names = namespaces(prefixes, settings)
    robots = tuple(
        _plan_robot(handshake.model, handshake.articulations[prefix], names[prefix], settings)
        for prefix in prefixes
    )
    entities = tuple(handshake.entities) if settings.publish_entities else ()
    return WorldPlan(robots, entities)


def _plan_robot(model: Any, robot: Articulation, namespace: str, settings: Settings) -> RobotPlan:
    joints = _joints(model, robot.prefix)
    base_body, base_name = _base(model, robot, joints.base_id)
    frames = frame_names(robot.prefix, settings, base_name)
    start = settings.frame_prefix.replace('{prefix}', robot.prefix)
    tree = static_transforms(
        model,
        robot.prefix,
        base_body,
        robot.frames,
        base_frame=settings.base_frame or base_name,
        frame_prefix=start,
        world_frame=settings.map_frame,
        exclude=(settings.footprint_frame, settings.odom_frame, settings.map_frame),
    )
    frames = FrameNames(tree.base, frames.footprint, frames.odom, frames.map)
    sensors = describe_sensors(model, robot.prefix, tree, settings.map_frame, robot.lidars)
    return RobotPlan(
        robot.prefix,
        namespace,
        '' if settings.frame_prefix else namespace,
        frames,
        tuple(joints.names),
        tuple(joints.qpos),
        tuple(joints.qvel),
        joints.base,
        joints.base_qpos,
        joints.base_qvel,
        tree,
        group_sensors(sensors),
        tuple(
            Scanner(lidar, _site_frame(model, tree, robot.prefix, lidar.site))
            for lidar in robot.lidars.values()
        ),
        _actuators(model, robot),
        bool(robot.controller),
        robot.twist_controller is not None,
        robot.covariances,
    )


@dataclass
class _Joints:
    """Joints of one robot with their slots in its own vectors."""

    names: list[str] = field(default_factory=list)
    qpos: list[int] = field(default_factory=list)
    qvel: list[int] = field(default_factory=list)
    base: str = ''
    base_id: int = -1
    base_qpos: int = -1
    base_qvel: int = -1


def _joints(model: Any, prefix: str) -> _Joints:
    kinds = enumeration(model, 'mjtJoint')
    widths = {int(kinds.mjJNT_FREE): (7, 6), int(kinds.mjJNT_BALL): (4, 3)}
    found, start, qpos, qvel = _Joints(), f'{prefix}_', 0, 0
    root = _root(model, start)
    for index in range(model.njnt):
        name = model.joint(index).name
        if not name.startswith(start):
            continue
        kind = int(model.jnt_type[index])
        carries = model.body_rootid[model.jnt_bodyid[index]] == root and not found.base
        if kind == int(kinds.mjJNT_FREE) and carries:
            found.base, found.base_id = name.removeprefix(start), index
            found.base_qpos, found.base_qvel = qpos, qvel
        elif kind not in widths:
            found.names.append(name.removeprefix(start))
            found.qpos.append(qpos)
            found.qvel.append(qvel)
        width = widths.get(kind, (1, 1))
        qpos, qvel = qpos + width[0], qvel + width[1]
    return found


def _root(model: Any, start: str) -> int:
    """Return the body that stands in the world and carries most of the robot's joints."""
    counts: dict[int, int] = {}
    for body in range(1, model.nbody):
        if model.body(body).name.startswith(start):
            root = int(model.body_rootid[body])
            # A free joint alone does not make a robot: the things that it handles have one too.
            few = model.body_dofnum[body] == 6 and model.body_jntnum[body] == 1
            counts[root] = counts.get(root, 0) + (0 if few else int(model.body_jntnum[body]))
    return max(counts, key=counts.__getitem__, default=0)


def _base(model: Any, robot: Articulation, base_joint: int) -> tuple[str, str]:
    """Return the local name of the base body, and its frame."""
    start = f'{robot.prefix}_'
    told = robot.frames.get('base', '')
    if base_joint >= 0:
        body = model.body(int(model.jnt_bodyid[base_joint])).name.removeprefix(start)
    elif told:
        body = told
    else:
        root = _root(model, start)
        own = [index for index in range(1, model.nbody) if model.body_rootid[index] == root]
        named = [model.body(index).name for index in own]
        body = next((name for name in named if name.startswith(start)), start).removeprefix(start)
    if told:
        return body, robot.frames.get(body, told if told == body else DEFAULT_BASE)
    return body, DEFAULT_BASE


def _site_frame(model: Any, tree: FrameTree, prefix: str, site: str) -> str:
    for index, frame in tree.sites.items():
        if model.site(index).name in (f'{prefix}_{site}', site):
            return frame
    return tree.base


def _actuators(model: Any, robot: Articulation) -> tuple[Actuator, ...]:
    start, joint_transmission = f'{robot.prefix}_', int(enumeration(model, 'mjtTrn').mjTRN_JOINT)
    found = []
    for index in range(model.nu):
        name = model.actuator(index).name
        if not name.startswith(start):
            continue
        local, joint = name.removeprefix(start), ''
        if int(model.actuator_trntype[index]) == joint_transmission:
            joint = model.joint(int(model.actuator_trnid[index][0])).name.removeprefix(start)
        found.append(Actuator(local, robot.actuator_types.get(local, ''), joint))
    return tuple(found)
