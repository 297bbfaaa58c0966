# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The intake of commands: what happens to each message between its topic and its `receive`.

It is recorded if a bag wants it, held if lockstep awaits its topic, judged by its age, and carried
out; why it is rejected is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from typing import Protocol

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.admission import staleness
from urlab_ros_bridge.ros.commands.context import CommandContext
from urlab_ros_bridge.ros.commands.context import CommandParameters
from urlab_ros_bridge.ros.features.taps import Tap
from urlab_ros_bridge.ros.features.taps import taps_of
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.ros.rclpy_tools.message_info import message_and_info
from urlab_ros_bridge.ros.rclpy_tools.message_info import TakesMessageInfo


class CarryOut(Protocol):
    """Carries out a command of a topic or action; returns why it was rejected."""

    def __call__(
        self, name: str, command: Callable[..., object], *arguments: Any
    ) -> CommandRejected | None: ...


class Intake(TakesMessageInfo, Tap):
    """The intake of one topic: the callback of its subscription, and its tap."""

    def __init__(
        self,
        name: str,
        kind: type[Any],
        profile: qos.Profile,
        context: CommandContext,
        carry_out: CarryOut,
        receive: Callable[[Any, str], None],
    ) -> None:
        """
        Subscribe; messages may arrive before this returns.

        :param carry_out: that of the robot.
        :param receive: takes a message, and why it is stale, empty when it is not.
        """
        node = context.node
        self._name, self.topic_name = name, node.resolve_topic_name(name)
        self._context = context
        self._carry_out, self._receive = carry_out, receive
        context.gate.command_topics.add(self.topic_name)
        self._subscription = node.create_subscription(
            kind, name, self, profile(), qos_overriding_options=qos.overridable(node, name)
        )
        Tap.__init__(self, self._subscription)
        taps_of(node).add(self)

    def __call__(self, *arguments: Any) -> None:
        """Take a message from rclpy."""
        message, info = message_and_info(arguments)
        if self.sink is not None:
            self.sink.add_received(message)
        # An answer belongs to its instant, whatever its age in wall time.
        if not self._context.gate.hold(self.topic_name, message, self.carry_out):
            limit = self._context.settings(CommandParameters).command_max_age
            self.carry_out(message, staleness(info, limit))

    def carry_out(self, message: Any, stale: str = '') -> None:
        """Carry out a message; `stale`: why it is too old, empty when it is not."""
        self._carry_out(self._name, self._receive, message, stale)

    def close(self) -> None:
        """Unsubscribe."""
        node = self._context.node
        self._context.gate.command_topics.discard(self.topic_name)
        taps_of(node).discard(self)
        node.destroy_subscription(self._subscription)
