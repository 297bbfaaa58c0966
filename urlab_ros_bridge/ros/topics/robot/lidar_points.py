# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The points of the 3-D lidars of one robot; the server casts their rays only for subscribers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.tick_state import RobotState
from urlab_ros_bridge.ros.features.topic_makers import RobotTopics
from urlab_ros_bridge.ros.messages.lidar_points import LidarPointsTemplate
from urlab_ros_bridge.ros.plan.names import ros_name
from urlab_ros_bridge.ros.topics.robot.sensors import as_set


def feeds(robot: RobotTopics) -> None:
    """Make the topics of a robot's 3-D lidars."""
    scanners = robot.plan.point_scanners
    for scanner in scanners:
        name = scanner.lidar.name
        template = LidarPointsTemplate(scanner.frame, scanner.lidar)
        topic, rate = as_set(robot.plan, name, POINTS_OF_LIDAR if len(scanners) > 1 else POINTS)
        robot.feed(
            topic,
            partial(_build, robot.state, name, template),
            wire=robot.state.points_row(name),
            message_type=template.message_type,
            parts={'lidar': ros_name(name)},
            rate=rate,
        )


def _build(state: RobotState, name: str, template: LidarPointsTemplate, stamp_ns: int) -> Any:
    row = state.points(name)
    return None if row is None else template.update(stamp_ns, *row)


_CLOUD = ('sensor_msgs/msg/PointCloud2',)
POINTS = Topic(
    '{robot}/points', _CLOUD, 'sensor', 'one 3-D lidar', 'sensor_rate', each_instant=True
)
POINTS_OF_LIDAR = replace(POINTS, name='{robot}/points/{lidar}', when='several 3-D lidars')
FEATURE = Feature('points of 3-D lidars', topics=(POINTS, POINTS_OF_LIDAR), feeds=feeds)
