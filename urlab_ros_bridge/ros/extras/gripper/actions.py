# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The actions of a gripper: GripperCommand and ParallelGripperCommand of control_msgs."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.goal_action import Goal
from urlab_ros_bridge.ros.commands.goal_action import GoalAction
from urlab_ros_bridge.ros.commands.robot import CommandedRobot
from urlab_ros_bridge.ros.extras.gripper.gripper import Grasp
from urlab_ros_bridge.ros.extras.gripper.gripper import Grip
from urlab_ros_bridge.ros.extras.gripper.gripper import Gripper
from urlab_ros_bridge.ros.extras.gripper.gripper import GripperParameters
from urlab_ros_bridge.ros.extras.gripper.gripper import grippers_of
from urlab_ros_bridge.ros.features.declarations import RosAction
from urlab_ros_bridge.ros.features.feature import Command
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.plan.names import ros_name
from urlab_ros_bridge.ros.rclpy_tools.compat import find_interface
from urlab_ros_bridge.wire.errors import list_names

# Target and largest effort of each joint.
GripCommand = tuple[np.ndarray, np.ndarray]

SIMPLE = RosAction(
    '{robot}/{gripper}/gripper_cmd', 'control_msgs/action/GripperCommand', 'grippers'
)
PARALLEL = RosAction(
    '{robot}/{gripper}/parallel_gripper_cmd',
    'control_msgs/action/ParallelGripperCommand',
    'grippers',
)


class GripAction(GoalAction):
    """Base class of both actions of a gripper."""

    def __init__(self, robot: CommandedRobot, gripper: Gripper) -> None:
        self.gripper = gripper
        super().__init__(robot, {'gripper': ros_name(gripper.name)})

    def read(self, goal: Any) -> GripCommand:
        """Read a goal; raises CommandRejected."""
        raise NotImplementedError

    def check(self, request: Any) -> None:
        self.read(request)

    def start(self, request: Any, goal: Goal) -> Grasp:
        return self.gripper.start(*self.read(request), goal, self._robot.context.now_ns)

    def cancel(self, task: Grasp) -> None:
        self.gripper.cancel(task)


class Simple(GripAction):
    """GripperCommand: one position and one largest effort for all joints."""

    declared = SIMPLE

    def read(self, goal: Any) -> GripCommand:
        count, command = len(self.gripper.joints), goal.command
        return (
            _finite('position', np.full(count, command.position)),
            _finite('max_effort', np.full(count, command.max_effort)),
        )

    def feedback(self, moment: Grip) -> Any:
        return self._fill(self.type.Feedback(), moment)

    def result(self, end: Grip | None) -> Any:
        return self._fill(self.type.Result(), end)

    @staticmethod
    def _fill(message: Any, grip: Grip | None) -> Any:
        if grip is not None:
            message.position = float(grip.position[0])
            message.effort = float(np.max(np.abs(grip.effort)))
            message.stalled, message.reached_goal = grip.stalled, grip.reached
        return message


class Parallel(GripAction):
    """ParallelGripperCommand: positions and largest efforts by joint."""

    declared = PARALLEL

    def read(self, goal: Any) -> GripCommand:
        """Read a goal: without names one position is for all joints; raises CommandRejected."""
        command, joints = goal.command, self.gripper.joints
        names = list(command.name) or list(joints)
        positions, efforts = list(command.position), list(command.effort)
        if not command.name:
            positions = positions * len(joints) if len(positions) == 1 else positions
            efforts = efforts * len(joints) if len(efforts) == 1 else efforts
        unknown = [name for name in names if name not in joints]
        missing = [joint for joint in joints if joint not in names]
        if unknown or missing:
            raise CommandRejected(
                f'names are {", ".join(names)}; {list_names("joint of the gripper", joints)}'
            )
        if len(positions) != len(names) or len(efforts) not in (0, len(names)):
            raise CommandRejected(
                f'{len(positions)} positions and {len(efforts)} efforts for {len(names)} joints'
            )
        order = [names.index(joint) for joint in joints]
        return (
            _finite('position', np.array(positions)[order]),
            _finite('effort', np.array(efforts or [0.0] * len(names))[order]),
        )

    def feedback(self, moment: Grip) -> Any:
        return self.type.Feedback(state=self._state(moment))

    def result(self, end: Grip | None) -> Any:
        message = self.type.Result()
        if end is not None:
            message.state = self._state(end)
            message.stalled, message.reached_goal = end.stalled, end.reached
        return message

    def _state(self, grip: Grip) -> JointState:
        return JointState(
            header=header_to_ros(grip.stamp_ns, ''),
            name=list(self.gripper.joints),
            position=grip.position.tolist(),
            velocity=grip.velocity.tolist(),
            effort=grip.effort.tolist(),
        )


def _finite(name: str, values: np.ndarray) -> np.ndarray:
    if not all(map(math.isfinite, values)):
        raise CommandRejected(f'{name} is not finite: {values.tolist()}')
    return values.astype(float)


class GripperCommands(Command):
    """One gripper with its actions."""

    def __init__(self, robot: CommandedRobot, gripper: Gripper) -> None:
        self._gripper = gripper
        self._actions: list[GripAction] = []
        if find_interface(SIMPLE.type_name) is not None:
            self._actions = [Simple(robot, gripper), Parallel(robot, gripper)]

    @property
    def active(self) -> bool:
        """Whether the fingers move."""
        return self._gripper.active

    def tick(self, stamp_ns: int, joints: Sequence[np.ndarray] | None) -> None:
        """Continue the movement."""
        self._gripper.tick(stamp_ns, joints)

    def drop(self, reason: str) -> None:
        """Abort the movement."""
        self._gripper.drop(reason)

    def close(self) -> None:
        """Withdraw the actions."""
        for action in self._actions:
            action.close()


def commands(robot: CommandedRobot) -> list[Command]:
    """Make the grippers of a robot; one that cannot be used is reported."""
    found: list[Command] = []
    grippers = grippers_of(robot.plan, robot.settings, robot.link.handshake)
    for name, joints in grippers.items() if robot.plan.actuators else ():
        gripper = Gripper(name, joints, robot.setpoints, robot.arbiter, robot.settings)
        if gripper.problem:
            robot.context.rejections.add(f'gripper {name}', ValueError(gripper.problem))
        else:
            found.append(GripperCommands(robot, gripper))
    return found


FEATURE = Feature(
    'grippers',
    GripperParameters,
    group='Trajectories and control',
    actions=(SIMPLE, PARALLEL),
    commands=commands,
)
