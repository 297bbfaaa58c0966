# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
joint_states of a robot, and the topic that the hardware plugin of ros2_control reads instead.

The plugin refuses values for state interfaces that its block does not declare, and ignores NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.link.clock import ClockParameters
from urlab_ros_bridge.ros.messages.robot import JointStateTemplate
from urlab_ros_bridge.ros.parameters.checks import rate_key
from urlab_ros_bridge.ros.plan.description.control_block import INTERFACES
from urlab_ros_bridge.ros.plan.description.control_block import STATES_TOPIC
from urlab_ros_bridge.ros.plan.parameters import Ros2ControlParameters
from urlab_ros_bridge.wire.stamp import NANOSECONDS


@dataclass(frozen=True)
class JointStateParameters:
    """Rate of joint states."""

    joint_state_rate: float = rate_key(100.0, 'joint_states')


def joint_states(robot: RobotTopics) -> None:
    """Make joint_states, unless joint_state_broadcaster publishes it."""
    if not robot.settings(Ros2ControlParameters).ros2_control:
        _feed(robot, JOINT_STATES, INTERFACES)


def hardware_states(robot: RobotTopics) -> None:
    """Make the topic of the hardware plugin, with the declared state interfaces only."""
    _feed(robot, HARDWARE_STATES, robot.settings(Ros2ControlParameters).ros2_control_states)


def _feed(robot: RobotTopics, topic: Topic, interfaces: Sequence[str]) -> None:
    plan, state = robot.plan, robot.state
    if not plan.joints:
        return
    template = JointStateTemplate(plan.joints)
    left_out = [name not in interfaces for name in INTERFACES]
    unknown = np.full(len(plan.joints), np.nan)

    def build(stamp_ns: int) -> Any:
        values = state.joints()
        if values is None:
            return None
        columns = (unknown if out else each for each, out in zip(values, left_out, strict=True))
        return template.update(stamp_ns, *columns)

    robot.feed(
        topic,
        build,
        wire=state.topics[: len(plan.joints) + 1],
        subscriptions=(f'{plan.prefix}/joint/'.encode(), f'{plan.prefix}/effort'.encode()),
    )


class ControllerClock(Part):
    """Warns of clocks with which controller_manager does not run all of its cycles."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        limit = bridge.settings(ClockParameters).clock_rate
        if limit:
            bridge.log(
                'warning',
                f'clock_rate limits /clock to {limit:g} Hz: controller_manager, whose cycles '
                'follow /clock, will miss some; clock_rate: 0.0 publishes every tick',
            )

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """Log how long controller_manager will run no cycle."""
        old_ns = self._bridge.timeline.stamp_ns
        if went_back and old_ns is not None:
            self._bridge.log(
                'warning',
                f'time went back from {old_ns / NANOSECONDS:.1f} to '
                f'{stamp_ns / NANOSECONDS:.1f} s: controller_manager runs no cycle until its old '
                'time is reached again; restart it and its spawner',
            )


def attach(bridge: Bridge) -> Part:
    """Make the warnings for controller_manager, where it is served."""
    controlled = bridge.settings(Ros2ControlParameters).ros2_control
    return ControllerClock(bridge) if controlled else Part()


_TYPE = ('sensor_msgs/msg/JointState',)
_WHEN = 'hinge or slide joints, without ros2_control'
JOINT_STATES = Topic(
    '{robot}/joint_states', _TYPE, 'sensor', when=_WHEN, rate='joint_state_rate', each_instant=True
)
HARDWARE_STATES = Topic(
    '{robot}/' + STATES_TOPIC,
    _TYPE,
    'sensor',
    when='hinge or slide joints',
    timing='every tick',
    switch='ros2_control',
    each_instant=True,
)
FEATURE = Feature(
    'joint states',
    JointStateParameters,
    group='What is published',
    topics=(JOINT_STATES,),
    feeds=joint_states,
)
ROS2_CONTROL = Feature(
    'ros2_control',
    Ros2ControlParameters,
    group='ros2_control',
    topics=(HARDWARE_STATES,),
    attach=attach,
    feeds=hardware_states,
)
