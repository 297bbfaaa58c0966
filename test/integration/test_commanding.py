# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories and joint commands of a quadruped, with the real programs."""

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
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint
from urlab_msgs import srv

Follow = action.FollowJointTrajectory
NAME = '/joint_trajectory_controller/follow_joint_trajectory'
LEGS = [f'{leg}_{part}' for leg in ('FL', 'FR', 'RL', 'RR') for part in ('hip', 'thigh', 'calf')]
STAND = [0.0, 0.9, -1.8] * 4
CROUCH = [0.0, 1.15, -2.3] * 4


def seconds(stamp):
    return stamp.sec + stamp.nanosec * 1e-9


def goal(*points, joints=LEGS, **fields):
    """Return a goal from (time, positions) pairs."""
    message = Follow.Goal(trajectory=JointTrajectory(joint_names=joints), **fields)
    for when, positions in points:
        whole, rest = divmod(round(when * 1e9), 10**9)
        time_from_start = Duration(sec=whole, nanosec=rest)
        zeros = [0.0] * len(positions)
        message.trajectory.points.append(
            JointTrajectoryPoint(
                positions=list(positions), velocities=zeros, time_from_start=time_from_start
            )
        )
    return message


class Leader:
    """
    An action client that waits only on request.

    It asks in the thread of the executor: rclpy notes what it has asked only after it has sent it,
    and elsewhere a quick answer would come before.
    """

    def __init__(self, listener, kind=Follow, name=NAME):
        self.run = listener.run
        self.client = listener.run(lambda: ActionClient(listener.node, kind, name))
        assert self.client.wait_for_server(100.0)

    def send(self, message):
        feedback = []
        future = self.run(
            lambda: self.client.send_goal_async(
                message, feedback_callback=lambda each: feedback.append(each.feedback)
            )
        )
        wait_until(future.done)
        handle = future.result()
        assert handle.accepted
        return handle, self.run(handle.get_result_async), feedback

    @staticmethod
    def end(future, timeout=30.0):
        wait_until(future.done, timeout)
        return future.result()


@pytest.fixture(scope='module')
def lasting_quadruped(lasting_simulation):
    server, _, listener = lasting_simulation('--world', 'quadruped')
    listener.listen(JointState, '/joint_states')
    leader = Leader(listener)
    wait_until(lambda: listener.received['/joint_states'])
    return server, listener, leader


@pytest.fixture
def quadruped(lasting_quadruped):
    """Return (server, listener, client of the action) of a robot that lies folded."""
    server, listener, _ = lasting_quadruped
    for service in ('/e_stop', '/pause'):
        assert listener.call(SetBool, service, data=False).success
    assert listener.call(srv.Reset, '/reset', keyframe_name='rest').success
    wait_for_time(listener.received['/joint_states'], server.now_ns())
    return lasting_quadruped


def positions(server, listener, names=LEGS, later=0.0):
    """Return where the joints are after so many seconds of simulation."""
    message = wait_for_time(listener.received['/joint_states'], server.now_ns(later))
    return np.array([message.position[message.name.index(name)] for name in names])


def test_the_quadruped_stands_up_in_simulation_time_and_crouches_again(quadruped):
    server, listener, leader = quadruped
    tolerance = [msg.JointTolerance(name=name, position=0.2) for name in LEGS]
    path = [msg.JointTolerance(name=name, position=0.6) for name in LEGS]
    _, result, feedback = leader.send(
        goal((1.0, CROUCH), (2.0, STAND), goal_tolerance=tolerance, path_tolerance=path)
    )
    begun = server.now_ns()
    response = leader.end(result)
    took = (server.now_ns() - begun) * 1e-9
    assert response.result.error_string == 'goal reached'
    assert response.status == GoalStatus.STATUS_SUCCEEDED and response.result.error_code == 0
    # The answers of both services may come late.
    assert 1.3 < took < 4.0
    assert positions(server, listener) == pytest.approx(STAND, abs=0.2)
    times = [seconds(each.desired.time_from_start) for each in feedback]
    assert times == sorted(times) and times[-1] <= 2.1 and len(times) > 20
    for each in feedback:
        error = np.subtract(each.desired.positions, each.actual.positions)
        assert each.joint_names == LEGS and each.error.positions == pytest.approx(error)
    worst = max(np.abs(each.error.positions).max() for each in feedback[5:])
    assert worst < 0.45
    height = listener.wait_for(PoseStamped, '/ground_truth/pose').pose.position.z
    assert height > 0.22
