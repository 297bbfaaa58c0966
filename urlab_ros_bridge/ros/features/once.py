# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that are published once, or when they change, and kept for late subscribers."""

from __future__ import annotations

from functools import partial
import threading
from typing import Any

from rclpy.node import Node

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.stream_tasks import StreamTasks
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan


class OnceTopics:
    """
    The topics of such messages, outside of the feeds of a world; for any thread.

    A topic is made with its first message.  That of a robot goes with the robot.
    """

    def __init__(self, node: Node, tasks: StreamTasks) -> None:
        self._node, self._tasks = node, tasks
        self._publishers = Publishers(node)
        self._robots: dict[str, RobotPlan | None] = {}  # by name of the topic
        self._lock = threading.Lock()

    def make(self, topic: Topic, robot: RobotPlan | None) -> str:
        """
        Make a topic before its first message, and return its name.

        :raises InterfaceMissing: when the package of its type is not installed.
        """
        name = topic.named('' if robot is None else robot.namespace)
        with self._lock:
            self._publishers.of(topic, name)
            self._robots[name] = robot
        return name

    def publish(self, topic: Topic, message: Any, robot: RobotPlan | None) -> None:
        """
        Publish a message, between two ticks; in the stream thread at once.

        :raises InterfaceMissing: as by `make`.
        """
        send = partial(self._send, topic, self.make(topic, robot), message)
        if threading.current_thread() is self._tasks.thread:
            send()
        else:
            self._tasks.put(send)

    def keep(self, plan: WorldPlan) -> None:
        """Withdraw the topics of robots that are not in a plan."""
        spaces = {robot.namespace for robot in plan.robots}
        with self._lock:
            kept = Publishers(self._node, self._publishers)
            self._robots = {
                name: robot
                for name, robot in self._robots.items()
                if robot is None or robot.namespace in spaces
            }
            kept.adopt(self._robots)
            self._publishers.close(kept)
            self._publishers = kept

    def _send(self, topic: Topic, name: str, message: Any) -> None:
        with self._lock:  # its robot may be gone
            if name in self._robots:
                self._publishers.of(topic, name).publish(message)
