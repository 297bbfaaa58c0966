# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The plan of a world: its robots, sensors, cameras and entities under their ROS names and frames.

It is made at each connection, from the compiled model (`from_model`) or, where that cannot be
read, from the topics of the wire (`from_topics`).  A plan is plain data: equal plans need the same
publishers, so a server that comes back with the same world keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from typing import Any
from typing import Generic
from typing import TypeVar

from urlab_ros_bridge.client.replies.handshake import Articulation
from urlab_ros_bridge.client.replies.handshake import JointLimit
from urlab_ros_bridge.client.replies.handshake import Lidar
from urlab_ros_bridge.client.replies.handshake import PointLidar
from urlab_ros_bridge.client.replies.handshake import SensorTopic
from urlab_ros_bridge.ros.plan.description.appearance import RobotAppearance
from urlab_ros_bridge.ros.plan.description.appearance import SceneLook
from urlab_ros_bridge.ros.plan.frame_tree import FrameTree
from urlab_ros_bridge.ros.plan.frame_tree import StaticTransform
from urlab_ros_bridge.ros.plan.names import ros_names
from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.plan.sensors import SensorGroup
from urlab_ros_bridge.wire.errors import UnknownName

LidarT = TypeVar('LidarT', Lidar, PointLidar)

DEFAULT_BASE = 'base_link'
AUTO = 'auto'
# What an actuator's setpoint is; all other types take a force or torque.
_FIELD_OF_TYPE = {
    'position': 'position',
    'velocity': 'velocity',
    'intvelocity': 'velocity',
    'damper': 'velocity',
}


@dataclass(frozen=True)
class FrameNames:
    """
    Frames of one robot that are not parts of it, and its base.

    :ivar footprint: empty for a robot whose model has a body of that name.
    """

    base: str
    footprint: str
    odom: str
    map: str


@dataclass(frozen=True)
class PlannedActuator:
    """
    An actuator: local name, type as on the wire, local name of its joint or empty.

    :ivar stiffness: of a position servo on a joint: N or N m per m or rad; 0 for others, or when
        it is not known.
    """

    name: str
    kind: str
    joint: str
    stiffness: float = 0.0


def command_field(actuator: PlannedActuator, has_controller: bool) -> str:
    """
    Return which field of JointState an actuator takes: position, velocity or effort.

    A joint controller of the server takes positions, whatever the actuator.

    >>> command_field(PlannedActuator('hip', 'motor', 'hip'), has_controller=False)
    'effort'
    """
    if has_controller and actuator.joint:
        return 'position'
    return _FIELD_OF_TYPE.get(actuator.kind, 'effort')


@dataclass(frozen=True)
class Scanner(Generic[LidarT]):
    """A planar scanner or a 3-D lidar, and the frame it measures in."""

    lidar: LidarT
    frame: str


@dataclass(frozen=True)
class RobotPlan:
    """
    One robot.

    :ivar namespace: of its topics, empty for none; `tf_namespace` likewise of its transforms.
    :ivar joints: hinge and slide joints in order of id.
    :ivar limits: smallest and largest position of each joint (rad or m), infinite where the model
        sets none; empty when not known.
    :ivar qpos, qvel: slot of each joint in the robot's own vectors; empty when not known.
    :ivar base_joint: free joint, empty for a robot that is fixed to the world.
    :ivar base_qpos, base_qvel: its first slots, -1 when not known.
    :ivar drives: whether it takes a twist.
    :ivar drive: kind of its drive, empty for none.
    :ivar wheel_matrix: velocity of each of `joints` (rad/s) for 1 m/s forward, 1 m/s to the left
        and 1 rad/s of yaw, zeros for one that is no wheel; empty for a robot without wheels.
    :ivar axle: x (m) of the axle whose wheels do not slip sideways; None where there is none.
    :ivar holds_twist: whether the server only keeps that twist, for a policy: nothing drives.
    """

    prefix: str
    namespace: str
    tf_namespace: str
    frames: FrameNames
    joints: tuple[str, ...]
    limits: tuple[tuple[float, float], ...] = ()
    qpos: tuple[int, ...] = ()
    qvel: tuple[int, ...] = ()
    base_joint: str = ''
    base_qpos: int = -1
    base_qvel: int = -1
    tree: FrameTree = field(default_factory=lambda: FrameTree(''))
    sensors: list[SensorGroup] = field(default_factory=list)
    scanners: tuple[Scanner[Lidar], ...] = ()
    point_scanners: tuple[Scanner[PointLidar], ...] = ()
    actuators: tuple[PlannedActuator, ...] = ()
    has_controller: bool = False
    drives: bool = False
    drive: str = ''
    wheel_matrix: tuple[tuple[float, float, float], ...] = ()
    axle: float | None = None
    holds_twist: bool = False
    covariances: Mapping[str, Any] = field(default_factory=dict)
    sensor_topics: Mapping[str, SensorTopic] = field(default_factory=dict)
    joint_limits: Mapping[str, JointLimit] = field(default_factory=dict)
    appearance: RobotAppearance = field(default_factory=RobotAppearance)

    @property
    def sensor_names(self) -> tuple[str, ...]:
        """Local names of all sensors, each once."""
        names = [sensor.name for group in self.sensors for sensor in group.sensors.values()]
        names += [scanner.lidar.name for scanner in self.scanners]
        return tuple(dict.fromkeys(names))

    def command_interfaces(self) -> dict[str, list[str]]:
        """Return the fields of JointState that the actuators of each joint take."""
        found: dict[str, list[str]] = {joint: [] for joint in self.joints}
        for actuator in self.actuators:
            taken = command_field(actuator, self.has_controller)
            if taken not in found.get(actuator.joint, (taken,)):
                found[actuator.joint].append(taken)
        return found


@dataclass(frozen=True)
class WorldPlan:
    """
    All robots, the names of entities, and notes for the user about missing parts.

    :ivar scene_cameras: where the fixed cameras of the scene are.
    """

    robots: tuple[RobotPlan, ...] = ()
    entities: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    scene_cameras: tuple[StaticTransform, ...] = ()
    scene: SceneLook = field(default_factory=SceneLook)

    def robot(self, name: str) -> RobotPlan:
        """
        Return a robot by prefix; an empty name means the only one.

        :raises UnknownName: when there is none, or when the name is empty and there are several.
        """
        if not name and len(self.robots) == 1:
            return self.robots[0]
        for robot in self.robots:
            if robot.prefix == name:
                return robot
        raise UnknownName('articulation', name, [robot.prefix for robot in self.robots])


def selected_robots(articulations: Mapping[str, Articulation], wanted: Iterable[str]) -> list[str]:
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


def namespaces(prefixes: Iterable[str], names: NamesParameters) -> dict[str, str]:
    """Return the namespace of each robot's topics, empty for none."""
    found = ros_names(prefixes)
    alone = names.namespace_robots == 'never' or (
        names.namespace_robots == 'auto' and len(found) < 2
    )
    return dict.fromkeys(found, '') if alone else found


def frame_names(prefix: str, names: NamesParameters, base: str) -> FrameNames:
    """Return the frames of a robot, with its prefix where one is asked for."""
    start = names.frame_prefix.replace('{prefix}', prefix)
    return FrameNames(
        start + (names.base_frame or base),
        start + names.footprint_frame,
        start + names.odom_frame,
        names.map_frame,
    )


def keep_namespaces(plan: WorldPlan, before: WorldPlan) -> WorldPlan:
    """
    Return the plan with robots that were there before under the names that they had.

    A robot that was alone has no namespace, and keeps none when another one is spawned: nodes
    subscribed to its topics are unaffected.
    """
    known = {robot.prefix: robot for robot in before.robots}
    robots = [
        replace(
            robot,
            namespace=known[robot.prefix].namespace,
            tf_namespace=known[robot.prefix].tf_namespace,
        )
        if robot.prefix in known
        else robot
        for robot in plan.robots
    ]
    return replace(plan, robots=tuple(robots))
