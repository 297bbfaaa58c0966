# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The serial chains of a robot that are arms: where each begins, bends, and ends."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
import itertools
import math

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.model import Body
from urlab_ros_bridge.model import FIRST_HIDDEN_GROUP
from urlab_ros_bridge.model import Geom
from urlab_ros_bridge.model import Joint
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import Site

# A chain of fewer joints is a wheel, a door or a finger.
MIN_JOINTS = 2
# Anchors of joints that are closer than this are one node (m).
SAME_PLACE = 1e-3
# Of an element without any geom (m).
DEFAULT_RADIUS = 0.02
_GRIPPER_WORDS = ('finger', 'gripper')
# Words in the names of sites at the end of an arm, the best one first.
_TIP_WORDS = ('tcp', 'tip', 'pinch', 'grasp', 'grip', 'foot', 'end', 'ee', 'attachment')


@dataclass(frozen=True, slots=True)
class CenterlinePoint:
    """A point of a centerline, fixed to a body: its place there in m."""

    body: int
    place: Vector


@dataclass(frozen=True, slots=True)
class ArmChain:
    """
    One arm of a robot.

    :ivar name: within the robot, such as ``left``.
    :ivar joints: from the base to the tip.
    :ivar nodes: of the centerline, from the base to the tip; at least two.
    :ivar radii: of the elements between the nodes, in m.
    :ivar reach: length of the centerline in the reference configuration, in m.
    :ivar parent: id of the body that carries it.
    :ivar bodies: ids of all bodies that it moves, grippers included.
    :ivar tip_body: id of the last body, `tip_site` a site of it at the tip, None without one.
    """

    prefix: str
    name: str
    joints: tuple[Joint, ...]
    nodes: tuple[CenterlinePoint, ...]
    radii: tuple[float, ...]
    reach: float
    parent: int
    bodies: frozenset[int]
    tip_body: int
    tip_site: Site | None

    @property
    def full_name(self) -> str:
        """Return the name within the world."""
        return f'{self.prefix}/{self.name}' if self.prefix else self.name


def find_arms(robot: RobotModel) -> list[ArmChain]:
    """
    Find the arms of a robot: tentacles, arms and legs; wheels and fingers are none.

    A chain ends at a branching when all that follows is shorter than itself, as fingers are;
    else each branch is a chain of its own, as the arms of a torso are.
    """
    paths = list(_Paths(robot).arms())
    names = _names([[joint.name for joint in joints] for _, joints in paths])
    return [
        _arm(robot, name, bodies, joints)
        for name, (bodies, joints) in zip(names, paths, strict=True)
    ]


class _Paths:
    """The tree of the bodies of a robot that have joints."""

    def __init__(self, robot: RobotModel) -> None:
        self._world = robot.world
        self._grips = {
            actuator.joint_id
            for actuator in robot.actuators.values()
            if any(word in actuator.name.lower() for word in _GRIPPER_WORDS)
        }
        self._children: dict[int, list[Body]] = {}
        for body in robot.world.subtree(robot.base.id)[1:]:
            if body.joints:
                above = next(
                    (b for b in robot.world.lineage(body.parent) if b.joints or b == robot.base),
                    robot.base,
                )
                self._children.setdefault(above.id, []).append(body)
        self._base = robot.base.id

    def arms(self) -> Iterator[tuple[list[Body], list[Joint]]]:
        """Yield bodies and joints of each arm."""
        for first in self._children.get(self._base, []):
            yield from self._from(first)

    def _from(self, first: Body) -> Iterator[tuple[list[Body], list[Joint]]]:
        bodies = [first]
        branches: list[Body] = []
        while below := self._children.get(bodies[-1].id, []):
            if len(below) > 1 or self._is_grip(below[0]):
                branches = below
                break
            bodies.append(below[0])
        joints = [joint for body in bodies for joint in self._world.joints_of(body.id)]
        if len(joints) >= MIN_JOINTS:
            yield bodies, joints
        if any(self._longest(branch) >= len(joints) for branch in branches):
            for branch in branches:
                yield from self._from(branch)

    def _is_grip(self, body: Body) -> bool:
        return any(joint in self._grips for joint in body.joints)

    def _longest(self, body: Body) -> int:
        """Return how many joints the longest chain from a body on has."""
        below = self._children.get(body.id, [])
        return len(body.joints) + max(map(self._longest, below), default=0)


def _arm(robot: RobotModel, name: str, bodies: list[Body], joints: list[Joint]) -> ArmChain:
    world = robot.world
    moved = [body.id for body in world.subtree(bodies[0].id)]
    tip_body, tip_site, tip_place = _tip(robot, bodies[-1], joints[-1])
    nodes: list[CenterlinePoint] = []
    carriers: list[set[int]] = []  # of each element: the bodies that lie along it
    places: list[Vector] = []
    for joint in (*joints, None):
        node = (
            CenterlinePoint(tip_body, tip_place)
            if joint is None
            else CenterlinePoint(joint.body, joint.anchor)
        )
        place = world.reference_pose(node.body).then(Pose(node.place)).position
        if nodes and math.dist(place, places[-1]) < SAME_PLACE:
            # Joints of one place are one node, which the last of them moves.
            nodes[-1] = node if joint is not None else nodes[-1]
            carriers[-1].add(node.body)
            continue
        nodes.append(node)
        places.append(place)
        carriers.append({node.body})
    if len(nodes) < 2:  # all joints in one place, and nothing beyond them
        x, y, z = nodes[0].place
        nodes.append(CenterlinePoint(nodes[0].body, (x, y, z + DEFAULT_RADIUS)))
        places.append(world.reference_pose(nodes[1].body).then(Pose(nodes[1].place)).position)
        carriers.append(set())
    geoms: dict[int, list[Geom]] = {}
    for geom in world.geoms:
        geoms.setdefault(world.bodies[geom.body].weld, []).append(geom)
    radii = tuple(
        _radius([geom for body in sorted(element) for geom in geoms.get(body, [])])
        for element in carriers[: len(nodes) - 1]
    )
    return ArmChain(
        robot.prefix,
        name,
        tuple(joints),
        tuple(nodes),
        radii,
        sum(math.dist(*ends) for ends in itertools.pairwise(places)),
        bodies[0].parent,
        frozenset(moved),
        tip_body,
        tip_site,
    )


def _tip(robot: RobotModel, last: Body, joint: Joint) -> tuple[int, Site | None, Vector]:
    """Return the body, the site and the place of the tip: a site, or the farthest geom."""
    world = robot.world
    rigid = {body.id for body in world.subtree(last.id) if body.weld == last.id}
    sites = [site for site in world.sites if site.body in rigid]
    for word in _TIP_WORDS:
        for site in sites:
            if word in site.name.lower():
                return site.body, site, site.pose.position
    farthest, distance = joint.anchor, 0.0
    for geom in world.geoms:
        if geom.body == last.id:
            for place in _ends(geom):
                if math.dist(place, joint.anchor) > distance:
                    farthest, distance = place, math.dist(place, joint.anchor)
    return last.id, None, farthest


def _ends(geom: Geom) -> list[Vector]:
    """Return the two ends of a geom along its longest axis, in its body."""
    if geom.kind in ('capsule', 'cylinder'):
        half, axis = geom.size[1], 2
    elif geom.kind in ('sphere', 'plane', 'hfield'):
        return [geom.pose.position]
    else:
        half = max(geom.size)
        axis = geom.size.index(half)
    found = []
    for sign in (half, -half):
        end = [0.0, 0.0, 0.0]
        end[axis] = sign
        found.append(geom.pose.then(Pose((end[0], end[1], end[2]))).position)
    return found


def _radius(geoms: Iterable[Geom]) -> float:
    """Return the radius of what the largest visible geom is, across its longest axis."""
    largest, radius = 0.0, DEFAULT_RADIUS
    for geom in geoms:
        if geom.group >= FIRST_HIDDEN_GROUP or geom.rgba[3] <= 0.0:
            continue
        if geom.kind in ('capsule', 'cylinder'):
            across, size = geom.size[0], geom.size[0] ** 2 * (geom.size[1] + geom.size[0])
        elif geom.kind == 'sphere':
            across, size = geom.size[0], geom.size[0] ** 3
        elif geom.kind in ('box', 'ellipsoid', 'mesh', 'sdf'):
            small, middle, _ = sorted(geom.size)
            across, size = (small + middle) / 2, math.prod(geom.size)
        else:
            continue
        if size > largest and across > 0.0:
            largest, radius = size, across
    return radius


def _names(joints: list[list[str]]) -> list[str]:
    """
    Name arms by what the names of their joints have in common.

    >>> _names([['left_pan', 'left_lift'], ['right_pan', 'right_lift'], ['a', 'b']])
    ['left', 'right', 'arm_2']
    """
    names: list[str] = []
    for index, mine in enumerate(joints):
        name = _common_beginning(mine).rstrip('_-. 0123456789')
        names.append(name if name and name not in names else f'arm_{index}')
    return names


def _common_beginning(names: list[str]) -> str:
    same = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return ''.join(letters[0] for letters in same)


__all__ = ['ArmChain', 'CenterlinePoint', 'find_arms']
