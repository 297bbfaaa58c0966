# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
cmd_vel of one robot: checked, limited, and stopped when no new one comes.

A message takes six steps: the subscription (`CommandedRobot.subscribe`), which also finds out its
age; then, in `receive`, limit, admit, claim, and put: the newest one waits for the thread of the
sender; there it is sent as set_twist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.commands.admission import check_age
from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.admission import limited
from urlab_ros_bridge.ros.commands.admission import STOP
from urlab_ros_bridge.ros.commands.admission import Velocity
from urlab_ros_bridge.ros.commands.arbitration import BASE
from urlab_ros_bridge.ros.commands.arbitration import CommandSource
from urlab_ros_bridge.ros.commands.robot import CommandedRobot
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Command
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.link.connection import MIN_WALL_AGE
from urlab_ros_bridge.ros.messages.stamps import stamp_of
from urlab_ros_bridge.ros.rclpy_tools.twist_type import message_type
from urlab_ros_bridge.ros.rclpy_tools.twist_type import TWIST_TYPES
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.stamp import NANOSECONDS

# The value of cmd_vel_type with which the bridge leaves cmd_vel to others.
NOBODY = 'none'


@dataclass(frozen=True)
class VelocityParameters:
    """Type, age and limits of velocity commands."""

    cmd_vel_type: str = key(
        'auto',
        'Message type of cmd_vel. "auto": twist on Jazzy and older, else twist_stamped. "none": '
        'the bridge does not subscribe, because a policy does.',
        choices=(*TWIST_TYPES, NOBODY),
    )
    cmd_vel_needs_drive: bool = key(
        True,
        'Refuse cmd_vel for a robot without a drive: nothing would move. false: pass it on, for a '
        'policy that reads the twist from the server.',
        live=True,
    )
    cmd_vel_timeout: float = key(
        0.5,
        'The robot stops when no cmd_vel arrives for this long (s of simulation time; while that '
        'is frozen, of wall time).',
        low=0.01,
        high=60.0,
        live=True,
    )
    cmd_vel_max_age: float = key(
        0.5,
        'Largest accepted difference between the stamp of a cmd_vel and simulation time, or the '
        'wall clock, past or future (s); 0: no limit. A zero stamp is always accepted.',
        low=0.0,
        high=3600.0,
        live=True,
    )
    max_linear_speed: float = key(
        0.0,
        "Limit for the linear speed of cmd_vel (m/s), 0: only the server's limit.",
        low=0.0,
        high=1000.0,
        live=True,
    )
    max_angular_speed: float = key(
        0.0,
        "Limit for the yaw rate of cmd_vel (rad/s), 0: only the server's limit.",
        low=0.0,
        high=1000.0,
        live=True,
    )


CMD_VEL = CommandSource(
    'cmd_vel', 10, lambda settings: settings(VelocityParameters).cmd_vel_timeout
)


def cmd_vel_value(type_name: str) -> str:
    """
    Return the value of `cmd_vel_type` with which messages of a type are taken; empty for others.

    >>> cmd_vel_value('geometry_msgs/msg/TwistStamped')
    'twist_stamped'
    """
    values = dict(zip(CMD_VEL_TOPIC.types, ('twist', 'twist_stamped'), strict=True))
    return values.get(type_name, '')


NO_DRIVE = (
    '{} has no drive: the server would only keep the twist. Describe the drive in its sidecar '
    '(twist: kind differential, omni, planar or trot), or set cmd_vel_needs_drive to false for a '
    'policy that reads the twist from the server'
)


class VelocityCommands(Command):
    """Commands for the base of one robot."""

    def __init__(self, robot: CommandedRobot) -> None:
        self._robot = robot
        self._link, self._context = robot.link, robot.context
        # Simulation time of the last command while the robot may be moving, else None.
        self._moving_since: int | None = None
        # Wall time at which that command arrived (s).
        self._received = -math.inf
        kind = message_type(robot.settings(VelocityParameters).cmd_vel_type)
        self._topic = CMD_VEL_TOPIC.named(robot.plan.namespace)
        robot.subscribe(CMD_VEL_TOPIC, self.receive, message_type=kind)

    def receive(self, message: Any, stale: str) -> None:
        """
        Carry out a Twist or TwistStamped.

        :param stale: why it is too old, empty when it is not.
        :raises CommandRejected: when it is not carried out.
        """
        options, now_ns = self._robot.settings(VelocityParameters), self._context.now_ns
        twist = getattr(message, 'twist', message)
        linear, angular = ((part.x, part.y, part.z) for part in (twist.linear, twist.angular))
        velocity = limited(linear, angular, options.max_linear_speed, options.max_angular_speed)
        self._admit(velocity, stamp_of(message), stale)
        self._robot.arbiter.claim(CMD_VEL, (BASE,), now_ns, self.stop)
        self._moving_since = None if velocity == STOP else now_ns
        self._received = self._context.monotonic()
        self._put(velocity)

    def _admit(self, velocity: Velocity, stamp_ns: int, stale: str) -> None:
        robot, options = self._robot, self._robot.settings(VelocityParameters)
        robot.admit(velocity != STOP, stale)
        check_age(stamp_ns, self._context.timeline.stamp_ns, options.cmd_vel_max_age)
        if robot.plan.holds_twist and options.cmd_vel_needs_drive:
            raise CommandRejected(NO_DRIVE.format(robot.plan.prefix), lasting=True)

    def tick(self, stamp_ns: int, joints: Sequence[np.ndarray] | None) -> None:
        """Stop the robot when its last command is too old."""
        since = self._moving_since  # the executor may stop the robot at any time
        if since is None:
            return
        timeout = self._robot.settings(VelocityParameters).cmd_vel_timeout
        if stamp_ns - since >= timeout * NANOSECONDS:
            self._moving_since = None
            if not self._link.has('twist_timeout'):
                self._put(STOP)
        elif not self._in_lockstep and self._frozen_seconds() > max(timeout, MIN_WALL_AGE):
            # The server cannot know that no one repeats the command.
            self.stop()

    @property
    def _in_lockstep(self) -> bool:
        return self._context.stepping.in_lockstep

    def _frozen_seconds(self) -> float:
        """Return for how long time has been frozen, since the last command at most."""
        return self._context.monotonic() - max(self._received, self._context.timeline.last_advance)

    def halt(self, reason: str) -> None:
        """Stop the robot, whatever made it move."""
        self._moving_since = None
        if self._link.state.connected:
            self._put(STOP)

    def jump(self, reason: str) -> None:
        """Stop the robot if a command of this topic may move it."""
        self.stop()

    def stop(self, by: str = '') -> None:
        """Stop the robot if a command of this topic may move it; `by`: which source took it."""
        if self._moving_since is not None:
            self._moving_since = None
            self._put(STOP)

    def _put(self, velocity: Velocity) -> None:
        """Queue a velocity for the server, in place of one that still waits."""
        link, prefix = self._link, self._robot.plan.prefix
        lifetime = self._robot.settings(VelocityParameters).cmd_vel_timeout
        moves = velocity != STOP
        timeout = lifetime if moves and link.has('twist_timeout') else None
        # In lockstep a command answers one state; after a reset there is another one.
        is_bound = moves and self._in_lockstep and link.has('reset_count')
        resets = self._context.timeline.resets if is_bound else None

        def set_twist() -> None:
            wall = link.wall_age(lifetime) if moves else None
            link.command_client.set_twist(
                prefix, velocity.linear, velocity.angular, timeout, wall=wall, resets=resets
            )

        max_wait = max(lifetime, MIN_WALL_AGE) if moves and not self._in_lockstep else math.inf
        self._context.sender.put(self._topic, set_twist, max_wait)


def commands(robot: CommandedRobot) -> list[Command]:
    """Make cmd_vel for a robot that may be driven, unless a policy takes it."""
    drives = robot.plan.drives or not robot.link.has('twist_timeout')
    is_offered = drives and robot.settings(VelocityParameters).cmd_vel_type != NOBODY
    return [VelocityCommands(robot)] if is_offered else []


CMD_VEL_TOPIC = Topic(
    '{robot}/cmd_vel',
    ('geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped'),
    'command',
    when='every robot, unless its sidecar has `twist: {kind: none}`',
    rate='cmd_vel_type',
    incoming=True,
)
FEATURE = Feature(
    'velocity commands',
    VelocityParameters,
    group='Commands',
    topics=(CMD_VEL_TOPIC,),
    commands=commands,
)
