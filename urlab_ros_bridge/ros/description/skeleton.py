# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Find the links and joints of a robot in the compiled model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from urlab_ros_bridge.ros.convert.frame_tree import enumeration
from urlab_ros_bridge.ros.convert.frame_tree import FrameTree
from urlab_ros_bridge.ros.convert.frame_tree import StaticTransform
from urlab_ros_bridge.ros.description.links import CONTINUOUS
from urlab_ros_bridge.ros.description.links import FIXED
from urlab_ros_bridge.ros.description.links import FLOATING
from urlab_ros_bridge.ros.description.links import Joint
from urlab_ros_bridge.ros.description.links import Link
from urlab_ros_bridge.ros.description.links import PRISMATIC
from urlab_ros_bridge.ros.description.links import REVOLUTE
from urlab_ros_bridge.ros.description.links import Skeleton
from urlab_ros_bridge.ros.description.links import X_AXIS
from urlab_ros_bridge.ros.description.spatial import ORIGIN
from urlab_ros_bridge.ros.description.spatial import Pose
from urlab_ros_bridge.ros.description.spatial import pose_of
from urlab_ros_bridge.ros.description.spatial import turned

_AXES = {'x': X_AXIS, 'y': (0.0, 1.0, 0.0), 'z': (0.0, 0.0, 1.0)}
_WIDTHS = {'mjJNT_FREE': 7, 'mjJNT_BALL': 4}


def build_skeleton(
    model: Any,
    prefix: str,
    tree: FrameTree,
    *,
    world_frame: str = 'map',
    frame_prefix: str = '',
    exclude: Iterable[str] = (),
) -> Skeleton:
    """
    Find the links and joints of a robot.

    :param model: mujoco.MjModel.
    :param prefix: of the robot in compiled names, without the underscore; '' = none.
    :param tree: its frames; links are called as these.
    :param exclude: further frame names that are taken.
    """
    return _Builder(model, prefix, tree, frame_prefix, {*exclude, world_frame}).build(world_frame)


class _Builder:
    """Walks over the bodies and collects."""

    def __init__(
        self, model: Any, prefix: str, tree: FrameTree, frame_prefix: str, taken: set[str]
    ) -> None:
        self.model = model
        self.start = f'{prefix}_' if prefix else ''
        self.tree = tree
        self.frame_prefix = frame_prefix
        every = (tree.bodies, tree.sites, tree.cameras, tree.optical, tree.ranges)
        self.frames = taken | {frame for frames in every for frame in frames.values()}
        self.kinds = enumeration(model, 'mjtJoint')
        self.links: list[Link] = []
        self.joints: list[Joint] = []
        self.notes: list[str] = []
        self.slots = self._slots()
        self.joint_names = {self._local(model.joint(j).name) for j in range(model.njnt)}
        self.places = dict(tree.bodies)

    def build(self, world_frame: str) -> Skeleton:
        base = next(body for body, frame in self.tree.bodies.items() if frame == self.tree.base)
        floats = self._is_free(base)
        root, mount, place = self.tree.base, None, Pose()
        if not floats:
            place = self._in_world(base) or Pose()
        if self.model.body_dofnum[base] and not floats:
            root = self._frame(f'{self._plain(root)}_mount')
            self.links.append(Link(root))
            mount = StaticTransform(world_frame, root, *place)
            self._chain(root, base, Pose())
        else:
            self.links.append(Link(root, base))
        for body in self.tree.bodies:
            if body != base:
                parent = self.tree.bodies[int(self.model.body_parentid[body])]
                self._chain(parent, body, self._in_parent(body))
        self._other_roots(root, place, floats)
        return Skeleton(
            root, tuple(self.links), tuple(self.joints), mount, place, tuple(self.notes)
        )

    def _other_roots(self, root: str, place: Pose, floats: bool) -> None:
        """Hang bodies of the robot that are not below its base to the root, if both stand."""
        left_out = []
        for body in range(1, self.model.nbody):
            name = self.model.body(body).name
            if body in self.places or not name.startswith(self.start):
                continue
            parent = int(self.model.body_parentid[body])
            if parent in self.places:
                self._add_place(body)
                self._chain(self.places[parent], body, self._in_parent(body))
                continue
            pose = self._in_world(body)
            if floats or pose is None or self.model.body_mocapid[body] >= 0:
                left_out.append(self._local(name))
                continue
            self._add_place(body)
            self._chain(root, body, place.inverse().then(pose))
        if left_out:
            self.notes.append(
                f'{self.start.rstrip("_")}: bodies that are not below the base are no links of '
                f'its description: {", ".join(left_out)}'
            )

    def _add_place(self, body: int) -> None:
        self.places[body] = self._frame(self._local(self.model.body(body).name))

    def _chain(self, parent: str, body: int, pending: Pose) -> None:
        """Add a body and its joints; `pending` is its pose in `parent` without them."""
        child = self.places[body]
        first, count = int(self.model.body_jntadr[body]), int(self.model.body_jntnum[body])
        for joint in range(first, first + count):
            last = joint == first + count - 1
            if self.model.jnt_type[joint] == int(self.kinds.mjJNT_FREE):
                name = self._local(self.model.joint(joint).name)
                self.joints.append(
                    Joint(
                        name, FLOATING, parent, child, pending, joint=joint, slot=self._slot(joint)
                    )
                )
                self.links.append(Link(child, body))
                return
            anchor = tuple(map(float, self.model.jnt_pos[joint]))
            pending = pending.then(Pose(anchor))
            back = Pose(tuple(-part for part in anchor))
            target = child if last and back.is_identity else ''
            parent = self._joint(joint, parent, pending, target)
            pending = back
        if parent != child:
            name = self._joint_name(f'{self._plain(child)}_fixed')
            self.joints.append(Joint(name, FIXED, parent, child, pending))
        self.links.append(Link(child, body))

    def _joint(self, joint: int, parent: str, pose: Pose, target: str) -> str:
        """Add a joint that ends in `target`, or in a link put in; return which."""
        name = self._local(self.model.joint(joint).name)
        if self.model.jnt_type[joint] == int(self.kinds.mjJNT_BALL):
            return self._ball(joint, name, parent, pose, target)
        axis = tuple(map(float, self.model.jnt_axis[joint]))
        zero = float(self.model.qpos0[self.model.jnt_qposadr[joint]])
        kind = PRISMATIC
        if self.model.jnt_type[joint] == int(self.kinds.mjJNT_SLIDE):
            pose = pose.then(Pose(tuple(-zero * part for part in axis)))
        else:
            pose = pose.then(Pose(ORIGIN, turned(axis, -zero)))
            kind = REVOLUTE if self.model.jnt_limited[joint] else CONTINUOUS
        child = target or self._massless(name)
        self.joints.append(Joint(name, kind, parent, child, pose, axis, joint, self._slot(joint)))
        return child

    def _ball(self, joint: int, name: str, parent: str, pose: Pose, target: str) -> str:
        for part, axis in _AXES.items():
            child = target if part == 'z' and target else self._massless(f'{name}_{part}')
            hinge = self._joint_name(f'{name}_{part}')
            self.joints.append(
                Joint(hinge, CONTINUOUS, parent, child, pose, axis, joint, self._slot(joint), part)
            )
            parent, pose = child, Pose()
        return parent

    def _massless(self, joint_name: str) -> str:
        link = self._frame(f'{joint_name}_link')
        self.links.append(Link(link))
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

    def _local(self, name: str) -> str:
        return name.removeprefix(self.start)

    def _is_free(self, body: int) -> bool:
        first = int(self.model.body_jntadr[body])
        return first >= 0 and self.model.jnt_type[first] == int(self.kinds.mjJNT_FREE)

    def _in_parent(self, body: int) -> Pose:
        return pose_of(self.model.body_pos[body], self.model.body_quat[body])

    def _in_world(self, body: int) -> Pose | None:
        """Return the pose of a body without its joints; None when something carries it along."""
        pose, parent = self._in_parent(body), int(self.model.body_parentid[body])
        while parent:
            if self.model.body_dofnum[parent] or self.model.body_mocapid[parent] >= 0:
                return None
            pose = self._in_parent(parent).then(pose)
            parent = int(self.model.body_parentid[parent])
        return pose

    def _slots(self) -> dict[int, int]:
        widths = {int(getattr(self.kinds, name)): width for name, width in _WIDTHS.items()}
        slots, slot = {}, 0
        for joint in range(self.model.njnt):
            if self.model.joint(joint).name.startswith(self.start):
                slots[joint] = slot
                slot += widths.get(int(self.model.jnt_type[joint]), 1)
        return slots

    def _slot(self, joint: int) -> int:
        return self.slots.get(joint, -1)
