# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""All that commands one robot: topics and actions, with one arbiter and one set of setpoints."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from urlab_ros_bridge.ros.commands.admission.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.admission.sample_age import SampleAge
from urlab_ros_bridge.ros.commands.gate import Receive
from urlab_ros_bridge.ros.commands.gripper.actions import GripperActions
from urlab_ros_bridge.ros.commands.gripper.gripper import Gripper
from urlab_ros_bridge.ros.commands.gripper.gripper import grippers_of
from urlab_ros_bridge.ros.commands.joint_commands import FIELDS
from urlab_ros_bridge.ros.commands.joint_commands import JointCommands
from urlab_ros_bridge.ros.commands.parameters import CommandParameters
from urlab_ros_bridge.ros.commands.path import CommandPath
from urlab_ros_bridge.ros.commands.setpoints import Setpoints
from urlab_ros_bridge.ros.commands.trajectory import FollowAction
from urlab_ros_bridge.ros.commands.trajectory import Follower
from urlab_ros_bridge.ros.commands.trajectory import TrajectoryTopics
from urlab_ros_bridge.ros.commands.trajectory.action import FOLLOW_JOINT_TRAJECTORY
from urlab_ros_bridge.ros.commands.trajectory.parameters import TrajectoryParameters
from urlab_ros_bridge.ros.commands.velocity import NOBODY
from urlab_ros_bridge.ros.commands.velocity import VelocityCommands
from urlab_ros_bridge.ros.commands.velocity import VelocityParameters
from urlab_ros_bridge.ros.commands.wrench_command import WrenchCommands
from urlab_ros_bridge.ros.features.feed import join
from urlab_ros_bridge.ros.plan.names import ros_name
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.ros.rclpy_tools.compat import find_interface
from urlab_ros_bridge.ros.rclpy_tools.message_info import MessageInfo
from urlab_ros_bridge.ros.rclpy_tools.message_info import WithMessageInfo
from urlab_ros_bridge.ros.rclpy_tools.twist_type import message_type


class RobotCommands:
    """
    The commands of one robot.

    :ivar arbiter: decides which source is in control.
    """

    def __init__(
        self,
        plan: RobotPlan,
        path: CommandPath,
        node: Node,
        stopped: str = '',
    ) -> None:
        """
        Prepare everything that the robot can do; `open` begins to listen.

        :param node: subscribes to the topics, and offers the actions.
        :param stopped: why nothing may move now, empty when all may.
        """
        self.plan = plan
        self.arbiter = Arbiter(path.settings, stopped)
        self._path = path
        self._node = node
        self._subscriptions: list[Subscription] = []
        self._gated: list[str] = []
        self._receivers: list[tuple[type, str, Callable[[Any], None]]] = []
        topic = join(plan.namespace, 'joint_commands')
        self.setpoints = Setpoints(plan, topic, path)
        self._velocity: VelocityCommands | None = None
        self._wrenches: WrenchCommands | None = None
        self._follower: Follower | None = None
        self._topics: TrajectoryTopics | None = None
        self._action: FollowAction | None = None
        self._grippers: list[Gripper] = []
        self._gripper_actions: list[GripperActions] = []
        drives = plan.drives or not path.link.has('twist_timeout')
        if drives and path.settings(VelocityParameters).cmd_vel_type != NOBODY:
            self._offer_velocity()
        if plan.actuators:
            self._offer_joints(topic)
            self._offer_trajectories()
            self._offer_grippers()
        if path.link.has('apply_wrench'):
            self._offer_wrenches()

    def open(self) -> None:
        """Listen; late, because a command that comes before all is ready would be refused."""
        self._offer_actions()
        for kind, topic, receive in self._receivers:
            self._subscriptions.append(
                self._node.create_subscription(
                    kind,
                    topic,
                    receive,
                    qos.command(),
                    qos_overriding_options=qos.overridable(self._node, topic),
                )
            )

    @property
    def wanted(self) -> set[bytes]:
        """Return the prefixes of the wire that are needed now."""
        busy = [each for each in (self._follower, *self._grippers) if each and each.active]
        if not busy:
            return set()
        return {f'{self.plan.prefix}/joint/'.encode(), f'{self.plan.prefix}/effort'.encode()}

    def tick(self, stamp_ns: int, measured: Sequence[np.ndarray] | None) -> None:
        """
        Go on with what is under way.

        :param measured: positions, velocities and efforts of all joints.
        """
        if self._velocity is not None:
            self._velocity.tick(stamp_ns)
        if self._wrenches is not None:
            self._wrenches.tick(stamp_ns)
        self.setpoints.tick(stamp_ns)
        if self._follower is not None and self._topics is not None:
            self._topics.publish_state(self._follower.tick(stamp_ns, measured))
        for gripper in self._grippers:
            gripper.tick(stamp_ns, measured)

    def watch(self) -> None:
        """End what cannot continue because ticks have stopped."""
        problem = self.setpoints.problem()
        if problem:
            self._drop(problem)

    def jump(self, reason: str) -> None:
        """Stop and forget: commands of another time are not for this one."""
        if self._velocity is not None:
            self._velocity.stop()
        self._drop(reason)
        self.arbiter.clear()
        self.setpoints.clear()
        if self._wrenches is not None:
            self._wrenches.clear()
        if self._topics is not None:
            self._topics.clear()

    def halt(self, reason: str) -> None:
        """Stop at once, and refuse commands."""
        self.arbiter.stop(reason)
        self._drop(reason)
        if self._velocity is not None and self._path.link.state.connected:
            self._velocity.halt()
        self.setpoints.freeze()

    def leave(self) -> None:
        """Stop what we move; the bridge ends, or the robot is gone."""
        if self._velocity is not None:
            self._velocity.stop()
        self._drop('the bridge is shutting down')
        self.setpoints.rest()

    def close(self) -> None:
        """Withdraw all topics and actions."""
        for name in self._gated:
            self._path.gate.own.pop(name, None)
        for subscription in self._subscriptions:
            self._path.gate.own.pop(subscription.topic_name, None)
            self._node.destroy_subscription(subscription)
        if self._topics is not None:
            self._topics.close()
        self._close_actions()

    def _drop(self, reason: str) -> None:
        for each in (self._follower, *self._grippers):
            if each is not None:
                each.drop(reason)

    def _offer_velocity(self) -> None:
        self._velocity = VelocityCommands(
            self.plan.prefix,
            join(self.plan.namespace, 'cmd_vel'),
            self._path,
            self.arbiter,
            self.plan.holds_twist,
        )
        kind = message_type(self._path.settings(VelocityParameters).cmd_vel_type)
        self._subscribe(kind, self._velocity.topic, self._velocity.receive)

    def _offer_wrenches(self) -> None:
        self._wrenches = WrenchCommands(
            self.plan,
            join(self.plan.namespace, 'wrench_command'),
            self._path,
            self.arbiter,
        )
        kind, topic = self._wrenches.message_type, self._wrenches.topic
        self._subscribe(kind, topic, self._wrenches.receive)

    def _offer_joints(self, topic: str) -> None:
        joints = JointCommands(topic, self._path, self.setpoints, self.arbiter)
        self._subscribe(JointState, topic, joints.receive)
        for field in FIELDS:
            if joints.indices(field):
                topic = join(self.plan.namespace, f'forward_{field}_controller/commands')
                self._subscribe(Float64MultiArray, topic, joints.forward(field, topic))

    def _offer_trajectories(self) -> None:
        follower = Follower(self.setpoints, self.arbiter, self._path.settings)
        if not follower.joints:
            return
        self._follower = follower
        self._topics = TrajectoryTopics(
            self._node,
            self._controller,
            follower,
            self._path,
        )

    def _offer_grippers(self) -> None:
        handshake = self._path.link.handshake
        for name, joints in grippers_of(self.plan, self._path.settings, handshake).items():
            gripper = Gripper(name, joints, self.setpoints, self.arbiter, self._path.settings)
            if gripper.problem:
                self._path.reject(f'gripper {name}', ValueError(gripper.problem))
            else:
                self._grippers.append(gripper)

    def _offer_actions(self) -> None:
        node = self._node
        if self._follower is not None and find_interface(FOLLOW_JOINT_TRAJECTORY) is not None:
            self._action = FollowAction(
                node,
                f'{self._controller}/follow_joint_trajectory',
                self._follower,
                self._path,
            )
        if find_interface(FOLLOW_JOINT_TRAJECTORY) is not None:
            self._gripper_actions = [
                GripperActions(
                    node,
                    join(self.plan.namespace, ros_name(gripper.name)),
                    gripper,
                    self._path,
                )
                for gripper in self._grippers
            ]

    def _close_actions(self) -> None:
        for action in (self._action, *self._gripper_actions):
            if action is not None:
                action.close()

    @property
    def _controller(self) -> str:
        return join(
            self.plan.namespace, self._path.settings(TrajectoryParameters).trajectory_controller
        )

    def _subscribe(self, kind: type, topic: str, receive: Receive) -> None:
        name = self._node.resolve_topic_name(topic)
        self._gated.append(name)
        take = self._path.gate.wrap(name, kind, receive)
        ages = SampleAge(lambda: self._node.count_publishers(name))

        def judge(message: Any, info: MessageInfo) -> None:
            take(
                message, ages.problem(info, self._path.settings(CommandParameters).command_max_age)
            )

        self._receivers.append((kind, topic, WithMessageInfo(judge)))
