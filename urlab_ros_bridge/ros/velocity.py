# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""cmd_vel of one robot: checked, limited, and stopped when no new one comes."""

from __future__ import annotations

from collections.abc import Callable
import os
from typing import Any

from geometry_msgs.msg import Twist
from geometry_msgs.msg import TwistStamped

from urlab_ros_bridge.ros.arbitration import Arbiter
from urlab_ros_bridge.ros.arbitration import BASE
from urlab_ros_bridge.ros.arbitration import CMD_VEL
from urlab_ros_bridge.ros.connection import Link
from urlab_ros_bridge.ros.limits import check_age
from urlab_ros_bridge.ros.limits import limited
from urlab_ros_bridge.ros.limits import Refused
from urlab_ros_bridge.ros.limits import STOP
from urlab_ros_bridge.ros.limits import Velocity
from urlab_ros_bridge.ros.refusals import Refusals
from urlab_ros_bridge.ros.reset import Timeline
from urlab_ros_bridge.ros.sender import CommandSender
from urlab_ros_bridge.ros.settings import Settings
from urlab_ros_bridge.wire.stamp import NANOSECONDS

# Distributions whose Nav2 and teleop tools send plain Twist unless told otherwise.
_PLAIN_TWIST = ('foxy', 'galactic', 'humble', 'iron', 'jazzy')


def message_type(setting: str, distribution: str | None = None) -> type:
    """
    Return the type of cmd_vel.

    :param setting: auto, twist or twist_stamped.
    :param distribution: ROS distribution for auto; None: ROS_DISTRO, else what rclpy tells.
    """
    if setting == 'auto':
        known = distribution or os.environ.get('ROS_DISTRO') or _installed_distribution()
        return Twist if known in _PLAIN_TWIST else TwistStamped
    return Twist if setting == 'twist' else TwistStamped


def _installed_distribution() -> str:
    """Tell Jazzy from later ones where no ROS environment is sourced: by the parameter API."""
    from importlib import metadata

    try:
        major = int(metadata.version('ros-rclpy').partition('.')[0])
    except (metadata.PackageNotFoundError, ValueError):
        return ''
    return 'jazzy' if major <= 7 else ''


class VelocityCommands:
    """Commands for one robot; messages come in the executor's thread, ticks in the stream's."""

    def __init__(
        self,
        prefix: str,
        topic: str,
        link: Link,
        sender: CommandSender,
        timeline: Timeline,
        refusals: Refusals,
        settings: Callable[[], Settings],
        arbiter: Arbiter,
    ) -> None:
        self.topic = topic
        self._arbiter = arbiter
        self._prefix = prefix
        self._link = link
        self._sender = sender
        self._timeline = timeline
        self._refusals = refusals
        self._settings = settings
        # Simulation time of the last command while the robot may be moving, else None.
        self._moving_since: int | None = None

    def receive(self, message: Any) -> None:
        """Take a Twist or TwistStamped."""
        settings = self._settings()
        try:
            if not self._link.state.open:
                raise Refused('not connected')
            twist = message
            if isinstance(message, TwistStamped):
                stamp, twist = message.header.stamp, message.twist
                check_age(
                    stamp.sec * NANOSECONDS + stamp.nanosec,
                    self._timeline.stamp_ns,
                    settings.cmd_vel_max_age,
                )
            linear, angular = twist.linear, twist.angular
            velocity = limited(
                (linear.x, linear.y, linear.z),
                (angular.x, angular.y, angular.z),
                settings.max_linear_speed,
                settings.max_angular_speed,
            )
            now_ns = self._timeline.stamp_ns or 0
            self._arbiter.claim(CMD_VEL, (BASE,), now_ns, self.lost)
        except Refused as error:
            self._refusals.add(self.topic, error)
            return
        self._moving_since = None if velocity == STOP else self._timeline.stamp_ns or 0
        self._send(velocity)

    def tick(self, stamp_ns: int) -> None:
        """Stop the robot when its last command is too old, on servers that do not do it."""
        since = self._moving_since
        if since is None or stamp_ns - since < self._settings().cmd_vel_timeout * NANOSECONDS:
            return
        self._moving_since = None
        if not self._link.has('twist_timeout'):
            self._send(STOP)

    def lost(self, by: str) -> None:
        """Stop because another source took the base."""
        self.stop()

    def halt(self) -> None:
        """Stop the robot, whoever made it move."""
        self._moving_since = None
        self._send(STOP)

    def stop(self) -> None:
        """Stop the robot if a command of ours may move it."""
        if self._moving_since is not None:
            self._moving_since = None
            self._send(STOP)

    def _send(self, velocity: Velocity) -> None:
        timeout = None
        if self._link.has('twist_timeout') and velocity != STOP:
            timeout = self._settings().cmd_vel_timeout

        def action() -> None:
            self._link.commands.set_twist(self._prefix, velocity.linear, velocity.angular, timeout)

        self._sender.put(self.topic, action)
