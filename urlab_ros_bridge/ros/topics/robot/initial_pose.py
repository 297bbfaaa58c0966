# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
initialpose: where a robot is that was put somewhere else, for a localisation such as AMCL.

To a localisation a reset is a drive to the start, at once: its estimate stays where the robot was,
and it hardly ever finds back by itself.  Whoever carries a real robot away tells it the new pose.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any

from geometry_msgs.msg import PoseWithCovarianceStamped
import numpy as np

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.robot_topics import RobotTopics
from urlab_ros_bridge.ros.messages import header_to_ros
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.stamp import NANOSECONDS

# Between two ticks a robot may be this far (m, rad) from where its velocity leads: it hits a wall,
# it tips over, ticks are dropped.
_JOLT = 0.3
_CHECK_NS = 20_000_000  # of simulation time, while that goes on
_VARIANCES = (0.01, 0.01, 0.0, 0.0, 0.0, 0.01)  # m^2, rad^2: the pose is true


@dataclass(frozen=True)
class InitialPoseParameters:
    """Whether a localisation is told of robots that are put somewhere else."""

    publish_initialpose: bool = key(
        False,
        'Publish the true pose of a robot on initialpose when it is put somewhere else: by a '
        'reset, a service, a hand in the editor. For AMCL and the like.',
    )


class Displacement:
    """Finds out whether a robot was put somewhere else since the last tick."""

    def __init__(self) -> None:
        self._before: tuple[int, np.ndarray] | None = None

    def seen(self, stamp_ns: int, base: tuple[float, ...]) -> bool:
        """
        Return whether time went back, or the robot is where its motion does not lead.

        The first time says nothing: a localisation starts with a pose of its own.

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


def feeds(robot: RobotTopics) -> list[Feed]:
    """Make the topic of a robot with a floating base."""
    if not robot.plan.base_joint or not robot.settings.publish_initialpose:
        return []
    displacement = Displacement()

    def build(stamp_ns: int) -> Any:
        base = robot.state.base()
        if base is None or not displacement.seen(stamp_ns, base):
            return None
        message = PoseWithCovarianceStamped(header=header_to_ros(stamp_ns, robot.plan.frames.map))
        pose = message.pose.pose
        place, turn = pose.position, pose.orientation
        place.x, place.y, place.z = base[:3]
        turn.x, turn.y, turn.z, turn.w = base[3:7]
        message.pose.covariance[:: 6 + 1] = _VARIANCES
        return message

    return [robot.feed('initialpose', PoseWithCovarianceStamped, build, wire=robot.base_row)]


INITIAL_POSE = Topic(
    '{robot}/initialpose',
    ('geometry_msgs/msg/PoseWithCovarianceStamped',),
    'sensor',
    'floating base',
    switch='publish_initialpose',
)
FEATURE = Feature(
    'initial pose',
    InitialPoseParameters,
    group='What is published',
    topics=(INITIAL_POSE,),
    feeds=feeds,
)
