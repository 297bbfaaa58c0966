# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""robot_description: the URDF of each robot."""

from __future__ import annotations

from std_msgs.msg import String

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.plan.parameters import DescriptionParameters


def feeds(robot: RobotTopics) -> None:
    """Publish the URDF of a robot that has one."""
    if robot.plan.appearance.urdf:
        robot.once(ROBOT_DESCRIPTION, String(data=robot.plan.appearance.urdf))


ROBOT_DESCRIPTION = Topic(
    '{robot}/robot_description',
    ('std_msgs/msg/String',),
    'latched',
    timing='once',
    switch='publish_robot_description',
)
FEATURE = Feature(
    'robot description',
    DescriptionParameters,
    group='Robot description and markers',
    topics=(ROBOT_DESCRIPTION,),
    feeds=feeds,
)
