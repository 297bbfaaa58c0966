# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bodies that clients know by name: robots, free, jointed, mocap and static bodies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace

from urlab_ros_bridge.model.elements import Body
from urlab_ros_bridge.model.elements import FREE
from urlab_ros_bridge.model.elements import Joint
from urlab_ros_bridge.model.robot import RobotModel
from urlab_ros_bridge.model.world import WorldModel

ARTICULATION, ENTITY, MOCAP, STATIC = 'articulation', 'entity', 'mocap', 'static'


@dataclass(frozen=True, slots=True)
class NamedBody:
    """
    A robot, by the pose of its first body, or a body of the scenery.

    :ivar kind: articulation, entity (it has joints), mocap (clients move it) or static.
    :ivar body: id of the body whose pose it has.
    :ivar free: its free joint, if that is the body's first joint.
    :ivar mocap: its row in mocap_pos and mocap_quat, -1 without one.
    """

    name: str
    kind: str
    body: int
    free: Joint | None
    mocap: int

    @property
    def movable(self) -> bool:
        """Whether a pose can be written."""
        return self.free is not None or self.mocap >= 0


def moving_scenery(world: WorldModel) -> dict[str, NamedBody]:
    """Return the bodies with joints or a mocap pose that belong to no robot, by name."""
    scenery = (body for body in world.bodies[1:] if not body.prefix)
    return {body.name: _named(world, body) for body in scenery if body.joints or body.mocap}


def named_bodies(world: WorldModel, robots: Iterable[RobotModel]) -> dict[str, NamedBody]:
    """
    Return all robots, moving bodies and static bodies by name.

    A static one is a body without joints whose parent is the world.  When a body has the name of
    a robot, the name means the robot.
    """
    found = {}
    for robot in robots:
        if robot.first_body is not None:
            named = _named(world, robot.first_body)
            found[robot.prefix] = replace(named, name=robot.prefix, kind=ARTICULATION)
    for body in world.bodies[1:]:
        moves = body.joints or body.mocap
        if not body.prefix and (moves or (body.name and not body.parent)):
            found.setdefault(body.name, _named(world, body))
    return found


def _named(world: WorldModel, body: Body) -> NamedBody:
    kind = MOCAP if body.mocap else ENTITY if body.joints else STATIC
    first = world.joints[body.joints[0]] if body.joints else None
    free = first if first is not None and first.kind == FREE else None
    return NamedBody(body.name, kind, body.id, free, body.mocap_id)
