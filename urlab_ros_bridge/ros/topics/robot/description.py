# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""robot_description: the URDF of each robot."""

from __future__ import annotations

from std_msgs.msg import String

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import join
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.plan.parameters import DescriptionParameters
from urlab_ros_bridge.ros.plan.plan import WorldPlan


def description_messages(plan: WorldPlan, settings: SettingsReader) -> dict[str, String]:
    """Return the robot_description of each robot by topic."""
    return {
        join(robot.namespace, 'robot_description'): String(data=robot.appearance.urdf)
        for robot in plan.robots
        if robot.appearance.urdf
    }


ROBOT_DESCRIPTION = Topic(
    '{robot}/robot_description',
    ('std_msgs/msg/String',),
    'latched',
    '',
    timing='once',
    switch='publish_robot_description',
)
FEATURE = Feature(
    'robot description',
    DescriptionParameters,
    group='Robot description and markers',
    topics=(ROBOT_DESCRIPTION,),
    latched=description_messages,
)
