# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Several robots in one world: names, resets, targets, a trajectory, and the end of the bridge."""

import math

from action_msgs.msg import GoalStatus
from bridge_harness import wait_for_time
from bridge_harness import wait_until
from builtin_interfaces.msg import Duration
from builtin_interfaces.msg import Time
from control_msgs import action
from control_msgs import msg
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import PoseWithCovarianceStamped
from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from simulations import send_goal
from simulations import ServerProgram
from stamps import ns_of
from std_msgs.msg import Float64MultiArray
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint
from urlab_msgs import srv

NAMES = ('rover_1', 'rover_2', 'quadruped')
TIMEOUT, BRAKING = 0.5, 1.0 / 3.0  # s, from 1 m/s at 3 m/s^2


Follow = action.FollowJointTrajectory
FOLLOW = '/quadruped/joint_trajectory_controller/follow_joint_trajectory'
LEGS = [f'{leg}_{part}' for leg in ('FL', 'FR', 'RL', 'RR') for part in ('hip', 'thigh', 'calf')]
STAND = [0.0, 0.9, -1.8] * 4
CROUCH = [0.0, 1.15, -2.3] * 4


def path_goal(*points, **fields):
    """Return a goal from (time, positions) pairs."""
    message = Follow.Goal(trajectory=JointTrajectory(joint_names=LEGS), **fields)
    for when, positions in points:
        message.trajectory.points.append(
            JointTrajectoryPoint(
                positions=positions, velocities=[0.0] * 12, time_from_start=Duration(sec=when)
            )
        )
    return message


@pytest.fixture(scope='module')
def lasting_fleet(lasting_simulation):
    server = ServerProgram('--world=fleet', '--cameras=off')
    return lasting_simulation(server, cmd_vel_type='twist', cmd_vel_timeout=TIMEOUT)


@pytest.fixture
def fleet(lasting_fleet):
    """Return (server, bridge, listener) of robots where they start."""
    server, _, listener = lasting_fleet
    odom = listener.listen(Odometry, '/rover_1/odom')
    server.client.reset()

    def is_known():  # to the bridge, which then drops what was commanded before
        return odom and ns_of(odom[-1]) <= server.now_ns()

    wait_until(is_known)
    yield lasting_fleet
    listener.forget()


def driver(listener, robot, x):
    """Return a function that publishes a speed."""
    publisher = listener.publisher(Twist, f'/{robot}/cmd_vel')
    return lambda: publisher.publish(Twist(linear=Vector3(x=x)))


def test_the_fleet_has_a_namespace_frames_and_commands_for_each_robot(fleet):
    _, _, listener = fleet
    starts = {}
    for name in NAMES:
        odom = listener.wait_for(Odometry, f'/{name}/odom')
        assert (odom.header.frame_id, odom.child_frame_id) == ('odom', 'base_link')
        starts[name] = odom.pose.pose.position
    joints = listener.wait_for(JointState, '/quadruped/joint_states')
    assert len(joints.name) == 12 and not any('rover' in name for name in joints.name)
    drive = driver(listener, 'rover_2', 0.5)

    def moved(name):
        now, start = listener.received[f'/{name}/odom'][-1].pose.pose.position, starts[name]
        return math.hypot(now.x - start.x, now.y - start.y)

    wait_until(lambda: drive() or moved('rover_2') > 0.2)
    assert moved('rover_1') < 0.02 and moved('quadruped') < 0.05
    for name in NAMES:
        tree = listener.wait_for(TFMessage, f'/{name}/tf', lambda message: message.transforms)
        at = {(t.header.frame_id, t.child_frame_id) for t in tree.transforms}
        assert ('odom', 'base_link') in at
    assert '/tf' not in dict(listener.node.get_topic_names_and_types())
    # One node, one publisher of a topic.
    assert len(listener.node.get_publishers_info_by_topic('/clock')) == 1


def test_a_keyframe_of_a_robot_resets_that_robot_alone_and_time_goes_on(fleet):
    server, _, listener = fleet

    def place(name):
        return server.client.step().articulations[name].qpos[:2].copy()  # in live mode it reads

    start, home = place('rover_1'), place('rover_2')
    drive = driver(listener, 'rover_2', 0.5)
    wait_until(lambda: drive() or np.linalg.norm(place('rover_2') - home) > 0.3, every=0.05)
    before = server.now_ns()
    for fields in ({'keyframe_name': 'rover_1_dock'}, {'articulation': 'rover_1'}):
        response = listener.call(srv.Reset, '/reset', **fields)
        assert response.success and 'rover_1' in response.message, response
        assert ns_of(response.sim_time) >= before
        assert np.linalg.norm(place('rover_2') - home) > 0.3
        is_docked = 'keyframe_name' in fields
        assert (np.linalg.norm(place('rover_1') - start) > 0.1) == is_docked
    for bad in ({'keyframe_name': 'dock'}, {'articulation': 'rover_1', 'time': True}):
        assert listener.call(srv.Reset, '/reset', **bad).code == 'bad_value'


def test_a_goal_and_an_initial_pose_of_a_client_are_published_in_the_map(fleet):
    server, _, listener = fleet
    # After the reset.
    listener.wait_for(Odometry, '/rover_2/odom', lambda seen: seen.header.stamp != Time())
    goals = listener.listen(PoseStamped, '/rover_2/goal_pose')
    others = listener.listen(PoseStamped, '/rover_1/goal_pose')
    poses = listener.listen(PoseWithCovarianceStamped, '/rover_2/initialpose')

    def set_until(kind, messages):
        # The reader of a topic may have met its writer later.
        target = ('rover_2', kind, 1.5, 2.0, 2.0)
        wait_until(lambda: server.client.set_navigation_target(*target) and messages, every=0.3)

    set_until('goal', goals)
    set_until('initial_pose', poses)
    for message, pose in ((goals[0], goals[0].pose), (poses[0], poses[0].pose.pose)):
        assert message.header.frame_id == 'map' and message.header.stamp != Time()
        assert (pose.position.x, pose.position.y, pose.position.z) == (1.5, 2.0, 0.0)
        assert 2 * math.atan2(pose.orientation.z, pose.orientation.w) == pytest.approx(2.0)
    covariance = poses[0].pose.covariance.reshape(6, 6).diagonal().tolist()
    assert covariance == pytest.approx([0.25, 0.25, 0.0, 0.0, 0.0, math.radians(15) ** 2])
    assert not others


def test_the_quadruped_stands_up_in_simulation_time_and_crouches_again(fleet):
    server, _, listener = fleet
    states = listener.listen(JointState, '/quadruped/joint_states')
    wait_until(lambda: states)
    tolerance = [msg.JointTolerance(name=name, position=0.2) for name in LEGS]
    path = [msg.JointTolerance(name=name, position=0.6) for name in LEGS]
    feedback = []
    begun = server.now_ns()
    response = send_goal(
        listener,
        listener.action(Follow, FOLLOW),
        path_goal((1, CROUCH), (2, STAND), goal_tolerance=tolerance, path_tolerance=path),
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
    height = listener.wait_for(PoseStamped, '/quadruped/ground_truth/pose').pose.position.z
    assert height > 0.22


def test_a_killed_bridge_stops_robots_and_wheels(fleet):
    server, bridge, listener = fleet
    drive = driver(listener, 'rover_1', 1.0)
    odom = {name: listener.listen(Odometry, f'/{name}/odom') for name in NAMES[:2]}
    wheels = listener.publisher(Float64MultiArray, '/rover_2/forward_velocity_controller/commands')
    wait_until(
        lambda: (
            wheels.publish(Float64MultiArray(data=[4.0, 4.0]))
            or server.client.step().articulations['rover_2'].ctrl.any()
        ),
        every=0.05,
    )
    turned = server.now_ns(later=1.5)

    def speed(name):
        return odom[name][-1].twist.twist.linear.x if odom[name] else 0.0

    def wheels_turn():
        commanded = server.client.step().articulations['rover_2'].ctrl.tolist()
        return commanded == [4.0, 4.0] and speed('rover_2') > 0.3

    # Wheels continue while the bridge runs, although their command is not repeated...
    wait_until(
        lambda: drive() or (speed('rover_1') > 0.9 and server.now_ns() > turned and wheels_turn()),
        every=0.05,
    )
    bridge.kill()
    # ... and end within the second of simulation time that setpoints outlive their bridge.
    killed = server.client.step().time
    step = wait_until(
        lambda: not (step := server.client.step()).articulations['rover_2'].ctrl.any() and step
    )
    assert step.time - killed < 1.3
    wait_until(lambda: server.client.step().time - killed >= TIMEOUT + BRAKING + 0.3)
    velocity = server.client.step().articulations['rover_1'].qvel
    assert math.hypot(*velocity[:2]) < 0.02
