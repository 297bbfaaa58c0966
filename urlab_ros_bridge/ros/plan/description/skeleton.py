# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The links and joints of one robot, as URDF and /tf need them, from the reading of its model.

Each body becomes a link with the name of its frame.  A MuJoCo body may have several joints, ball
joints, and joints away from its origin; a URDF joint has one axis through the origin of its child.
Massless links are inserted where needed.  The root is the base; when joints of the base itself
move it (a planar base of three joints, say), the root is a link of its own, fixed in the world.
"""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.geometry import AT_ORIGIN
from urlab_ros_bridge.geometry import axis_angle
from urlab_ros_bridge.geometry import ORIGIN
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.model import Body
from urlab_ros_bridge.model import Joint
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model.elements import BALL
from urlab_ros_bridge.model.elements import FREE
from urlab_ros_bridge.model.elements import SLIDE
from urlab_ros_bridge.ros.plan.frame_tree import FrameTree
from urlab_ros_bridge.ros.plan.frame_tree import StaticTransform

FIXED = 'fixed'
CONTINUOUS = 'continuous'
REVOLUTE = 'revolute'
PRISMATIC = 'prismatic'
FLOATING = 'floating'

X_AXIS: Vector = (1.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class LinkFrame:
    """A link; `body` is its id in the model, -1 for a link without mass that was put in."""

    name: str
    body: int = -1


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """
    A joint as in URDF.

    :ivar name: local name in the model; a hinge that is part of a ball has `_x`, `_y` or `_z`.
    :ivar kind: one of the constants of this module.
    :ivar pose: of the child in the parent when the joint is at 0.
    :ivar axis: of length one, in the child.
    :ivar joint: id in the model, -1 for what the model does not have.
    :ivar slot: its first position in the robot's own qpos; for a part of a ball, that of the ball.
    :ivar part: x, y or z for a part of a ball.
    """

    name: str
    kind: str
    parent: str
    child: str
    pose: Pose = AT_ORIGIN
    axis: Vector = X_AXIS
    joint: int = -1
    slot: int = -1
    part: str = ''


@dataclass(frozen=True)
class Skeleton:
    """
    Links and joints, parents first.

    :ivar mount: fixed pose of a root in the world that is not a body; None when the root is the
        base.
    :ivar root_pose: of the root in the world, for a robot that does not float.
    :ivar notes: what was left out.
    """

    root: str = ''
    links: tuple[LinkFrame, ...] = ()
    joints: tuple[UrdfJoint, ...] = ()
    mount: StaticTransform | None = None
    root_pose: Pose = AT_ORIGIN
    notes: tuple[str, ...] = ()

    @property
    def moving(self) -> tuple[UrdfJoint, ...]:
        """The joints that are not fixed."""
        return tuple(joint for joint in self.joints if joint.kind != FIXED)

    def static(self, tree: FrameTree) -> list[StaticTransform]:
        """Return the fixed transforms that `tree` does not have."""
        known = {transform.child for transform in tree.static}
        added = [] if self.mount is None else [self.mount]
        return added + [
            StaticTransform(joint.parent, joint.child, *joint.pose)
            for joint in self.joints
            if joint.kind == FIXED and joint.child not in known
        ]


_AXES = {'x': X_AXIS, 'y': (0.0, 1.0, 0.0), 'z': (0.0, 0.0, 1.0)}


class SkeletonBuilder:
    """Walks over the bodies of a robot and collects its links and joints."""

    def __init__(
        self, robot: RobotModel, tree: FrameTree, frame_prefix: str, taken: set[str]
    ) -> None:
        """
        Prepare.

        :param tree: its frames; links are called as these.
        :param taken: further frame names that are taken.
        """
        self.robot = robot
        self.world = robot.world
        self.tree = tree
        self.frame_prefix = frame_prefix
        every = (tree.bodies, tree.sites, tree.cameras, tree.optical, tree.ranges)
        self.frames = taken | {frame for frames in every for frame in frames.values()}
        self.links: list[LinkFrame] = []
        self.joints: list[UrdfJoint] = []
        self.notes: list[str] = []
        self.joint_names = {robot.name_of(joint) for joint in self.world.joints}
        self.places = dict(tree.bodies)

    def build(self, world_frame: str) -> Skeleton:
        """Return the skeleton; `world_frame` is that in which a root that is no body is fixed."""
        base = next(body for body, frame in self.tree.bodies.items() if frame == self.tree.base)
        floats = self._is_free(base)
        root, mount, place = self.tree.base, None, Pose()
        if not floats:
            place = self._in_world(base) or Pose()
        if self.world.bodies[base].dofs and not floats:
            root = self._frame(f'{self._plain(root)}_mount')
            self.links.append(LinkFrame(root))
            mount = StaticTransform(world_frame, root, *place)
            self._chain(root, base, Pose())
        else:
            self.links.append(LinkFrame(root, base))
        for body in self.tree.bodies:
            if body != base:
                element = self.world.bodies[body]
                self._chain(self.tree.bodies[element.parent], body, element.pose)
        self._other_roots(root, place, floats)
        return Skeleton(
            root, tuple(self.links), tuple(self.joints), mount, place, tuple(self.notes)
        )

    def _other_roots(self, root: str, place: Pose, floats: bool) -> None:
        """Hang bodies of the robot that are not below its base to the root, if both stand."""
        left_out = []
        for body in self.robot.bodies.values():
            if body.id in self.places:
                continue
            if body.parent in self.places:
                self._add_place(body)
                self._chain(self.places[body.parent], body.id, body.pose)
                continue
            pose = self._in_world(body.id)
            if floats or pose is None or body.mocap:
                left_out.append(body.name)
                continue
            self._add_place(body)
            self._chain(root, body.id, place.inverse().then(pose))
        if left_out:
            self.notes.append(
                f'{self.robot.prefix}: robot_description leaves out bodies that are not below '
                f'the base: {", ".join(left_out)}'
            )

    def _add_place(self, body: Body) -> None:
        self.places[body.id] = self._frame(self.robot.name_of(body))

    def _chain(self, parent: str, body: int, pending: Pose) -> None:
        """Add a body and its joints; `pending` is its pose in `parent` without them."""
        child = self.places[body]
        joints = self.world.joints_of(body)
        for joint in joints:
            if joint.kind == FREE:
                name = self.robot.name_of(joint)
                self.joints.append(
                    UrdfJoint(
                        name,
                        FLOATING,
                        parent,
                        child,
                        pending,
                        joint=joint.id,
                        slot=self._slot(joint),
                    )
                )
                self.links.append(LinkFrame(child, body))
                return
            x, y, z = joint.anchor
            pending = pending.then(Pose((x, y, z)))
            back = Pose((-x, -y, -z))
            target = child if joint is joints[-1] and back.is_identity else ''
            parent = self._joint(joint, parent, pending, target)
            pending = back
        if parent != child:
            name = self._joint_name(f'{self._plain(child)}_fixed')
            self.joints.append(UrdfJoint(name, FIXED, parent, child, pending))
        self.links.append(LinkFrame(child, body))

    def _joint(self, joint: Joint, parent: str, pose: Pose, target: str) -> str:
        """Add a joint that ends in `target`, or in a link put in; return which."""
        name = self.robot.name_of(joint)
        if joint.kind == BALL:
            return self._ball(joint, name, parent, pose, target)
        x, y, z = joint.axis
        if joint.kind == SLIDE:
            back = -joint.zero
            pose, kind = pose.then(Pose((back * x, back * y, back * z))), PRISMATIC
        else:
            pose = pose.then(Pose(ORIGIN, axis_angle(joint.axis, -joint.zero)))
            kind = REVOLUTE if joint.limited else CONTINUOUS
        child = target or self._massless(name)
        self.joints.append(
            UrdfJoint(name, kind, parent, child, pose, joint.axis, joint.id, self._slot(joint))
        )
        return child

    def _ball(self, joint: Joint, name: str, parent: str, pose: Pose, target: str) -> str:
        for part, axis in _AXES.items():
            child = target if part == 'z' and target else self._massless(f'{name}_{part}')
            hinge = self._joint_name(f'{name}_{part}')
            self.joints.append(
                UrdfJoint(
                    hinge, CONTINUOUS, parent, child, pose, axis, joint.id, self._slot(joint), part
                )
            )
            parent, pose = child, Pose()
        return parent

    def _massless(self, joint_name: str) -> str:
        link = self._frame(f'{joint_name}_link')
        self.links.append(LinkFrame(link))
        return link

    def _frame(self, wanted: str) -> str:
        """Return a frame name that nothing else has."""
        name, count = self.frame_prefix + '_'.join(wanted.strip('/').split()), 1
        while name in self.frames:
            count += 1
            name = f'{self.frame_prefix}{wanted}_{count}'
        self.frames.add(name)
        return name

    def _joint_name(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self.joint_names:
            count += 1
            name = f'{wanted}_{count}'
        self.joint_names.add(name)
        return name

    def _plain(self, frame: str) -> str:
        return frame.removeprefix(self.frame_prefix)

    def _slot(self, joint: Joint) -> int:
        return joint.slot if joint.prefix == self.robot.prefix else -1

    def _is_free(self, body: int) -> bool:
        joints = self.world.joints_of(body)
        return bool(joints) and joints[0].kind == FREE

    def _in_world(self, body: int) -> Pose | None:
        """Return the pose of a body without its joints; None when something carries it along."""
        if not self.world.is_static(self.world.bodies[body].parent):
            return None
        return self.world.reference_pose(body)
