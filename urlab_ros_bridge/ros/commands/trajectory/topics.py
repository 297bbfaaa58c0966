# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The topics of one robot's trajectories: one to command, one that reports the state."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher
from trajectory_msgs.msg import JointTrajectory

from urlab_ros_bridge.ros.commands.admission.limits import CommandRejected
from urlab_ros_bridge.ros.commands.path import CommandPath
from urlab_ros_bridge.ros.commands.trajectory.follower import Follower
from urlab_ros_bridge.ros.commands.trajectory.goal import BadGoal
from urlab_ros_bridge.ros.commands.trajectory.goal import SUCCESSFUL
from urlab_ros_bridge.ros.commands.trajectory.messages import state_to_ros
from urlab_ros_bridge.ros.commands.trajectory.motion import Outcome
from urlab_ros_bridge.ros.commands.trajectory.motion import Report
from urlab_ros_bridge.ros.commands.trajectory.tolerances import no_tolerances
from urlab_ros_bridge.ros.features.feed import RateLimiter
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.ros.rclpy_tools.actions import Ending
from urlab_ros_bridge.ros.rclpy_tools.compat import find_interface

CONTROLLER_STATE = 'control_msgs/msg/JointTrajectoryControllerState'
STATE_RATE = 50.0  # Hz of simulation time, as joint_trajectory_controller


class TrajectoryTopics:
    """
    Below the name of the controller: ``joint_trajectory`` and ``controller_state``.

    A trajectory without points stops what is under way, as with joint_trajectory_controller.
    """

    def __init__(
        self,
        node: Node,
        name: str,
        follower: Follower,
        path: CommandPath,
    ) -> None:
        self.topic = f'{name}/joint_trajectory'
        self._node = node
        self._follower = follower
        self._path = path
        self._limiter = RateLimiter(STATE_RATE)
        self._subscription = node.create_subscription(
            JointTrajectory,
            self.topic,
            path.gate.wrap(node.resolve_topic_name(self.topic), JointTrajectory, self.receive),
            qos.command(),
            qos_overriding_options=qos.overridable(node, self.topic),
        )
        self._state_type = find_interface(CONTROLLER_STATE)
        self._state: Publisher | None = None
        if self._state_type is not None:
            state_topic = f'{name}/controller_state'
            self._state = node.create_publisher(
                self._state_type,
                state_topic,
                qos.sensor(),
                qos_overriding_options=qos.overridable(node, state_topic),
            )

    def receive(self, message: Any, stale: str = '') -> None:
        """Take a trajectory: a goal, and so of any age."""
        follower = self._follower
        if not message.points:
            follower.cancel(
                None,
                Outcome(Ending.ABORTED, SUCCESSFUL, 'stopped by an empty trajectory on the topic'),
            )
            return
        try:
            path = follower.read(message)
            free = no_tolerances(len(path.joints))
            follower.start(path, free, None, self._path.now_ns)
        except (BadGoal, CommandRejected) as error:
            self._path.reject(self.topic, error)

    def publish_state(self, report: Report | None) -> None:
        """Publish the state while a trajectory is followed and there is a subscriber."""
        if report is None or self._state is None or not self._limiter.due(report.stamp_ns):
            return
        self._limiter.count(report.stamp_ns)
        if self._state.get_subscription_count():
            self._state.publish(state_to_ros(self._state_type, report))

    def clear(self) -> None:
        """Forget the time before a jump."""
        self._limiter.clear()

    def close(self) -> None:
        """Withdraw the topics."""
        self._path.gate.own.pop(self._subscription.topic_name, None)
        self._node.destroy_subscription(self._subscription)
        if self._state is not None:
            self._node.destroy_publisher(self._state)
