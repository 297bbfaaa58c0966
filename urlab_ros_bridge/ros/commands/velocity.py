# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""cmd_vel of one robot: checked, limited, and stopped when no new one comes."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any

from urlab_ros_bridge.ros.commands.admission.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.admission.arbitration import BASE
from urlab_ros_bridge.ros.commands.admission.arbitration import CommandSource
from urlab_ros_bridge.ros.commands.admission.limits import check_age
from urlab_ros_bridge.ros.commands.admission.limits import CommandRejected
from urlab_ros_bridge.ros.commands.admission.limits import limited
from urlab_ros_bridge.ros.commands.admission.limits import STOP
from urlab_ros_bridge.ros.commands.admission.limits import Velocity
from urlab_ros_bridge.ros.commands.path import CommandPath
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.link.connection import MIN_WALL_AGE
from urlab_ros_bridge.ros.messages.twist_reading import velocity_of
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
        'Largest accepted difference between the stamp of a cmd_vel and simulation time, past or '
        'future (s); 0: no limit. A zero stamp is always accepted.',
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


class VelocityCommands:
    """Commands for one robot; messages come in the executor's thread, ticks in the stream's."""

    def __init__(
        self,
        prefix: str,
        topic: str,
        path: CommandPath,
        arbiter: Arbiter,
        holds_only: bool = False,
    ) -> None:
        """
        Prepare; nothing is sent before the first message.

        :param holds_only: whether the server only keeps a twist, and nothing would move.
        """
        self.topic = topic
        self._arbiter = arbiter
        self._prefix = prefix
        self._holds_only = holds_only
        self._path = path
        self._link = path.link
        # Simulation time of the last command while the robot may be moving, else None.
        self._moving_since: int | None = None
        # When that command came, by the wall clock.
        self._heard = -math.inf

    def receive(self, message: Any, stale: str = '') -> None:
        """
        Take a Twist or TwistStamped.

        :param stale: why it is too old, empty when it is not; one that stops is never too old.
        """
        settings = self._path.settings
        try:
            if not self._link.state.open:
                raise CommandRejected('not connected')
            reading = velocity_of(message)
            check_age(
                reading.stamp_ns,
                self._path.timeline.stamp_ns,
                settings(VelocityParameters).cmd_vel_max_age,
            )
            velocity = limited(
                reading.linear,
                reading.angular,
                settings(VelocityParameters).max_linear_speed,
                settings(VelocityParameters).max_angular_speed,
            )
            if stale and velocity != STOP:
                raise CommandRejected(stale)
            if self._holds_only and settings(VelocityParameters).cmd_vel_needs_drive:
                raise CommandRejected(NO_DRIVE.format(self._prefix), lasting=True)
            now_ns = self._path.now_ns
            self._arbiter.claim(CMD_VEL, (BASE,), now_ns, self.lost)
        except CommandRejected as error:
            self._path.reject(self.topic, error)
            return
        self._moving_since = None if velocity == STOP else self._path.now_ns
        self._heard = self._path.monotonic()
        self._send(velocity)
        if self._arbiter.stopped:  # by another thread, after the claim: its stop may be overtaken
            self.halt()

    def tick(self, stamp_ns: int) -> None:
        """Stop the robot when its last command is too old."""
        since, timeout = (
            self._moving_since,
            self._path.settings(VelocityParameters).cmd_vel_timeout,
        )
        if since is None:
            return
        if stamp_ns - since >= timeout * NANOSECONDS:
            self._moving_since = None
            if not self._link.has('twist_timeout'):
                self._send(STOP)
        elif self._stood_still() > max(timeout, MIN_WALL_AGE) and not self._link.lockstep:
            # The server cannot know that the commander is gone.
            self._moving_since = None
            self._send(STOP)

    def _stood_still(self) -> float:
        """Return for how long time has been frozen, since the last command at most (s)."""
        return self._path.monotonic() - max(self._heard, self._path.timeline.moved)

    def lost(self, by: str) -> None:
        """Stop because another source took the base."""
        self.stop()

    def halt(self) -> None:
        """Stop the robot, whatever made it move."""
        self._moving_since = None
        self._send(STOP)

    def stop(self) -> None:
        """Stop the robot if a command of ours may move it."""
        if self._moving_since is not None:
            self._moving_since = None
            self._send(STOP)

    def _send(self, velocity: Velocity) -> None:
        link, lapse = self._link, self._path.settings(VelocityParameters).cmd_vel_timeout
        moves = velocity != STOP
        timeout = lapse if moves and link.has('twist_timeout') else None
        # In lockstep a command answers one state; after a reset there is another one.
        is_bound = moves and link.lockstep and link.has('reset_count')
        resets = self._path.timeline.resets if is_bound else None

        def action() -> None:
            wall = link.wall_age(lapse) if moves else None
            link.commands.set_twist(
                self._prefix, velocity.linear, velocity.angular, timeout, wall=wall, resets=resets
            )

        max_wait = max(lapse, MIN_WALL_AGE) if moves and not link.lockstep else math.inf
        self._path.sender.put(self.topic, action, max_wait)


CMD_VEL_TOPIC = Topic(
    '{robot}/cmd_vel',
    ('geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped'),
    'command',
    'every robot, unless its sidecar has `twist: {kind: none}`',
    'cmd_vel_type',
    incoming=True,
)
FEATURE = Feature(
    'velocity commands', VelocityParameters, group='Commands', topics=(CMD_VEL_TOPIC,)
)
