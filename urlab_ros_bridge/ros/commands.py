# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The subscriptions for commands of all robots."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from urlab_ros_bridge.ros import qos
from urlab_ros_bridge.ros.articulation import join
from urlab_ros_bridge.ros.connection import Link
from urlab_ros_bridge.ros.joint_commands import JointCommands
from urlab_ros_bridge.ros.plan import WorldPlan
from urlab_ros_bridge.ros.refusals import Refusals
from urlab_ros_bridge.ros.reset import Timeline
from urlab_ros_bridge.ros.sender import CommandSender
from urlab_ros_bridge.ros.settings import Settings
from urlab_ros_bridge.ros.velocity import message_type
from urlab_ros_bridge.ros.velocity import VelocityCommands
from urlab_ros_bridge.wire.errors import UrlabError


class Commands:
    """
    Subscribes to the commands of every robot, and stops robots that are left alone.

    :ivar refusals: what was not carried out.
    """

    def __init__(
        self,
        node: Node,
        link: Link,
        timeline: Timeline,
        settings: Callable[[], Settings],
        log: Callable[[str, str], None],
    ) -> None:
        self.refusals = Refusals(log)
        self.sender = CommandSender(self._failed)
        self._node = node
        self._link = link
        self._timeline = timeline
        self._settings = settings
        self._subscriptions: list[Subscription] = []
        self._velocities: tuple[VelocityCommands, ...] = ()
        self._joints: tuple[JointCommands, ...] = ()

    def apply(self, plan: WorldPlan) -> None:
        """Subscribe to the commands of these robots, and to no others."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()
        settings = self._settings()
        velocities, joints = [], []
        for robot in plan.robots:
            if robot.drives or not self._link.has('twist_timeout'):
                topic = join(robot.namespace, 'cmd_vel')
                commands = VelocityCommands(
                    robot.prefix,
                    topic,
                    self._link,
                    self.sender,
                    self._timeline,
                    self.refusals,
                    self._settings,
                )
                velocities.append(commands)
                self._subscribe(message_type(settings.cmd_vel_type), topic, commands.receive)
            if robot.actuators:
                topic = join(robot.namespace, 'joint_commands')
                command = JointCommands(robot, topic, self._link, self.sender, self.refusals)
                joints.append(command)
                self._subscribe(JointState, topic, command.receive)
        self._velocities, self._joints = tuple(velocities), tuple(joints)

    def tick(self, stamp_ns: int) -> None:
        """Watch the timeouts; called by the stream thread after every tick."""
        for velocity in self._velocities:
            velocity.tick(stamp_ns)

    def jump(self) -> None:
        """Stop and forget: commands of another time are not for this one."""
        for velocity in self._velocities:
            velocity.stop()
        for joint in self._joints:
            joint.clear()

    def stop(self) -> None:
        """Stop the robots that we move, then the sender."""
        for velocity in self._velocities:
            velocity.stop()
        self.sender.stop()

    def _subscribe(self, kind: type, topic: str, receive: Callable) -> None:
        self._subscriptions.append(
            self._node.create_subscription(
                kind, topic, receive, qos.command(), qos_overriding_options=qos.overridable()
            )
        )

    def _failed(self, topic: str, error: UrlabError) -> None:
        self.refusals.add(topic, error)
