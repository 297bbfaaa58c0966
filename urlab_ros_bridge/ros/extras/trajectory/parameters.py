# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of trajectories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from urlab_ros_bridge.ros.parameters.checks import rate_key
from urlab_ros_bridge.ros.parameters.checks import topic_name
from urlab_ros_bridge.schema import key


def _tolerance(text: str) -> Any:
    return key(0.0, text, low=0.0, high=1000.0, live=True)


@dataclass(frozen=True)
class TrajectoryParameters:
    """Execution and acceptance of trajectories."""

    trajectory_controller: str = key(
        'joint_trajectory_controller',
        'Name under which a robot offers the action follow_joint_trajectory and the '
        'topics joint_trajectory and controller_state.',
        check=topic_name,
    )
    trajectory_rate: float = rate_key(200.0, 'trajectory setpoints')
    trajectory_feedback_rate: float = rate_key(20.0, 'trajectory feedback')
    trajectory_velocity_gain: float = key(
        5.0,
        'Velocity actuators receive the velocity of the trajectory plus this gain times the '
        'position error (1/s).',
        low=0.0,
        high=1000.0,
        live=True,
    )
    trajectory_stop_time: float = key(
        0.1,
        'Time in which the joints come to rest after a trajectory is cancelled (s of simulation '
        'time).',
        low=0.0,
        high=10.0,
        live=True,
    )
    trajectory_path_tolerance: float = _tolerance(
        'Default path tolerance: largest position error (rad or m), 0: no limit.'
    )
    trajectory_goal_tolerance: float = _tolerance(
        'Default goal tolerance: largest position error at the end (rad or m), 0: no limit.'
    )
    trajectory_stopped_velocity_tolerance: float = _tolerance(
        'Default goal tolerance: largest speed at the end (rad/s or m/s), 0: no limit.'
    )
    trajectory_goal_time: float = key(
        2.0,
        'Default time after the last point within which the goal tolerances must be met (s of '
        'simulation time), 0: wait forever.',
        low=0.0,
        high=3600.0,
        live=True,
    )
    allow_partial_joints_goal: bool = key(
        True,
        'Accept trajectories that do not name all joints; the others keep their setpoints.',
        live=True,
    )
    allow_nonzero_velocity_at_trajectory_end: bool = key(
        False,
        'Accept trajectories whose last point has a velocity; the joints still come to rest '
        'there.',
        live=True,
    )
    reject_bad_goals: bool = key(
        False,
        'Reject a goal that cannot be followed. Otherwise it is accepted and aborted at once, so '
        'that its result gives the client the reason.',
        live=True,
    )
