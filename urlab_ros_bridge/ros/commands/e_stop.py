# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The e-stop: while it is engaged, the bridge holds the robots and rejects commands.

Only commands through the bridge are stopped, not those of direct clients of the server.
"""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from std_msgs.msg import Bool

from urlab_ros_bridge.ros.commands.commands import Commands
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.rclpy_tools import qos

TOPIC = 'e_stop/active'
REASON = 'the e-stop is engaged'


class EStop(Part):
    """The state of the e-stop, also for late subscribers of ``e_stop/active``."""

    def __init__(self, node: Node, commands: Commands, log: Callable[[str, str], None]) -> None:
        self._commands = commands
        self._log = log
        self._publisher = node.create_publisher(
            Bool, TOPIC, qos.latched(), qos_overriding_options=qos.overridable(node, TOPIC)
        )

    def start(self) -> None:
        """Publish the state for the first time."""
        self._publisher.publish(Bool(data=self.engaged))

    @property
    def engaged(self) -> bool:
        """Return whether it is engaged."""
        return bool(self._commands.stopped)

    def set(self, engaged: bool) -> str:
        """
        Engage or release it; may be called from any thread, and again.

        Engaging: the base is commanded to rest, goals are aborted, joints that move are held where
        they are, speeds and forces become zero.  Releasing starts nothing again.

        :return: what happened, in words.
        """
        was = self.engaged
        if engaged:
            self._commands.halt(REASON)
        else:
            self._commands.resume()
        self._publisher.publish(Bool(data=engaged))
        text = 'engaged; all commands are refused' if engaged else 'released'
        if was != engaged:
            self._log('warning' if engaged else 'info', f'e-stop {text}')
        return text


ACTIVE = Topic(TOPIC, ('std_msgs/msg/Bool',), 'latched', '', 'on change')


def attach(bridge: Bridge) -> Part:
    """Make the e-stop."""
    return EStop(bridge.node, bridge.part(Commands), bridge.log)


FEATURE = Feature('e-stop', topics=(ACTIVE,), attach=attach)
