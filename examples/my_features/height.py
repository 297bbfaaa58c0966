# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A topic: the height of the base of each robot."""

from dataclasses import dataclass

from geometry_msgs.msg import PointStamped

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class HeightParameters:
    """How often the height of a robot is published."""

    height_rate: float = key(
        0.0, 'Limit for height (Hz), 0: every tick.', low=0.0, high=10000.0, live=True
    )


HEIGHT = Topic(
    '{robot}/height',
    ('geometry_msgs/msg/PointStamped',),
    'sensor',
    when='floating base',
    rate='height_rate',
)


def feeds(robot: RobotTopics) -> None:
    """Make the topic of a floating base."""

    def build(stamp_ns: int) -> PointStamped | None:
        base = robot.state.base()
        if base is None:
            return None
        message = PointStamped(header=header_to_ros(stamp_ns, robot.plan.frames.map))
        message.point.z = float(base[2])
        return message

    if robot.plan.base_joint:
        robot.feed(HEIGHT, build, wire=robot.base_row)


FEATURE = Feature(
    'height', HeightParameters, group='What is published', topics=(HEIGHT,), feeds=feeds
)
