# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""joint_states of a robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.topic_makers import RobotTopics
from urlab_ros_bridge.ros.messages.joint_state import JointStateTemplate
from urlab_ros_bridge.ros.parameters.checks import rate_key
from urlab_ros_bridge.ros.plan.parameters import Ros2ControlParameters


@dataclass(frozen=True)
class JointStateParameters:
    """Rate of joint states."""

    joint_state_rate: float = rate_key(100.0, 'joint_states')


def feeds(robot: RobotTopics) -> None:
    """Make the topic of a robot with joints."""
    plan, state = robot.plan, robot.state
    if not plan.joints or robot.settings(Ros2ControlParameters).ros2_control:
        return
    template = JointStateTemplate(plan.joints)

    def build(stamp_ns: int) -> Any:
        values = state.joints()
        return None if values is None else template.update(stamp_ns, *values)

    robot.feed(
        JOINT_STATES,
        build,
        wire=state.topics[: len(plan.joints) + 1],
        subscriptions=(f'{plan.prefix}/joint/'.encode(), f'{plan.prefix}/effort'.encode()),
    )


JOINT_STATES = Topic(
    '{robot}/joint_states',
    ('sensor_msgs/msg/JointState',),
    'sensor',
    'hinge or slide joints, without ros2_control',
    'joint_state_rate',
    each_instant=True,
)
FEATURE = Feature(
    'joint states',
    JointStateParameters,
    group='What is published',
    topics=(JOINT_STATES,),
    feeds=feeds,
)
