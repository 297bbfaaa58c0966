# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The links and joints of one robot, as URDF and /tf need them.

A link is a body, called as its frame.  A MuJoCo body may have several joints, ball joints, and
joints away from its origin; a URDF joint has one axis through the origin of its child.  So links
without mass are put in between where needed.  The root is the base; when joints of the base itself
move it (a planar base of three joints, say), the root is a link of its own, fixed in the world.
"""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.geometry import AT_ORIGIN
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import Vector
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
