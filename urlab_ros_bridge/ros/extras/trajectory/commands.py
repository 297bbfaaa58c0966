# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories of one robot: a topic and an action to command, and a topic for the state."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.goal_action import Goal
from urlab_ros_bridge.ros.commands.goal_action import GoalAction
from urlab_ros_bridge.ros.commands.robot import CommandedRobot
from urlab_ros_bridge.ros.extras.trajectory.follower import Follower
from urlab_ros_bridge.ros.extras.trajectory.follower import Outcome
from urlab_ros_bridge.ros.extras.trajectory.follower import Report
from urlab_ros_bridge.ros.extras.trajectory.follower import TrajectoryMotion
from urlab_ros_bridge.ros.extras.trajectory.goal import BadGoal
from urlab_ros_bridge.ros.extras.trajectory.goal import INVALID_GOAL
from urlab_ros_bridge.ros.extras.trajectory.goal import no_tolerances
from urlab_ros_bridge.ros.extras.trajectory.goal import OLD_HEADER_TIMESTAMP
from urlab_ros_bridge.ros.extras.trajectory.goal import Path
from urlab_ros_bridge.ros.extras.trajectory.goal import read_tolerances
from urlab_ros_bridge.ros.extras.trajectory.goal import SUCCESSFUL
from urlab_ros_bridge.ros.extras.trajectory.goal import Tolerances
from urlab_ros_bridge.ros.extras.trajectory.messages import feedback_to_ros
from urlab_ros_bridge.ros.extras.trajectory.messages import state_to_ros
from urlab_ros_bridge.ros.extras.trajectory.parameters import TrajectoryParameters
from urlab_ros_bridge.ros.features.declarations import RosAction
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Command
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.feed import RateLimiter
from urlab_ros_bridge.ros.plan.parameters import Ros2ControlParameters
from urlab_ros_bridge.ros.rclpy_tools.actions import Ending
from urlab_ros_bridge.ros.rclpy_tools.compat import find_interface
from urlab_ros_bridge.wire.stamp import NANOSECONDS

STATE_RATE = 50.0  # Hz of simulation time, as joint_trajectory_controller


_WHEN = 'actuators that follow trajectories, without ros2_control'
FOLLOW = RosAction(
    '{robot}/{trajectory_controller}/follow_joint_trajectory',
    'control_msgs/action/FollowJointTrajectory',
    _WHEN,
)


class TrajectoryCommands(Command):
    """
    Everything below the name of the controller.

    A trajectory without points stops the active one, as with joint_trajectory_controller.
    """

    def __init__(self, robot: CommandedRobot, follower: Follower) -> None:
        self._robot = robot
        self._follower = follower
        self._limiter = RateLimiter(STATE_RATE)
        self._publishers = Publishers(robot.context.node)
        parts = {
            'trajectory_controller': robot.settings(TrajectoryParameters).trajectory_controller
        }
        self._action: FollowAction | None = None
        if find_interface(FOLLOW.type_name) is not None:
            self._action = FollowAction(robot, parts, follower)
            self._state = self._publishers.of(STATE, STATE.named(robot.plan.namespace, parts))
        robot.subscribe(TRAJECTORY, self.receive, parts=parts)

    @property
    def active(self) -> bool:
        """Whether a trajectory is active or pending."""
        return self._follower.active

    def receive(self, message: Any, stale: str) -> None:
        """Follow a trajectory: a goal, and so of any age."""
        follower = self._follower
        if not message.points:
            text = 'stopped by an empty trajectory on the topic'
            follower.cancel(None, Outcome(Ending.ABORTED, SUCCESSFUL, text))
            return
        path = follower.read(message)
        follower.start(path, no_tolerances(len(path.joints)), None, self._robot.context.now_ns)

    def tick(self, stamp_ns: int, joints: Sequence[np.ndarray] | None) -> None:
        """Advance, and publish the state if it has subscribers."""
        report = self._follower.tick(stamp_ns, joints)
        if report is None or self._action is None or not self._limiter.due(stamp_ns):
            return
        self._limiter.count(stamp_ns)
        if self._state.get_subscription_count():
            self._state.publish(state_to_ros(self._state.msg_type, report))

    def drop(self, reason: str) -> None:
        """Abort all trajectories."""
        self._follower.drop(reason)

    def jump(self, reason: str) -> None:
        """Abort all trajectories, and forget the time of the last state."""
        self._follower.drop(reason)
        self._limiter.clear()

    def close(self) -> None:
        """Withdraw action and topic."""
        if self._action is not None:
            self._action.close()
        self._publishers.close()


class FollowAction(GoalAction):
    """
    FollowJointTrajectory.

    A goal that cannot be followed is accepted and aborted at once, because only a result can tell
    a client why; with the parameter `reject_bad_goals` it is rejected instead.
    """

    declared = FOLLOW

    def __init__(
        self, robot: CommandedRobot, parts: Mapping[str, str], follower: Follower
    ) -> None:
        self._follower = follower
        super().__init__(robot, parts)

    def check(self, request: Any) -> None:
        if self._robot.settings(TrajectoryParameters).reject_bad_goals:
            self._read(request)

    def start(self, request: Any, goal: Goal) -> TrajectoryMotion:
        path, tolerances = self._read(request)
        return self._follower.start(path, tolerances, goal, self._robot.context.now_ns)

    def cancel(self, task: TrajectoryMotion) -> None:
        outcome = Outcome(Ending.CANCELED, SUCCESSFUL, 'cancelled; the joints come to rest')
        self._follower.cancel(task, outcome)

    def refused(self, error: CommandRejected) -> Outcome:
        code = error.code if isinstance(error, BadGoal) else INVALID_GOAL
        return Outcome(Ending.ABORTED, code, str(error))

    def feedback(self, moment: Report) -> Any:
        return feedback_to_ros(self.type.Feedback, moment)

    def result(self, end: Outcome) -> Any:
        return self.type.Result(error_code=end.code, error_string=end.text)

    def _read(self, goal: Any) -> tuple[Path, Tolerances]:
        if goal.multi_dof_trajectory.joint_names or goal.multi_dof_trajectory.points:
            raise BadGoal(INVALID_GOAL, 'multi-DOF joints are not supported')
        path, now_ns = self._follower.read(goal.trajectory), self._robot.context.now_ns
        if path.start_ns and path.start_ns + path.duration_ns < now_ns:
            late = (now_ns - path.start_ns - path.duration_ns) / NANOSECONDS
            raise BadGoal(
                OLD_HEADER_TIMESTAMP,
                f'the last point was due {late:.3f} s ago in simulation time',
            )
        defaults = self._robot.settings(TrajectoryParameters)
        return path, read_tolerances(goal, path.joints, defaults, self._robot.plan.prefix)


def commands(robot: CommandedRobot) -> list[Command]:
    """Make the trajectories of a robot whose actuators follow them, without ros2_control."""
    if robot.settings(Ros2ControlParameters).ros2_control:
        return []
    follower = Follower(robot.setpoints, robot.arbiter, robot.settings)
    return [TrajectoryCommands(robot, follower)] if follower.joints else []


STATE = Topic(
    '{robot}/{trajectory_controller}/controller_state',
    ('control_msgs/msg/JointTrajectoryControllerState',),
    'sensor',
    when=_WHEN,
    timing='50 Hz while a trajectory is followed',
)
TRAJECTORY = Topic(
    '{robot}/{trajectory_controller}/joint_trajectory',
    ('trajectory_msgs/msg/JointTrajectory',),
    'command',
    when=_WHEN,
    incoming=True,
)
FEATURE = Feature(
    'trajectories',
    TrajectoryParameters,
    group='Trajectories and control',
    topics=(STATE, TRAJECTORY),
    actions=(FOLLOW,),
    commands=commands,
)
