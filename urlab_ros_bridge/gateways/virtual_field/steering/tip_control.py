# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Control of one arm by the pose of its tip: setpoints of its actuators."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

import numpy as np

from urlab_ros_bridge.gateways.motion.ik import PoseSolver
from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.gateways.virtual_field.scene.chains import ArmChain
from urlab_ros_bridge.gateways.virtual_field.steering.hand import TipPose
from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import quaternion_of_matrix
from urlab_ros_bridge.model import Actuator
from urlab_ros_bridge.model import Joint

# Limit of joint speeds, however fast the hand moves (rad/s, m/s).
MAX_JOINT_SPEED = 3.0
# Limit of the compensated lag of a soft arm, which would swing otherwise (s).
MAX_LAG = 0.08
# Solver iterations per call: a reachable pose needs one or two, others would need dozens.
ITERATIONS = 4
# An arm with fewer joints cannot reach arbitrary poses: only the position is controlled.
_FULL_POSE = 6
# In a chain with many joints the position has priority: 1 m weighs as much as 10 rad.
_MANY_JOINTS = 9
_LITTLE_ROTATION = 0.1
_HEAD_JOINTS = 2
# The tip of a leg is hardly higher than the lowest joint of its robot (m).
_FOOT_HEIGHT = 0.03
_POSITION_KINDS = ('position', 'intvelocity')
_GRIPPER_WORDS = ('gripper', 'finger')


def is_steerable(robot: ActuatedRobot, arm: ArmChain) -> bool:
    """
    Return whether the tip of an arm can be led: each joint follows a position.

    The legs of a robot that stands on them are not led: it would fall.  Nor is any arm of one
    that keeps its balance by itself, as far as anybody can tell, nor its head: two joints that
    turn a camera have no position to lead.
    """
    if robot.free is not None and (
        robot.description.twist_controller is None
        or len(arm.joints) <= _HEAD_JOINTS
        or _is_leg(robot, arm)
    ):
        return False
    driven = {a.joint_id: a for a in robot.actuators.values() if a.joint_id >= 0}
    return all(
        joint.is_scalar
        and joint.id in driven
        and (robot.has_controller or driven[joint.id].kind in _POSITION_KINDS)
        for joint in arm.joints
    )


def _is_leg(robot: ActuatedRobot, arm: ArmChain) -> bool:
    """Return whether a chain reaches as far down as anything of its robot, in the reference."""
    tip = arm.nodes[-1]
    place = robot.world.reference_pose(tip.body).then(Pose(tip.place)).position
    lowest = min(robot.world.reference_pose(b.id).position[2] for b in robot.bodies.values())
    return place[2] < lowest + _FOOT_HEIGHT


class TipControl:
    """
    Leads one arm.

    Setpoints run ahead of the joints by what the actuators lag behind, so that the tip is where
    the hand is while it moves, and not a few hundredths of a second before.

    :ivar prefix: of the robot.
    """

    def __init__(self, model: Any, robot: ActuatedRobot, arm: ArmChain) -> None:
        """
        Prepare.

        :raises RobotError: when mink is not installed.
        """
        self.prefix = robot.prefix
        self._joints = arm.joints
        self._addresses = np.array([joint.qpos_address for joint in arm.joints], np.intp)
        self._actuators = robot.setpoints_of(robot.actuators_of(arm.joints))
        weight = 1.0
        if not can_turn(arm):
            weight = 0.0
        elif len(arm.joints) >= _MANY_JOINTS:
            weight = _LITTLE_ROTATION
        frame, place = _frame(robot, arm)
        self._solver = PoseSolver(model, *frame, arm.joints, rotation_weight=weight)
        self._place = np.array(place)
        self._low, self._high = np.array([joint.range for joint in arm.joints]).T
        self._lag = np.array(
            [
                0.0 if robot.has_controller else lag_of(a, j)
                for a, j in zip(self._actuators, arm.joints, strict=True)
            ]
        )
        self._grips = grippers_of(robot, arm)
        self._closing = 0.0
        self._aim = np.zeros(len(arm.joints))
        self._velocity = np.zeros(len(arm.joints))
        self._led_to = self._aim
        self._rest: np.ndarray | None = None
        # The first call of the solver loads half a dozen packages, which takes as long as a hand
        # needs to go far.
        self.lead(model.qpos0, self.tip(model.qpos0), 1.0)
        self._aim, self._velocity = np.zeros_like(self._aim), np.zeros_like(self._aim)

    def begin(self, qpos: np.ndarray) -> TipPose:
        """
        Start from where the arm is; return the pose of its tip.

        :param qpos: of the whole model.
        """
        self._aim = np.clip(qpos[self._addresses], self._low, self._high)
        self._velocity = np.zeros_like(self._aim)
        if self._rest is None:
            self._rest = self._aim
        return self.tip(qpos)

    def tip(self, qpos: np.ndarray) -> TipPose:
        """Return the current target pose of the tip."""
        position, rotation = self._solver.forward(qpos, self._aim)
        return TipPose(position + rotation @ self._place, quaternion_of_matrix(rotation))

    def lead(self, qpos: np.ndarray, target: TipPose, period: float) -> dict[str, float]:
        """
        Return setpoints, actuator -> control, that bring the tip nearer to a pose.

        :param period: seconds until the next call.
        """
        rotation = matrix_of(target.rotation)
        turn = rotation
        if np.any(self._place):
            # The frame that is solved for is not at the tip; where the rotation is free, the one
            # of now is the best guess.
            turn = self._solver.forward(qpos, self._aim)[1]
        origin = target.position - turn @ self._place
        return self._move_to(
            self._solver.solve(qpos, self._aim, origin, rotation, ITERATIONS), period
        )

    def go_to_rest(self, period: float) -> tuple[dict[str, float], bool]:
        """Return setpoints nearer to where the arm was taken over, and whether it is there."""
        rest = self._aim if self._rest is None else self._rest
        ctrl = self._move_to(rest, period)
        return ctrl, bool(np.allclose(self._aim, rest, atol=1e-4))

    def settle(self) -> dict[str, float]:
        """
        Return the setpoints that hold the arm at its last target.

        While it moves, setpoints run ahead of the target.
        """
        return self._controls(self._led_to)

    def grip(self, trigger: float) -> dict[str, float]:
        """
        Return setpoints of the gripper: empty when nothing changes.

        :param trigger: 0 opens it, to its upper limit, and 1 closes it.
        """
        if abs(trigger - self._closing) < 0.01:
            return {}
        self._closing = trigger
        return {a.name: a.high + (a.low - a.high) * trigger for a in self._grips}

    def _move_to(self, aim: np.ndarray, period: float) -> dict[str, float]:
        step = aim - self._aim
        farthest = float(np.abs(step).max(initial=0.0))
        if farthest > MAX_JOINT_SPEED * period:
            step *= MAX_JOINT_SPEED * period / farthest
        # Two periods are averaged: the solver leaves some noise in single steps.
        self._velocity = 0.5 * self._velocity + 0.5 * step / period
        self._aim = self._led_to = self._aim + step
        return self._controls(
            np.clip(self._aim + self._lag * self._velocity, self._low, self._high)
        )

    def _controls(self, joints: np.ndarray) -> dict[str, float]:
        return {
            actuator.name: float(min(actuator.high, max(actuator.low, actuator.gear * value)))
            for actuator, value in zip(self._actuators, joints.tolist(), strict=True)
        }


def lag_of(actuator: Actuator, joint: Joint) -> float:
    """
    Return by how many seconds a joint follows its position actuator at a steady velocity.

    There the actuator's force, gear (kp (ctrl - gear q) - kv gear q'), balances the damping.
    """
    stiffness = -actuator.bias_params[1] * actuator.gear**2
    damping = -actuator.bias_params[2] * actuator.gear**2 + joint.damping
    return min(MAX_LAG, max(0.0, damping / stiffness)) if stiffness > 0.0 else 0.0


def _frame(
    robot: ActuatedRobot, arm: ArmChain
) -> tuple[tuple[str, str], tuple[float, float, float]]:
    """Return kind and name of the frame to solve for, and the tip in it."""
    if arm.tip_site is not None:
        return ('site', arm.tip_site.compiled), (0.0, 0.0, 0.0)
    return ('body', robot.world.bodies[arm.tip_body].compiled), arm.nodes[-1].place


def can_turn(arm: ArmChain) -> bool:
    """Return whether the rotation of a tip can be controlled, besides its position."""
    return len(arm.joints) >= _FULL_POSE


def grippers_of(robot: ActuatedRobot, arm: ArmChain) -> list[Actuator]:
    """Return the gripper actuators at the end of an arm."""
    own = {joint.id for joint in arm.joints}
    joints = {j for body in arm.bodies for j in robot.world.bodies[body].joints} - own
    tendons: Mapping[int, set[int]] = {t.id: set(t.joints) for t in robot.world.tendons}
    return [
        actuator
        for actuator in robot.actuators.values()
        if any(word in actuator.name.lower() for word in _GRIPPER_WORDS)
        and (actuator.joint_id in joints or tendons.get(actuator.tendon_id, set()) & joints)
        and math.isfinite(actuator.high - actuator.low)
    ]


__all__ = ['MAX_JOINT_SPEED', 'TipControl', 'can_turn', 'grippers_of', 'is_steerable', 'lag_of']
