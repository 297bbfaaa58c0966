# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""State that the commands of all robots share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
import time

from rclpy.node import Node

from urlab_ros_bridge.ros.commands.admission import Rejections
from urlab_ros_bridge.ros.commands.arbitration import Stop
from urlab_ros_bridge.ros.commands.gate import AnswerGate
from urlab_ros_bridge.ros.commands.sender import CommandSender
from urlab_ros_bridge.ros.features.errors import FeatureErrors
from urlab_ros_bridge.ros.features.stepping import Stepping
from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class CommandContext:
    """
    The parts of the bridge that commands use.

    :ivar node: for subscriptions and actions.
    :ivar settings: returns the present values of parameters.
    :ivar timeline: published simulation time.
    :ivar gate: holds commands in lockstep until all nodes have answered.
    :ivar rejections: counts commands that are not carried out.
    :ivar sender: the thread that sends commands through `link`.
    :ivar stepping: who advances simulation time.
    :ivar errors: what commands of a feature have raised.
    :ivar monotonic: wall clock (s).
    :ivar stop: the e-stop.
    """

    node: Node
    settings: SettingsReader
    timeline: Timeline
    gate: AnswerGate
    rejections: Rejections
    sender: CommandSender
    link: ServerLink
    stepping: Stepping
    errors: FeatureErrors
    monotonic: Callable[[], float] = time.monotonic
    stop: Stop = field(default_factory=Stop)

    @property
    def now_ns(self) -> int:
        """Return simulation time, 0 while it is not known."""
        return self.timeline.stamp_ns or 0


@dataclass(frozen=True)
class CommandParameters:
    """Parameters of all commands."""

    command_max_age: float = key(
        0.5,
        'Maximum accepted age of speeds, efforts and wrenches (s of wall time), also while '
        'simulation time is frozen; 0: no limit. Positions, trajectories and commands that stop '
        'the robot are accepted at any age. With ros2_control, speeds and efforts also end when '
        'controller_manager does not repeat them for this long (s of simulation time).',
        low=0.0,
        high=3600.0,
        live=True,
    )
