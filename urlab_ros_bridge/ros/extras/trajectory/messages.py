# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A followed trajectory as messages: points, feedback, state."""

from __future__ import annotations

from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectoryPoint

from urlab_ros_bridge.ros.extras.trajectory.follower import Report
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.wire.stamp import NANOSECONDS


def point_to_ros(
    from_start_ns: int,
    position: np.ndarray,
    velocity: np.ndarray | None = None,
    acceleration: np.ndarray | None = None,
) -> JointTrajectoryPoint:
    """Return a point; what is None stays empty."""
    point = JointTrajectoryPoint(positions=position.tolist())
    if velocity is not None:
        point.velocities = velocity.tolist()
    if acceleration is not None:
        point.accelerations = acceleration.tolist()
    point.time_from_start.sec, point.time_from_start.nanosec = divmod(from_start_ns, NANOSECONDS)
    return point


def points_to_ros(report: Report) -> tuple[JointTrajectoryPoint, ...]:
    """Return the desired state, the actual one, and the difference."""
    time, desired = report.from_start_ns, report.desired
    return (
        point_to_ros(time, desired.position, desired.velocity, desired.acceleration),
        point_to_ros(time, report.position, report.velocity),
        point_to_ros(time, desired.position - report.position, desired.velocity - report.velocity),
    )


def feedback_to_ros(feedback_type: Any, report: Report) -> Any:
    """Return the feedback of FollowJointTrajectory; only later distributions have an index."""
    desired, actual, error = points_to_ros(report)
    feedback = feedback_type(
        header=header_to_ros(report.stamp_ns, ''),
        joint_names=list(report.joints),
        desired=desired,
        actual=actual,
        error=error,
    )
    if hasattr(feedback, 'index'):
        feedback.index = report.index
    return feedback


def state_to_ros(state_type: Any, report: Report) -> Any:
    """Return a control_msgs/msg/JointTrajectoryControllerState."""
    desired, actual, error = points_to_ros(report)
    return state_type(
        header=header_to_ros(report.stamp_ns, ''),
        joint_names=list(report.joints),
        reference=desired,
        feedback=actual,
        error=error,
        speed_scaling_factor=1.0,
    )
