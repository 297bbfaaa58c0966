# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories in joint space: checked, interpolated in simulation time, and followed."""

from __future__ import annotations

from urlab_ros_bridge.ros.commands.trajectory.action import FollowAction
from urlab_ros_bridge.ros.commands.trajectory.follower import Follower
from urlab_ros_bridge.ros.commands.trajectory.goal import BadGoal
from urlab_ros_bridge.ros.commands.trajectory.goal import Path
from urlab_ros_bridge.ros.commands.trajectory.goal import read_path
from urlab_ros_bridge.ros.commands.trajectory.parameters import TrajectoryParameters
from urlab_ros_bridge.ros.commands.trajectory.spline import Points
from urlab_ros_bridge.ros.commands.trajectory.spline import Sample
from urlab_ros_bridge.ros.commands.trajectory.spline import Spline
from urlab_ros_bridge.ros.commands.trajectory.topics import TrajectoryTopics
from urlab_ros_bridge.ros.features.declarations import RosAction
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.parameters.checks import rate
from urlab_ros_bridge.ros.parameters.checks import topic_name
from urlab_ros_bridge.schema import key

TOPICS = (
    Topic(
        '{robot}/{trajectory_controller}/controller_state',
        ('control_msgs/msg/JointTrajectoryControllerState',),
        'sensor',
        'actuators that follow trajectories',
        '50 Hz while a trajectory is followed',
    ),
    Topic(
        '{robot}/{trajectory_controller}/joint_trajectory',
        ('trajectory_msgs/msg/JointTrajectory',),
        'command',
        'actuators that follow trajectories',
        incoming=True,
    ),
)
FOLLOW = RosAction(
    '{robot}/{trajectory_controller}/follow_joint_trajectory',
    'control_msgs/action/FollowJointTrajectory',
    'actuators that follow trajectories',
)
FEATURE = Feature(
    'trajectories',
    TrajectoryParameters,
    group='Trajectories and control',
    topics=TOPICS,
    actions=(FOLLOW,),
)


__all__ = [
    'BadGoal',
    'FollowAction',
    'Follower',
    'Path',
    'Points',
    'Sample',
    'Spline',
    'TrajectoryTopics',
    'key',
    'rate',
    'read_path',
    'topic_name',
]
