# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The action control_msgs/action/FollowJointTrajectory of one robot."""

from __future__ import annotations

from typing import Any

from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

from urlab_ros_bridge.ros.commands.admission.limits import CommandRejected
from urlab_ros_bridge.ros.commands.path import CommandPath
from urlab_ros_bridge.ros.commands.trajectory.follower import Follower
from urlab_ros_bridge.ros.commands.trajectory.goal import BadGoal
from urlab_ros_bridge.ros.commands.trajectory.goal import INVALID_GOAL
from urlab_ros_bridge.ros.commands.trajectory.goal import OLD_HEADER_TIMESTAMP
from urlab_ros_bridge.ros.commands.trajectory.goal import Path
from urlab_ros_bridge.ros.commands.trajectory.goal import SUCCESSFUL
from urlab_ros_bridge.ros.commands.trajectory.messages import feedback_to_ros
from urlab_ros_bridge.ros.commands.trajectory.motion import Outcome
from urlab_ros_bridge.ros.commands.trajectory.motion import Report
from urlab_ros_bridge.ros.commands.trajectory.motion import TrajectoryMotion
from urlab_ros_bridge.ros.commands.trajectory.parameters import TrajectoryParameters
from urlab_ros_bridge.ros.commands.trajectory.tolerances import Defaults
from urlab_ros_bridge.ros.commands.trajectory.tolerances import read_tolerances
from urlab_ros_bridge.ros.commands.trajectory.tolerances import Tolerances
from urlab_ros_bridge.ros.rclpy_tools.actions import Ending
from urlab_ros_bridge.ros.rclpy_tools.actions import LaterActionServer
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.wire.stamp import NANOSECONDS

FOLLOW_JOINT_TRAJECTORY = 'control_msgs/action/FollowJointTrajectory'


class FollowAction:
    """
    The action server of one robot.

    A goal that cannot be followed is accepted and aborted at once, because only a result can tell
    a client why; with the parameter `reject_bad_goals` it is rejected instead.
    """

    def __init__(
        self,
        node: Node,
        name: str,
        follower: Follower,
        path: CommandPath,
    ) -> None:
        """
        Offer the action.

        :raises InterfaceMissing: without control_msgs.
        """
        self.name = name
        self._type = load_interface(FOLLOW_JOINT_TRAJECTORY)
        self._follower = follower
        self._path = path
        self._goals: dict[bytes, TrajectoryMotion] = {}
        self._server = LaterActionServer(
            node, self._type, name, accept=self._accept, start=self._start, cancel=self._cancel
        )

    def close(self) -> None:
        """Withdraw the action."""
        self._server.destroy()

    def _read(self, goal: Any) -> tuple[Path, Tolerances]:
        """Check a goal; raises BadGoal."""
        options, prefix = self._path.settings(TrajectoryParameters), self._follower.prefix
        if goal.multi_dof_trajectory.joint_names or goal.multi_dof_trajectory.points:
            raise BadGoal(INVALID_GOAL, 'multi-DOF joints are not supported')
        path = self._follower.read(goal.trajectory)
        now_ns = self._path.now_ns
        if path.start_ns and path.start_ns + path.duration_ns < now_ns:
            late = (now_ns - path.start_ns - path.duration_ns) / NANOSECONDS
            raise BadGoal(
                OLD_HEADER_TIMESTAMP,
                f'the last point was due {late:.3f} s ago in simulation time',
            )
        defaults = Defaults(
            options.trajectory_path_tolerance,
            options.trajectory_goal_tolerance,
            options.trajectory_stopped_velocity_tolerance,
            options.trajectory_goal_time,
        )
        return path, read_tolerances(goal, path.joints, defaults, prefix)

    def _accept(self, goal: Any) -> bool:
        if not self._path.settings(TrajectoryParameters).reject_bad_goals:
            return True
        try:
            self._read(goal)
        except BadGoal as error:
            self._path.reject(self.name, error)
            return False
        return True

    def _start(self, handle: ServerGoalHandle) -> None:
        listener = _FollowGoal(self, handle)
        try:
            path, tolerances = self._read(handle.request)
            now_ns = self._path.now_ns
            motion = self._follower.start(path, tolerances, listener, now_ns)
            self._goals[bytes(handle.goal_id.uuid)] = motion
        except BadGoal as error:
            self._path.reject(self.name, error)
            listener.done(Outcome(Ending.ABORTED, error.code, str(error)))
        except CommandRejected as error:
            self._path.reject(self.name, error)
            listener.done(Outcome(Ending.ABORTED, INVALID_GOAL, str(error)))

    def _cancel(self, handle: ServerGoalHandle) -> None:
        motion = self._goals.get(bytes(handle.goal_id.uuid))
        if motion is not None:
            outcome = Outcome(Ending.CANCELED, SUCCESSFUL, 'cancelled; the joints come to rest')
            self._follower.cancel(motion, outcome)

    def finish(self, handle: ServerGoalHandle, outcome: Outcome) -> None:
        """End a goal; may be called from any thread."""
        self._goals.pop(bytes(handle.goal_id.uuid), None)
        result = self._type.Result(error_code=outcome.code, error_string=outcome.text)
        self._server.finish(handle, outcome.ending, result)

    def feedback(self, handle: ServerGoalHandle, report: Report) -> None:
        """Publish feedback; may be called from any thread."""
        if handle.is_active:
            handle.publish_feedback(feedback_to_ros(self._type.Feedback, report))


class _FollowGoal:
    """One goal as the listener of its trajectory."""

    def __init__(self, action: FollowAction, handle: ServerGoalHandle) -> None:
        self._action = action
        self._handle = handle

    def feedback(self, report: Report) -> None:
        self._action.feedback(self._handle, report)

    def done(self, outcome: Outcome) -> None:
        self._action.finish(self._handle, outcome)
