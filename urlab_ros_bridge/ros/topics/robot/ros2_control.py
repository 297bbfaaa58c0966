# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What the hardware plugin of ros2_control reads: joint states on a topic of their own.

The plugin refuses values for state interfaces that its block does not declare, and ignores NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.topic_makers import RobotTopics
from urlab_ros_bridge.ros.messages.joint_state import JointStateTemplate
from urlab_ros_bridge.ros.plan.description.control_block import INTERFACES
from urlab_ros_bridge.ros.plan.description.control_block import STATES_TOPIC
from urlab_ros_bridge.ros.plan.parameters import Ros2ControlParameters
from urlab_ros_bridge.ros.topics.clock import ClockParameters


def feeds(robot: RobotTopics) -> None:
    """Make the topic of a robot with joints."""
    plan, state = robot.plan, robot.state
    parameters = robot.settings(Ros2ControlParameters)
    if not plan.joints:
        return
    template = JointStateTemplate(plan.joints)
    unknown = np.full(len(plan.joints), np.nan)
    declared = [field in parameters.ros2_control_states for field in INTERFACES]

    def build(stamp_ns: int) -> Any:
        values = state.joints()
        if values is None:
            return None
        columns = [each if has else unknown for each, has in zip(values, declared, strict=True)]
        return template.update(stamp_ns, *columns)

    robot.feed(
        HARDWARE_STATES,
        build,
        wire=state.topics[: len(plan.joints) + 1],
        subscriptions=(f'{plan.prefix}/joint/'.encode(), f'{plan.prefix}/effort'.encode()),
    )


def attach(bridge: Bridge) -> Part:
    """Log that /clock is too slow for controller_manager, if it is."""
    limit = bridge.settings(ClockParameters).clock_rate
    if bridge.settings(Ros2ControlParameters).ros2_control and limit:
        bridge.log(
            'warning',
            f'clock_rate limits /clock to {limit:g} Hz: controller_manager, whose cycles follow '
            '/clock, will miss some; clock_rate: 0.0 publishes every tick',
        )
    return Part()


HARDWARE_STATES = Topic(
    '{robot}/' + STATES_TOPIC,
    ('sensor_msgs/msg/JointState',),
    'sensor',
    'hinge or slide joints',
    'every tick',
    'ros2_control',
    each_instant=True,
)
FEATURE = Feature(
    'ros2_control',
    Ros2ControlParameters,
    group='ros2_control',
    topics=(HARDWARE_STATES,),
    attach=attach,
    feeds=feeds,
)
