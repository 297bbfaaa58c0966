# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The action vector: its parts in order, made from a profile and a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from urlab_ros_bridge.gateways.chiral.errors import BadAction
from urlab_ros_bridge.gateways.chiral.errors import profile_key
from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.profile.parts import ActionPart
from urlab_ros_bridge.gateways.chiral.profile.parts import DirectPart
from urlab_ros_bridge.gateways.chiral.profile.parts import ForcePart
from urlab_ros_bridge.gateways.chiral.profile.parts import GripperPart
from urlab_ros_bridge.gateways.chiral.profile.parts import JointPart
from urlab_ros_bridge.gateways.chiral.profile.parts import PosePart
from urlab_ros_bridge.gateways.chiral.profile.parts import TwistPart
from urlab_ros_bridge.gateways.chiral.profile.profile import ActionProfile
from urlab_ros_bridge.gateways.chiral.profile.profile import Profile
from urlab_ros_bridge.gateways.motion.ik import PoseSolver
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.gateways.simulation.scene import MirroredScene
from urlab_ros_bridge.model import Actuator

MAX_CHUNK = 1024
HOLDING = ('position', 'intvelocity')


class ActionLayout:
    """
    The meaning of the numbers of an action.

    :ivar size: D, how many numbers an action has.
    :ivar raw: whether controls bypass the controller of the articulation.
    :ivar smooth: actuators whose setpoint moves gradually.
    :ivar needs_scene: whether `resolve` reads the scene.
    """

    def __init__(self, profile: Profile, robot: ActuatedRobot, model: Any) -> None:
        """
        Build the parts.

        :param model: `mujoco.MjModel` of the handshake, for inverse kinematics.

        :raises ProfileError: when the robot lacks what the profile requires.
        """
        self._profile = profile
        self._robot = robot
        self._model = model
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
            raise ProfileError.unfit(
                'actions', sorted(driven), 'mix torques with targets of the controller'
            )

    def describe(self) -> str:
        """Return the layout as text: `left(6)+gripper(1)`."""
        return '+'.join(f'{part.label}({part.size})' for part in self.parts)

    def action_type(self) -> str:
        """Return the clients' name of the layout: joint, ee_pose, or mixed."""
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
            raise BadAction('the action contains values that are not finite')
        if len(rows) > 1 and self._profile.control.chunks == 'refuse':
            raise BadAction(f'a chunk of {len(rows)} actions; this server takes one at a time')
        return rows[:1] if self._profile.control.chunks == 'first' else rows

    def resolve(self, row: np.ndarray, before: Target, scene: MirroredScene) -> Target:
        """
        Return the setpoint of one action.

        :param row: shape (D,).
        :raises BadAction: when a part rejects its numbers; nothing has changed then.
        """
        target, start = before.copy(), 0
        for part in self.parts:
            part.apply(row[start : start + part.size], target, scene)
            start += part.size
        return target

    def initial(self, qpos: np.ndarray, ctrl: np.ndarray) -> Target:
        """
        Return the setpoint that holds a robot before its first command.

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
        """Return the setpoint at rest: joints where they are, no speed, no torque."""
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
            for name in (*(actuator.name for actuator in part.actuators), *part.takes):
                if name in seen:
                    raise ProfileError.unfit('actions', name, 'is driven by two parts')
                seen.add(name)

    def _part(self, action: ActionProfile, path: str) -> ActionPart:
        with profile_key(path):
            return self._make_part(action, path)

    def _make_part(self, action: ActionProfile, path: str) -> ActionPart:
        robot, kind = self._robot, action.kind
        if kind == 'twist':
            drive = robot.description.twist_controller
            if drive is None or not drive.drives:  # the pose is held, so nothing moves
                raise ProfileError.unfit(
                    f'{path}.kind',
                    kind,
                    'needs a twist controller, which this robot does not have',
                )
            lateral = drive.is_lateral
            label = 'vx_vy_yaw' if lateral else 'vx_yaw'
            return TwistPart(label, (), lateral, drive.actuators or ())
        if kind in ('ee_pose', 'ee_delta'):
            return self._pose_part(action, path)
        if kind in ('gripper', 'actuator'):
            actuators = robot.need_actuators(action.actuators or [])
            if not actuators:
                raise ProfileError.unfit(
                    f'{path}.actuators', action.actuators, 'names no actuators', robot.actuators
                )
            if kind == 'actuator':
                return DirectPart(_label(actuators), actuators)
            return self._gripper(action, actuators, path)
        actuators = robot.actuators_of(robot.need_joints(action.joints))
        return self._joint_part(action, actuators, path)

    def _gripper(
        self, action: ActionProfile, actuators: Sequence[Actuator], path: str
    ) -> GripperPart:
        ends = []
        for actuator in actuators:
            closed = actuator.low if action.closed is None else action.closed
            opened = actuator.high if action.open is None else action.open
            if not np.isfinite([closed, opened]).all():
                raise ProfileError.unfit(path, actuator.name, 'has no range: give closed and open')
            ends.append((closed, opened))
        return GripperPart(actuators[0].name, actuators, ends)

    def _joint_part(
        self, action: ActionProfile, actuators: Sequence[Actuator], path: str
    ) -> ActionPart:
        kind, label = action.kind, f'{action.kind}_{_label(actuators)}'
        controlled = self._robot.has_controller
        kinds = {actuator.kind for actuator in actuators}
        if kind == 'joint_torque':
            if kinds != {'motor'}:
                raise ProfileError.unfit(
                    path, sorted(kinds), 'actuators give no torque', ['motor']
                )
            return ForcePart(label, actuators, [1 / a.gear for a in actuators])
        if kind == 'joint_velocity' and kinds == {'velocity'} and not controlled:
            return ForcePart(label, actuators, [a.gear for a in actuators])
        return self._position_part(action, actuators, path)

    def _position_part(
        self, action: ActionProfile, actuators: Sequence[Actuator], path: str
    ) -> JointPart:
        """Return the part of joints whose actuators, or whose controller, hold a position."""
        kind, label = action.kind, f'{action.kind}_{_label(actuators)}'
        kinds = {actuator.kind for actuator in actuators}
        if not self._robot.has_controller and not kinds <= set(HOLDING):
            raise ProfileError.unfit(path, sorted(kinds), 'actuators hold no position', HOLDING)
        clip = self._profile.control.on_jump == 'clip'
        scale = 1 / self._profile.control.rate if kind == 'joint_velocity' else 1.0
        return JointPart(
            label,
            self._robot.setpoints_of(actuators),
            kind != 'joint_position',
            action.max_jump,
            clip,
            scale,
        )

    def _pose_part(self, action: ActionProfile, path: str) -> PosePart:
        robot = self._robot
        if not action.site:
            raise ProfileError.unfit(
                f'{path}.site', action.site, 'names no site', [*robot.sites, *robot.bodies]
            )
        frame = robot.frame(action.site)
        if action.joints is None:
            joints = robot.moving_joints(frame)
        else:
            joints = robot.need_joints(action.joints)
        if not joints:
            raise ProfileError.unfit(f'{path}.site', action.site, 'is moved by no actuator')
        actuators = robot.actuators_of(joints)
        limits = self._position_part(replace(action, kind='joint_position'), actuators, path)
        return PosePart(
            f'{action.kind}_{action.site}',
            robot.setpoints_of(actuators),
            PoseSolver(self._model, *frame, joints),
            action.rotation,
            robot.frame(action.reference or self._profile.reference or robot.base_name),
            action.kind == 'ee_delta',
            limits,
        )


def _label(actuators: Sequence[Actuator]) -> str:
    names = [actuator.name for actuator in actuators]
    return names[0] if len(names) == 1 else f'{names[0]}..{names[-1]}'
