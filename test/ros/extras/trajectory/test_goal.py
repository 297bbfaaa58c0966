# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What is checked in a trajectory and its tolerances, and what the refusal says."""

import math

from builtin_interfaces.msg import Duration
from control_msgs import action
from control_msgs import msg
import numpy as np
import pytest
from stamps import time_of
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from urlab_ros_bridge.ros.extras.trajectory.goal import BadGoal
from urlab_ros_bridge.ros.extras.trajectory.goal import INVALID_GOAL
from urlab_ros_bridge.ros.extras.trajectory.goal import INVALID_JOINTS
from urlab_ros_bridge.ros.extras.trajectory.goal import read_path
from urlab_ros_bridge.ros.extras.trajectory.goal import read_tolerances
from urlab_ros_bridge.ros.extras.trajectory.parameters import TrajectoryParameters

goal = action.FollowJointTrajectory.Goal
KNOWN = ('hip', 'knee', 'ankle')


def point(time, *positions, **fields):
    seconds, rest = divmod(round(time * 1e9), 10**9)
    return JointTrajectoryPoint(
        time_from_start=Duration(sec=seconds, nanosec=rest),
        positions=[float(value) for value in positions],
        **fields,
    )


def trajectory(names, *points, stamp=0.0):
    header = Header(stamp=time_of(round(stamp * 1e9)))
    return JointTrajectory(header=header, joint_names=list(names), points=list(points))


def test_a_valid_trajectory_keeps_its_order_of_joints():
    message = trajectory(
        ['knee', 'bot_hip'],
        point(0.5, 1, 2),
        point(1.5, 3, 4, velocities=[0.0, 0.0], accelerations=[0.1, 0.2]),
        stamp=7.25,
    )
    path = read_path(message, KNOWN, 'bot')
    assert path.joints == ('knee', 'hip') and path.start_ns == 7_250_000_000
    assert path.points.times.tolist() == [500_000_000, 1_500_000_000]
    assert path.points.positions.tolist() == [[1, 2], [3, 4]]
    assert np.isnan(path.points.velocities[0]).all()
    assert path.points.accelerations[1].tolist() == [0.1, 0.2]


def test_a_point_beyond_a_limit_is_refused_with_joint_and_value():
    limits = {'hip': (-0.1, 0.1), 'knee': (-2.5, 2.5), 'ankle': (-math.inf, math.inf)}
    for position in (2.5009, -2.5009):
        message = trajectory(['knee'], point(1.0, position))
        assert read_path(message, KNOWN, limits=limits).points.positions[0, 0] == position
    for position in (9.0, -2.6):
        message = trajectory(['knee'], point(0.5, 0.0), point(1.0, position))
        with pytest.raises(BadGoal, match=f'knee to {position:g}') as refused:
            read_path(message, KNOWN, limits=limits)
        assert refused.value.code == INVALID_GOAL


@pytest.mark.parametrize(
    ('message', 'code', 'value'),
    [
        (trajectory([], point(1)), INVALID_JOINTS, 'no joints'),
        (trajectory(['toe'], point(1, 0)), INVALID_JOINTS, 'toe'),
        (trajectory(['hip', 'hip'], point(1, 0, 0)), INVALID_JOINTS, 'hip'),
        (trajectory(['hip']), INVALID_GOAL, 'no points'),
        (trajectory(['hip'], point(1, 0), point(1, 0)), INVALID_GOAL, 'point 1'),
        (trajectory(['hip'], point(-1, 0)), INVALID_GOAL, 'point 0 is -1 s'),
        (trajectory(['hip'], point(1, 0, 0)), INVALID_GOAL, '2 positions'),
        (trajectory(['hip'], point(1, 0, velocities=[1.0] * 2)), INVALID_GOAL, '2 velocities'),
        (trajectory(['hip'], point(1, math.nan)), INVALID_GOAL, 'not finite'),
        (trajectory(['hip'], point(1, 0, effort=[1.0])), INVALID_GOAL, 'efforts'),
        (trajectory(['hip'], point(1, 0, velocities=[0.5])), INVALID_GOAL, 'last point'),
    ],
)
def test_an_invalid_trajectory_is_rejected_with_code_and_value(message, code, value):
    with pytest.raises(BadGoal, match=value) as caught:
        read_path(message, KNOWN)
    assert caught.value.code == code


def test_partial_trajectories_and_final_velocities_are_options():
    partial = trajectory(['hip'], point(1, 0, velocities=[0.5]))
    assert read_path(partial, KNOWN, allow_final_velocity=True)
    with pytest.raises(BadGoal, match='knee, ankle') as caught:
        read_path(partial, KNOWN, allow_partial=False, allow_final_velocity=True)
    assert caught.value.code == INVALID_JOINTS


def tolerance(name, position=0.0, velocity=0.0):
    return msg.JointTolerance(name=name, position=position, velocity=velocity)


TOLERANT = TrajectoryParameters(
    trajectory_path_tolerance=0.1,
    trajectory_goal_tolerance=0.2,
    trajectory_stopped_velocity_tolerance=0.05,
    trajectory_goal_time=9.0,
)


def test_tolerances_zero_is_the_default_and_negative_is_none():
    request = goal(
        path_tolerance=[tolerance('bot_hip', 0.3), tolerance('knee', -1.0)],
        goal_tolerance=[tolerance('hip', velocity=-1.0)],
        goal_time_tolerance=Duration(sec=3),
    )
    found = read_tolerances(request, KNOWN, TOLERANT, 'bot')
    assert found.path.position.tolist() == [0.3, math.inf, 0.1]
    assert found.path.velocity.tolist() == [math.inf] * 3
    assert found.goal.position.tolist() == [0.2] * 3
    assert found.goal.velocity.tolist() == [math.inf, 0.05, 0.05]
    assert found.goal_time_ns == 3 * 10**9


def test_invalid_tolerances_are_refused():
    for request, code in (
        (goal(path_tolerance=[tolerance('toe', 0.1)]), INVALID_JOINTS),
        (goal(goal_tolerance=[tolerance('hip', math.nan)]), INVALID_GOAL),
        (goal(component_goal_tolerance=[msg.JointComponentTolerance()]), INVALID_GOAL),
    ):
        with pytest.raises(BadGoal) as caught:
            read_tolerances(request, KNOWN, TrajectoryParameters())
        assert caught.value.code == code
