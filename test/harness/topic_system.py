# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What JointStateTopicSystem of ros2_control sends and reads, without ros2_control.

It publishes the commands of all joints of its block in one message, with values for the command
interfaces that the block declares, while these differ from the states by more than a threshold of
the block.  It refuses values for state interfaces that the block does not declare, as ros2_control
does.
"""

import math
import xml.etree.ElementTree as ElementTree

from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from waiting import wait_until

FIELDS = ('position', 'velocity', 'effort')
PLUGIN = 'joint_state_topic_hardware_interface/JointStateTopicSystem'
THRESHOLD = 1e-5


class UndeclaredInterface(KeyError):
    """A message has a value for a state interface that is not in the block."""


class Block:
    """
    A ``<ros2_control>`` block.

    :ivar commands, states: (joint, interface) -> value, NaN until it is written.
    """

    def __init__(self, joints, topics=(), threshold=THRESHOLD):
        """
        Start without values.

        :param joints: (name, command interfaces, state interfaces).
        :param topics: those of commands and of states.
        :param threshold: sum of differences that is not worth a message.
        """
        self.joints = tuple(joints)
        self.topics = tuple(topics)
        self.threshold = threshold
        self.commands = {(n, each): math.nan for n, given, _ in self.joints for each in given}
        self.states = {(n, each): math.nan for n, _, given in self.joints for each in given}

    @classmethod
    def of(cls, description):
        """Read the block of a robot_description for this plugin."""
        (element,) = [
            each
            for each in ElementTree.fromstring(description).iter('ros2_control')
            if each.findtext('hardware/plugin') == PLUGIN
        ]
        given = {each.get('name'): each.text for each in element.iter('param')}
        joints = [
            (
                joint.get('name'),
                [each.get('name') for each in joint.iter('command_interface')],
                [each.get('name') for each in joint.iter('state_interface')],
            )
            for joint in element.iter('joint')
        ]
        return cls(
            joints,
            (given['joint_commands_topic'], given['joint_states_topic']),
            float(given.get('trigger_joint_command_threshold', THRESHOLD)),
        )

    def message(self):
        """Return what a cycle sends, None when the robot is where it should be."""
        # The sum with NaN is NaN, which is not below the threshold.
        error = sum(
            abs(self.states.get(key, math.nan) - value) for key, value in self.commands.items()
        )
        if error <= self.threshold:
            return None
        message = JointState(name=[name for name, _, _ in self.joints])
        for name, given, _ in self.joints:
            for each in given:
                getattr(message, each).append(self.commands[name, each])
        return message

    def take(self, message):
        """
        Take the states of a message.

        :raises UndeclaredInterface: for a value without its state interface.
        """
        known = {name for name, _, _ in self.joints}
        for field in FIELDS:
            for name, value in zip(message.name, getattr(message, field), strict=False):
                if name not in known or not math.isfinite(value):
                    continue
                if (name, field) not in self.states:
                    raise UndeclaredInterface(f'{name}/{field}')
                self.states[name, field] = value


class TopicSystem:
    """A block on the topics of a node; `cycle` is one of the controller manager."""

    def __init__(self, node: Node, block: Block):
        self.block = block
        self.received, self.problems = 0, []
        commands, states = block.topics
        self.node = node
        self.publisher = node.create_publisher(JointState, commands, QoSProfile(depth=1))
        self.subscription = node.create_subscription(
            JointState, states, self._take, qos_profile_sensor_data
        )

    def _take(self, message):
        self.received += 1
        try:
            self.block.take(message)
        except UndeclaredInterface as error:
            self.problems.append(error)

    def cycle(self):
        """Send the commands, where they differ from the states."""
        message = self.block.message()
        if message is not None:
            message.header.stamp = self.node.get_clock().now().to_msg()
            self.publisher.publish(message)

    def cycle_until(self, condition):
        """Send as a controller manager does until a condition holds."""
        wait_until(lambda: self.cycle() or condition())
