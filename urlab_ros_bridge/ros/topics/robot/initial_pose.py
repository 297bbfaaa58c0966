# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
initialpose: where a robot is, for a localisation such as AMCL that cannot know it.

A localisation node does not know the pose when it starts.  One that is running does not notice a
reset: its estimate stays where the robot was, and rarely recovers by itself.  On a real robot the
operator sets the pose.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.geometry import initial_pose_to_ros
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.stamp import NANOSECONDS

# Between two ticks a robot may be this far (m, rad) from where its velocity leads: it hits a wall,
# it tips over, ticks are dropped.
_JOLT = 0.3
_CHECK_NS = 20_000_000  # of simulation time, while it advances
_VARIANCES = (0.01, 0.01, 0.0, 0.0, 0.0, 0.01)  # m^2, rad^2: the pose is true


@dataclass(frozen=True)
class InitialPoseParameters:
    """Switch of initialpose."""

    publish_initialpose: bool = key(
        False,
        'Publish the true pose of a robot on initialpose for each new subscriber, and when the '
        'robot is moved by a reset, a service or the editor. For AMCL and similar nodes.',
    )


class Displacement:
    """Detects that a robot was placed elsewhere since the last tick."""

    def __init__(self) -> None:
        self._before: tuple[int, np.ndarray] | None = None

    def seen(self, stamp_ns: int, base: tuple[float, ...]) -> bool:
        """
        Return whether time went back, or the robot has moved farther than its velocity allows.

        The first call returns False.

        :param base: the 13 numbers of a base_state row, see `wire.rows`.
        """
        before = self._before
        if before is not None and 0 < stamp_ns - before[0] < _CHECK_NS:
            return False
        now = np.array(base)
        self._before = stamp_ns, now
        if before is None:
            return False
        if stamp_ns < before[0]:
            return True
        seconds, last = (stamp_ns - before[0]) / NANOSECONDS, before[1]
        turned = 2.0 * math.acos(min(1.0, abs(float(now[3:7] @ last[3:7]))))
        for moved, one, other in (
            (float(np.linalg.norm(now[:3] - last[:3])), last[7:10], now[7:10]),
            (turned, last[10:13], now[10:13]),
        ):
            speed = max(float(np.linalg.norm(one)), float(np.linalg.norm(other)))
            if moved > _JOLT + 2.0 * speed * seconds:
                return True
        return False


class _SubscriberState:
    """State of the subscribers; kept from one world to the next."""

    def __init__(self) -> None:
        self._displacement = Displacement()
        self._count = 0
        self._feed: Feed | None = None

    def need_pose(self, feed: Feed, stamp_ns: int, base: tuple[float, ...]) -> bool:
        """Return whether a subscriber joined, or the robot was put somewhere else."""
        displaced = self._displacement.seen(stamp_ns, base)
        count = feed.publisher.get_subscription_count()
        if feed is not self._feed and count <= self._count:
            feed.has_new_subscriber = False  # they are those of the world before
        self._feed, self._count = feed, count
        return displaced or feed.has_new_subscriber


def feeds(robot: RobotTopics) -> None:
    """Make the topic of a robot with a floating base."""
    if not robot.settings(InitialPoseParameters).publish_initialpose or not robot.plan.base_joint:
        return

    def build(stamp_ns: int) -> Any:
        base = robot.state.base()
        assert feed is not None  # else nothing is built
        if base is None or not subscribers.need_pose(feed, stamp_ns, base):
            return None
        header = header_to_ros(stamp_ns, robot.plan.frames.map)
        return initial_pose_to_ros(header, base[:3], base[3:7], _VARIANCES)

    name = TOPIC.named(robot.namespace)
    subscribers = robot.publishers.memory(name, _SubscriberState)
    feed = robot.feed(TOPIC, build, wire=robot.base_row)


# Of the page, too (`commands.navigation`).
TOPIC = Topic(
    '{robot}/initialpose',
    ('geometry_msgs/msg/PoseWithCovarianceStamped',),
    'sensor',
    when='floating base, robots that take `cmd_vel`',
    timing='when set on the page',
    switch=('publish_initialpose', 'publish_navigation_targets'),
)
FEATURE = Feature(
    'initial pose',
    InitialPoseParameters,
    group='What is published',
    topics=(TOPIC,),
    feeds=feeds,
)
