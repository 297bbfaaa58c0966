# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The action vector: its parts in order, made from a profile and a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from urlab_ros_bridge.gateways.chiral.errors import BadAction
from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.ik import PoseSolver
from urlab_ros_bridge.gateways.chiral.parts import DirectPart
from urlab_ros_bridge.gateways.chiral.parts import ForcePart
from urlab_ros_bridge.gateways.chiral.parts import GripperPart
from urlab_ros_bridge.gateways.chiral.parts import JointPart
from urlab_ros_bridge.gateways.chiral.parts import Part
from urlab_ros_bridge.gateways.chiral.parts import PosePart
from urlab_ros_bridge.gateways.chiral.parts import Scene
from urlab_ros_bridge.gateways.chiral.parts import TwistPart
from urlab_ros_bridge.gateways.chiral.profile import ActionProfile
from urlab_ros_bridge.gateways.chiral.profile import Profile
from urlab_ros_bridge.gateways.chiral.robot_model import Actuator
from urlab_ros_bridge.gateways.chiral.robot_model import Joint
from urlab_ros_bridge.gateways.chiral.robot_model import RobotModel
from urlab_ros_bridge.gateways.chiral.target import Target

MAX_CHUNK = 1024
HOLDING = ('position', 'intvelocity')


class ActionLayout:
    """
    What the numbers of an action are.

    :ivar size: D, how many numbers an action has.
    :ivar raw: whether controls bypass the controller of the articulation.
    :ivar smooth: actuators whose set-point moves gradually.
    :ivar needs_scene: whether `resolve` looks at the scene.
    """

    def __init__(self, profile: Profile, robot: RobotModel) -> None:
        """
        Build the parts.

        :raises ProfileError: when the robot cannot do what the profile asks.
        :raises UnknownName: for a joint, actuator or site that there is not.
        """
        self._profile = profile
        self._robot = robot
        actions = profile.actions or []
        self.parts = [self._part(action, f'actions[{i}]') for i, action in enumerate(actions)]
        self.size = sum(part.size for part in self.parts)
        self.smooth = frozenset(a.name for p in self.parts if p.smooth for a in p.actuators)
        self.needs_scene = any(isinstance(part, PosePart) for part in self.parts)
        self._check_owners()
        torques = {action.kind in ('joint_torque', 'actuator') for action in actions}
        driven = {action.kind for action in actions} - {'twist'}
        self.raw = robot.has_controller and True in torques
        if self.raw and driven - {'joint_torque', 'actuator'}:
            raise ProfileError(
                'actions', sorted(driven), 'mix torques with targets of the controller'
            )

    def describe(self) -> str:
        """Return the layout as text: `left(6)+gripper(1)`."""
        return '+'.join(f'{part.label}({part.size})' for part in self.parts)

    def action_type(self) -> str:
        """Return the word that clients know for the layout: joint, ee_pose, or mixed."""
        kinds = {action.kind for action in self._profile.actions or []} - {'gripper'}
        if kinds <= {'joint_position'}:
            return 'joint'
        return kinds.pop() if len(kinds) == 1 else 'mixed'

    def rows(self, values: np.ndarray) -> np.ndarray:
        """
        Return the actions of a message, shape (N, D).

        :param values: shape (D,), (1, D), or a chunk (N, D).
        :raises BadAction: for another shape, or values that are not finite.
        """
        rows = values.reshape(1, -1) if values.ndim == 1 else values
        if rows.ndim != 2 or rows.shape[1] != self.size or not 1 <= len(rows) <= MAX_CHUNK:
            raise BadAction(
                f'action of shape {list(values.shape)}, expected [{self.size}] = {self.describe()}'
            )
        if not np.isfinite(rows).all():
            raise BadAction('the action holds values that are not finite')
        if len(rows) > 1 and self._profile.control.chunks == 'refuse':
            raise BadAction(f'a chunk of {len(rows)} actions; this server takes one at a time')
        return rows[:1] if self._profile.control.chunks == 'first' else rows

    def resolve(self, row: np.ndarray, before: Target, scene: Scene) -> Target:
        """
        Return the set-point of one action.

        :param row: shape (D,).
        :raises BadAction: when a part refuses its numbers; nothing has changed then.
        """
        target, start = before.copy(), 0
        for part in self.parts:
            part.apply(row[start : start + part.size], target, scene)
            start += part.size
        return target

    def initial(self, qpos: np.ndarray, ctrl: np.ndarray) -> Target:
        """
        Return the set-point that a robot holds which nobody has commanded yet.

        :param qpos: of the articulation; `ctrl` its controls in actuator order.
        """
        target = Target()
        for part in self.parts:
            for actuator in part.actuators:
                joint = self._robot.joints.get(actuator.joint)
                controlled = self._robot.has_controller and not self.raw
                if controlled and joint is not None:
                    target.ctrl[actuator.name] = float(qpos[joint.slot])
                else:
                    known = actuator.index < len(ctrl)
                    target.ctrl[actuator.name] = float(ctrl[actuator.index]) if known else 0.0
            if isinstance(part, TwistPart):
                target.twist = (0.0, 0.0, 0.0)
        return target

    def stopped(self, qpos: np.ndarray, target: Target) -> Target:
        """Return the set-point that stands still: joints where they are, no speed, no torque."""
        still = target.copy()
        for part in self.parts:
            for actuator in part.actuators:
                joint = self._robot.joints.get(actuator.joint)
                if isinstance(part, ForcePart):
                    still.ctrl[actuator.name] = 0.0
                elif joint is not None and not isinstance(part, (GripperPart, DirectPart)):
                    gear = 1.0 if self._robot.has_controller else actuator.gear
                    still.ctrl[actuator.name] = float(qpos[joint.slot]) * gear
        if still.twist is not None:
            still.twist = (0.0, 0.0, 0.0)
        return still

    def _check_owners(self) -> None:
        seen: set[str] = set()
        for part in self.parts:
            for actuator in part.actuators:
                if actuator.name in seen:
                    raise ProfileError('actions', actuator.name, 'is driven by two parts')
                seen.add(actuator.name)

    def _part(self, action: ActionProfile, where: str) -> Part:
        robot, kind = self._robot, action.kind
        if kind == 'twist':
            drive = robot.description.twist_controller
            if drive is None:
                raise ProfileError(
                    where, kind, 'needs a twist controller, which the robot has not'
                )
            lateral = drive.kind != 'differential'
            return TwistPart(lateral, 'vx_vy_yaw' if lateral else 'vx_yaw')
        if kind in ('ee_pose', 'ee_delta'):
            return self._pose_part(action, where)
        if kind in ('gripper', 'actuator'):
            actuators = robot.need_actuators(action.actuators or [])
            if not actuators:
                raise ProfileError(where, kind, 'names no actuators', robot.actuators)
            if kind == 'actuator':
                return DirectPart(actuators, _label(actuators))
            return self._gripper(action, actuators, where)
        actuators = robot.actuators_of(robot.need_joints(action.joints))
        return self._joint_part(action, actuators, where)

    def _gripper(
        self, action: ActionProfile, actuators: Sequence[Actuator], where: str
    ) -> GripperPart:
        ends = []
        for actuator in actuators:
            closed = actuator.low if action.closed is None else action.closed
            opened = actuator.high if action.open is None else action.open
            if not np.isfinite([closed, opened]).all():
                raise ProfileError(where, actuator.name, 'has no range: give closed and open')
            ends.append((actuator, closed, opened))
        return GripperPart(ends, actuators[0].name)

    def _joint_part(
        self, action: ActionProfile, actuators: Sequence[Actuator], where: str
    ) -> Part:
        kind, label = action.kind, f'{action.kind}_{_label(actuators)}'
        controlled = self._robot.has_controller
        kinds = {actuator.kind for actuator in actuators}
        if kind == 'joint_torque':
            if kinds != {'motor'}:
                raise ProfileError(where, sorted(kinds), 'actuators give no torque', ['motor'])
            return ForcePart(actuators, label, inverse=True)
        if kind == 'joint_velocity' and kinds == {'velocity'} and not controlled:
            return ForcePart(actuators, label, inverse=False)
        if not controlled and not kinds <= set(HOLDING):
            raise ProfileError(where, sorted(kinds), 'actuators hold no position', HOLDING)
        clip = self._profile.control.on_jump == 'clip'
        scale = 1 / self._profile.control.rate if kind == 'joint_velocity' else 1.0
        return JointPart(
            self._setpoints(actuators),
            label,
            kind != 'joint_position',
            action.max_jump,
            clip,
            scale,
        )

    def _setpoints(self, actuators: Sequence[Actuator]) -> list[Actuator]:
        """Return actuators with the gear of their set-point; a controller takes bare angles."""
        controlled = self._robot.has_controller
        return [replace(a, gear=1.0) if controlled else a for a in actuators]

    def _pose_part(self, action: ActionProfile, where: str) -> PosePart:
        robot = self._robot
        if not action.site:
            raise ProfileError(where, action.kind, 'names no site', [*robot.sites, *robot.bodies])
        kind, name = robot.body_or_site(action.site)
        joints = self._moving(kind, name) if action.joints is None else None
        joints = robot.need_joints(action.joints) if joints is None else joints
        if not joints:
            raise ProfileError(where, action.site, 'is moved by no actuator')
        actuators = robot.actuators_of(joints)
        limits = self._joint_part(replace(action, kind='joint_position'), actuators, where)
        return PosePart(
            PoseSolver(robot.model, kind, name, joints),
            self._setpoints(actuators),
            action.rotation,
            robot.body_or_site(action.reference or self._profile.reference or robot.base),
            f'{action.kind}_{action.site}',
            action.kind == 'ee_delta',
            limits,
        )

    def _moving(self, kind: str, name: str) -> list[Joint]:
        """Return the driven joints between the world and an end effector, from the base on."""
        model, robot = self._robot.model, self._robot
        body = int(model.site(name).bodyid[0] if kind == 'site' else model.body(name).id)
        chain = set()
        while body:
            chain.add(body)
            body = int(model.body_parentid[body])
        driven = {actuator.joint for actuator in robot.actuators.values()}
        return [
            joint
            for joint in robot.joints.values()
            if int(model.jnt_bodyid[joint.id]) in chain and joint.name in driven
        ]


def _label(actuators: Sequence[Actuator]) -> str:
    names = [actuator.name for actuator in actuators]
    return names[0] if len(names) == 1 else f'{names[0]}..{names[-1]}'
