# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories in joint space: checked, interpolated in simulation time, and followed."""

from __future__ import annotations

from urlab_ros_bridge.ros.trajectory.action import FollowAction
from urlab_ros_bridge.ros.trajectory.follower import Follower
from urlab_ros_bridge.ros.trajectory.goal import BadGoal
from urlab_ros_bridge.ros.trajectory.goal import Path
from urlab_ros_bridge.ros.trajectory.goal import read_path
from urlab_ros_bridge.ros.trajectory.spline import Points
from urlab_ros_bridge.ros.trajectory.spline import Sample
from urlab_ros_bridge.ros.trajectory.spline import Spline
from urlab_ros_bridge.ros.trajectory.topics import TrajectoryTopics

__all__ = [
    'BadGoal',
    'FollowAction',
    'Follower',
    'Path',
    'Points',
    'Sample',
    'Spline',
    'TrajectoryTopics',
    'read_path',
]
