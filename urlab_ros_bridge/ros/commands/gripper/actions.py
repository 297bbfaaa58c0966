# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The actions of a gripper: GripperCommand and ParallelGripperCommand of control_msgs."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any

import numpy as np
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node
from sensor_msgs.msg import JointState

from urlab_ros_bridge.ros.commands.admission.limits import CommandRejected
from urlab_ros_bridge.ros.commands.gripper.gripper import Grasp
from urlab_ros_bridge.ros.commands.gripper.gripper import Grip
from urlab_ros_bridge.ros.commands.gripper.gripper import Gripper
from urlab_ros_bridge.ros.commands.path import CommandPath
from urlab_ros_bridge.ros.messages import header_to_ros
from urlab_ros_bridge.ros.rclpy_tools.actions import Ending
from urlab_ros_bridge.ros.rclpy_tools.actions import LaterActionServer
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.wire.errors import list_names

# Target and largest effort of each joint.
GripCommand = tuple[np.ndarray, np.ndarray]


class GripperActions:
    """Both actions of one gripper: ``NAME/gripper_cmd`` and ``NAME/parallel_gripper_cmd``."""

    def __init__(self, node: Node, name: str, gripper: Gripper, path: CommandPath) -> None:
        """
        Offer the actions.

        :raises InterfaceMissing: without control_msgs.
        """
        self._actions = [
            _Action(node, f'{name}/gripper_cmd', Simple(gripper), path),
            _Action(node, f'{name}/parallel_gripper_cmd', Parallel(gripper), path),
        ]

    def close(self) -> None:
        """Withdraw the actions."""
        for action in self._actions:
            action.server.destroy()


class Simple:
    """GripperCommand: one position and one largest effort for all joints."""

    type_name = 'control_msgs/action/GripperCommand'

    def __init__(self, gripper: Gripper) -> None:
        self.gripper = gripper
        self.type = load_interface(self.type_name)

    def read(self, goal: Any) -> GripCommand:
        """Read a goal; raises CommandRejected."""
        count, command = len(self.gripper.joints), goal.command
        return (
            _finite('position', np.full(count, command.position)),
            _finite('max_effort', np.full(count, command.max_effort)),
        )

    def result(self, grip: Grip | None) -> Any:
        """Return the result, or with `feedback` the feedback: they have the same fields."""
        return self._fill(self.type.Result(), grip)

    def feedback(self, grip: Grip) -> Any:
        """Return the feedback."""
        return self._fill(self.type.Feedback(), grip)

    @staticmethod
    def _fill(message: Any, grip: Grip | None) -> Any:
        if grip is not None:
            message.position = float(grip.position[0])
            message.effort = float(np.max(np.abs(grip.effort)))
            message.stalled, message.reached_goal = grip.stalled, grip.reached
        return message


class Parallel:
    """ParallelGripperCommand: positions and largest efforts by joint."""

    type_name = 'control_msgs/action/ParallelGripperCommand'

    def __init__(self, gripper: Gripper) -> None:
        self.gripper = gripper
        self.type = load_interface(self.type_name)

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

    def result(self, grip: Grip | None) -> Any:
        """Return the result."""
        message = self.type.Result()
        if grip is not None:
            message.state = self._state(grip)
            message.stalled, message.reached_goal = grip.stalled, grip.reached
        return message

    def feedback(self, grip: Grip) -> Any:
        """Return the feedback."""
        return self.type.Feedback(state=self._state(grip))

    def _state(self, grip: Grip) -> JointState:
        return JointState(
            header=header_to_ros(grip.stamp_ns, ''),
            name=list(self.gripper.joints),
            position=grip.position.tolist(),
            velocity=grip.velocity.tolist(),
            effort=grip.effort.tolist(),
        )


class _Action:
    """One action server of a gripper; a goal that cannot be carried out is rejected."""

    def __init__(
        self,
        node: Node,
        name: str,
        dialect: Simple | Parallel,
        path: CommandPath,
    ) -> None:
        self._name = name
        self._dialect = dialect
        self._path = path
        self._goals: dict[bytes, Grasp] = {}
        self.server = LaterActionServer(
            node, dialect.type, name, accept=self._accept, start=self._start, cancel=self._cancel
        )

    def _accept(self, goal: Any) -> bool:
        return self._tried(lambda: self._dialect.read(goal))

    def _tried(self, action: Callable[[], Any]) -> bool:
        try:
            action()
        except CommandRejected as error:
            # The result of a gripper has no text: the reason goes to the log and diagnostics.
            self._path.reject(self._name, error)
            return False
        return True

    def _start(self, handle: ServerGoalHandle) -> None:
        target, max_effort = self._dialect.read(handle.request)
        listener = _GripGoal(self, handle)

        def start() -> None:
            now_ns = self._path.now_ns
            grasp = self._dialect.gripper.start(target, max_effort, listener, now_ns)
            self._goals[bytes(handle.goal_id.uuid)] = grasp

        if not self._tried(start):
            listener.done(Ending.ABORTED, None)

    def _cancel(self, handle: ServerGoalHandle) -> None:
        grasp = self._goals.get(bytes(handle.goal_id.uuid))
        if grasp is not None:
            self._dialect.gripper.cancel(grasp)

    def feedback(self, handle: ServerGoalHandle, grip: Grip) -> None:
        """Publish feedback; may be called from any thread."""
        if handle.is_active:
            handle.publish_feedback(self._dialect.feedback(grip))

    def finish(self, handle: ServerGoalHandle, ending: Ending, grip: Grip | None) -> None:
        """End a goal; may be called from any thread."""
        self._goals.pop(bytes(handle.goal_id.uuid), None)
        self.server.finish(handle, ending, self._dialect.result(grip))


class _GripGoal:
    """One goal as the listener of its movement."""

    def __init__(self, action: _Action, handle: ServerGoalHandle) -> None:
        self._action = action
        self._handle = handle

    def feedback(self, grip: Grip) -> None:
        self._action.feedback(self._handle, grip)

    def done(self, ending: Ending, grip: Grip | None) -> None:
        self._action.finish(self._handle, ending, grip)


def _finite(name: str, values: np.ndarray) -> np.ndarray:
    if not all(map(math.isfinite, values)):
        raise CommandRejected(f'{name} is not finite: {values.tolist()}')
    return values.astype(float)
