# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories in joint space: checked, interpolated in simulation time, and followed."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.ros.commands.trajectory.action import FollowAction
from urlab_ros_bridge.ros.commands.trajectory.follower import Follower
from urlab_ros_bridge.ros.commands.trajectory.goal import BadGoal
from urlab_ros_bridge.ros.commands.trajectory.goal import Path
from urlab_ros_bridge.ros.commands.trajectory.goal import read_path
from urlab_ros_bridge.ros.commands.trajectory.spline import Points
from urlab_ros_bridge.ros.commands.trajectory.spline import Sample
from urlab_ros_bridge.ros.commands.trajectory.spline import Spline
from urlab_ros_bridge.ros.commands.trajectory.topics import TrajectoryTopics
from urlab_ros_bridge.ros.features.declarations import RosAction
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.parameters.checks import topic_name
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class TrajectoryParameters:
    """How trajectories are followed, and what is demanded of them."""

    trajectory_controller: str = key(
        'joint_trajectory_controller',
        'Name under which a robot offers the action follow_joint_trajectory and the '
        'topics joint_trajectory and controller_state.',
        check=topic_name,
    )
    trajectory_rate: float = key(
        200.0,
        'Limit for set-points of a trajectory (Hz of simulation time), 0: every tick.',
        low=0.0,
        high=10000.0,
        live=True,
    )
    trajectory_feedback_rate: float = key(
        20.0,
        'Limit for the feedback of a trajectory (Hz of simulation time), 0: every tick.',
        low=0.0,
        high=10000.0,
        live=True,
    )
    trajectory_velocity_gain: float = key(
        5.0,
        'Actuators that take a velocity get that of the trajectory, and this times the '
        'position error (1/s).',
        low=0.0,
        high=1000.0,
        live=True,
    )
    trajectory_stop_time: float = key(
        0.1,
        'The joints of a trajectory that is cancelled come to rest in this time (s of '
        'simulation time).',
        low=0.0,
        high=10.0,
        live=True,
    )
    trajectory_path_tolerance: float = key(
        0.0,
        'Largest position error along the path (rad or m) where a goal gives none, 0: any.',
        low=0.0,
        high=1000.0,
        live=True,
    )
    trajectory_goal_tolerance: float = key(
        0.0,
        'Largest position error at the end (rad or m) where a goal gives none, 0: any.',
        low=0.0,
        high=1000.0,
        live=True,
    )
    trajectory_stopped_velocity_tolerance: float = key(
        0.0,
        'Largest speed at the end (rad/s or m/s) where a goal gives none, 0: any.',
        low=0.0,
        high=1000.0,
        live=True,
    )
    trajectory_goal_time: float = key(
        2.0,
        'The goal tolerances have to be met this long after the last point (s of '
        'simulation time) where a goal does not say, 0: wait forever.',
        low=0.0,
        high=3600.0,
        live=True,
    )
    allow_partial_joints_goal: bool = key(
        True,
        'Follow trajectories that do not name all joints; the others stay as they are.',
        live=True,
    )
    allow_nonzero_velocity_at_trajectory_end: bool = key(
        False,
        'Follow trajectories whose last point has a velocity; the joints still come to rest '
        'there.',
        live=True,
    )
    reject_bad_goals: bool = key(
        False,
        'Reject a goal that cannot be followed. Otherwise it is accepted and aborted at '
        'once, so that its result tells the client why.',
        live=True,
    )


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
    'read_path',
]
