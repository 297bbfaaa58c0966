# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Actions whose goals are carried out tick by tick."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rclpy.action.server import ServerGoalHandle

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.robot import CommandedRobot
from urlab_ros_bridge.ros.features.declarations import RosAction
from urlab_ros_bridge.ros.rclpy_tools.actions import DeferredActionServer
from urlab_ros_bridge.ros.rclpy_tools.actions import Ending
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface


class Goal:
    """One goal of a client; its task may end it in any thread."""

    def __init__(self, action: GoalAction, handle: ServerGoalHandle) -> None:
        self._action = action
        self._handle = handle
        # What `GoalAction.start` returned.
        self.task: Any = None

    def feedback(self, moment: Any) -> None:
        """Publish feedback."""
        if self._handle.is_active:
            self._handle.publish_feedback(self._action.feedback(moment))

    def done(self, ending: Ending, end: Any) -> None:
        """End the goal; called exactly once."""
        self._action.finish(self._handle, ending, self._action.result(end))


class GoalAction:
    """The server of one action of a robot; subclasses execute its goals."""

    declared: RosAction

    def __init__(self, robot: CommandedRobot, parts: Mapping[str, str]) -> None:
        """
        Offer the action.

        :param parts: fields of its name other than the robot.
        :raises InterfaceMissing: when its type is not installed.
        """
        self.type = load_interface(self.declared.type_name)
        self._robot = robot
        self._name = self.declared.named(robot.plan.namespace, parts)
        self._goals: dict[bytes, Goal] = {}
        self._server = DeferredActionServer(
            robot.context.node,
            self.type,
            self._name,
            accept=self._accept,
            start=self._start,
            cancel=self._cancel,
        )

    def check(self, request: Any) -> None:
        """Raise CommandRejected for a goal that is to be rejected."""

    def start(self, request: Any, goal: Goal) -> Any:
        """Start to execute a goal and return its task; raises CommandRejected."""
        raise NotImplementedError

    def cancel(self, task: Any) -> None:
        """End a goal early."""
        raise NotImplementedError

    def refused(self, error: CommandRejected) -> Any:
        """Return the end of a goal that could not begin."""

    def feedback(self, moment: Any) -> Any:
        """Return the feedback message."""
        raise NotImplementedError

    def result(self, end: Any) -> Any:
        """Return the result message."""
        raise NotImplementedError

    def close(self) -> None:
        """Withdraw the action."""
        self._server.destroy()

    def finish(self, handle: ServerGoalHandle, ending: Ending, result: Any) -> None:
        """End a goal; may be called from any thread."""
        self._goals.pop(bytes(handle.goal_id.uuid), None)
        self._server.finish(handle, ending, result)

    def _accept(self, request: Any) -> bool:
        return self._robot.carry_out(self._name, self.check, request) is None

    def _start(self, handle: ServerGoalHandle) -> None:
        goal = self._goals[bytes(handle.goal_id.uuid)] = Goal(self, handle)
        if error := self._robot.carry_out(self._name, self._begin, handle.request, goal):
            goal.done(Ending.ABORTED, self.refused(error))

    def _begin(self, request: Any, goal: Goal) -> None:
        goal.task = self.start(request, goal)

    def _cancel(self, handle: ServerGoalHandle) -> None:
        goal = self._goals.get(bytes(handle.goal_id.uuid))
        if goal is not None:
            self.cancel(goal.task)
