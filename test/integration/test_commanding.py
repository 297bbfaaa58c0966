# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories of a quadruped."""

from action_msgs.msg import GoalStatus
from bridge_harness import wait_for_time
from bridge_harness import wait_until
from builtin_interfaces.msg import Duration
from control_msgs import action
from control_msgs import msg
from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from simulations import send_goal
from simulations import ServerProgram
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

Follow = action.FollowJointTrajectory
NAME = '/joint_trajectory_controller/follow_joint_trajectory'
LEGS = [f'{leg}_{part}' for leg in ('FL', 'FR', 'RL', 'RR') for part in ('hip', 'thigh', 'calf')]
STAND = [0.0, 0.9, -1.8] * 4
CROUCH = [0.0, 1.15, -2.3] * 4


def goal(*points, **fields):
    """Return a goal from (time, positions) pairs."""
    message = Follow.Goal(trajectory=JointTrajectory(joint_names=LEGS), **fields)
    for when, positions in points:
        message.trajectory.points.append(
            JointTrajectoryPoint(
                positions=positions, velocities=[0.0] * 12, time_from_start=Duration(sec=when)
            )
        )
    return message


def test_the_quadruped_stands_up_in_simulation_time_and_crouches_again(simulation):
    server, _, listener = simulation(ServerProgram('--world=quadruped', '--cameras=off'))
    states = listener.listen(JointState, '/joint_states')
    client = listener.run(lambda: ActionClient(listener.node, Follow, NAME))
    assert client.wait_for_server(100.0)
    wait_until(lambda: states)
    tolerance = [msg.JointTolerance(name=name, position=0.2) for name in LEGS]
    path = [msg.JointTolerance(name=name, position=0.6) for name in LEGS]
    feedback = []
    begun = server.now_ns()
    response = send_goal(
        listener,
        client,
        goal((1, CROUCH), (2, STAND), goal_tolerance=tolerance, path_tolerance=path),
        lambda each: feedback.append(each.feedback),
    )
    took = (server.now_ns() - begun) * 1e-9
    assert response.status == GoalStatus.STATUS_SUCCEEDED and response.result.error_code == 0
    # The answers of both services may come late.
    assert 1.3 < took < 4.0
    state = wait_for_time(states, server.now_ns())
    assert list(state.position) == pytest.approx(STAND, abs=0.2) and list(state.name) == LEGS
    for each in feedback:
        error = np.subtract(each.desired.positions, each.actual.positions)
        assert each.joint_names == LEGS and each.error.positions == pytest.approx(error)
    assert max(np.abs(each.error.positions).max() for each in feedback[5:]) < 0.45
    height = listener.wait_for(PoseStamped, '/ground_truth/pose').pose.position.z
    assert height > 0.22
