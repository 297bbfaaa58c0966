# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The transforms of a robot's moving links on /tf."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.features.declarations import FrameRule
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.messages.geometry import TFTemplate
from urlab_ros_bridge.ros.parameters.checks import rate_key
from urlab_ros_bridge.ros.plan.description.link_poses import LinkPoses
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC


@dataclass(frozen=True)
class LinkTFParameters:
    """Switch and rate of the transforms of links."""

    publish_link_tf: bool = key(
        True,
        'Publish the transforms of all links of the robots. Disable it if robot_state_publisher '
        'does so.',
    )
    link_tf_rate: float = rate_key(50.0, 'the transforms of moving links')


def feeds(robot: RobotTopics) -> None:
    """Make the topic of a robot's moving links, if it has any."""
    plan, state = robot.plan, robot.state
    links = LinkPoses(plan.appearance.skeleton, plan.joints)
    if not links.frames:
        return
    template = TFTemplate(links.frames)

    def build(stamp_ns: int) -> Any:
        values = state.joints() if plan.joints else (np.zeros(0),)
        if values is None:
            return None
        poses = links.update(values[0], state.positions() if links.needs_qpos else None)
        return None if poses is None else template.update(stamp_ns, poses)

    prefixes = {f'{plan.prefix}/joint/'.encode()} if plan.joints else set()
    if links.needs_qpos:
        prefixes.add(STATE_FULL_TOPIC.encode())
    topic = ROBOT_TF if plan.tf_namespace else TF
    robot.feed(topic, build, wire=robot.joint_rows, subscriptions=prefixes)


_TYPE = ('tf2_msgs/msg/TFMessage',)
TF = Topic(
    '/tf',
    _TYPE,
    'transform',
    when='robots without namespace',
    rate='link_tf_rate',
    switch='publish_link_tf',
)
ROBOT_TF = replace(TF, name='{robot}/tf', when='robots with namespace, unless frame_prefix is set')
MOVING_LINKS = FrameRule(
    'a link', 'the link that a joint moves', 'tf', 'robots with joints', 'publish_link_tf'
)
FEATURE = Feature(
    'transforms of links',
    LinkTFParameters,
    group='Robot description and markers',
    topics=(TF, ROBOT_TF),
    frames=(MOVING_LINKS,),
    feeds=feeds,
)
