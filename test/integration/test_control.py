# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Joint commands, who is in control, and what a robot does when its bridge is gone."""

import time

from action_msgs.msg import GoalStatus
from bridge_harness import wait_for_time
from bridge_harness import wait_until
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from geometry_msgs.msg import Wrench
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_msgs.msg import Header
from test_commanding import goal
from test_commanding import Leader
from test_commanding import LEGS
from test_commanding import STAND

from urlab_ros_bridge.client.client import Client

pytestmark = pytest.mark.ros
pytest.importorskip('control_msgs.action')


@pytest.fixture
def observer():
    """Return a function that opens a client beside the bridge."""
    opened = []

    def start(server):
        client = Client('127.0.0.1', server.ports[0], shared=True)
        opened.append(client)
        client.connect()
        return client

    yield start
    for client in opened:
        client.close()


def sender(listener, kind, topic):
    publisher = listener.node.create_publisher(kind, topic, 1)
    wait_until(publisher.get_subscription_count)
    return publisher


def control(listener):
    """Return the present status of control as a map."""
    heard = listener.heard.get('/diagnostics') or listener.listen(DiagnosticArray, '/diagnostics')
    count = len(heard)
    wait_until(lambda: len(heard) > count + 1)
    (status,) = [each for each in heard[-1].status if each.name.endswith(': control')]
    return {pair.key: pair.value for pair in status.values}


def test_wheels_turn_by_array_and_stop_when_the_bridge_is_killed(simulation, observer):
    server, bridge, listener = simulation('--world', 'rover')
    publisher = sender(listener, Float64MultiArray, '/forward_velocity_controller/commands')
    odometry = listener.listen(Odometry, '/odom')
    wait_until(lambda: odometry)
    publisher.publish(Float64MultiArray(data=[4.0, 4.0]))
    wait_until(lambda: odometry[-1].twist.twist.linear.x > 0.3)
    client = observer(server)
    time.sleep(1.5)
    # It goes on while the bridge lives, though nobody repeats the command...
    assert client.step().articulations['rover'].ctrl.tolist() == [4.0, 4.0]
    bridge.kill()
    killed = client.step().time
    # ... and ends within the second of simulation time that set-points outlive their bridge.
    wait_until(lambda: not client.step().articulations['rover'].ctrl.any())
    assert client.step().time - killed < 1.3


def test_a_trajectory_outranks_joint_commands_and_diagnostics_say_so(simulation):
    server, _, listener = simulation('--world', 'quadruped')
    leader = Leader(listener)
    publisher = sender(listener, JointState, '/joint_commands')
    states = listener.listen(JointState, '/joint_states')
    wait_until(lambda: states)
    assert control(listener)['quadruped follows'] == 'nobody'
    _, result, feedback = leader.send(goal((4.5, STAND)))
    wait_until(lambda: feedback)
    assert control(listener)['quadruped follows'] == 'joint_trajectory (12)'
    publisher.publish(JointState(name=['FL_hip'], position=[0.8]))
    assert leader.end(result).status == GoalStatus.STATUS_SUCCEEDED
    late = wait_for_time(states, server.now_ns())
    place = late.name.index('FL_hip')
    assert abs(late.position[place]) < 0.3
    publisher.publish(JointState(name=['FL_hip'], position=[0.4]))
    wait_until(lambda: states[-1].position[place] == pytest.approx(0.4, abs=0.1))


def test_joint_commands_leave_other_joints_as_the_keyframe_has_them(simulation, observer):
    server, _, listener = simulation('--world', 'quadruped')
    publisher = sender(listener, JointState, '/joint_commands')
    client = observer(server)
    client.reset('stand')
    time.sleep(1.0)
    slots = client.step().articulations['quadruped'].qpos[7:]
    # As topic_based_ros2_control does: all joints, NaN where no controller is active.
    values = [float('nan')] * 12
    values[0] = 0.25
    publisher.publish(JointState(name=LEGS, position=values))
    wait_until(
        lambda: client.step().articulations['quadruped'].qpos[7] == pytest.approx(0.25, abs=0.08)
    )
    time.sleep(0.5)
    now = client.step().articulations['quadruped'].qpos[7:]
    assert np.abs(now[3:] - slots[3:]).max() < 0.1


def test_cmd_vel_yields_to_wheels_that_are_commanded_one_by_one(simulation):
    server, _, listener = simulation(
        '--world', 'rover', cmd_vel_type='twist', joint_command_lock=1.0, cmd_vel_timeout=5.0
    )
    twist = sender(listener, Twist, '/cmd_vel')
    wheels = sender(listener, Float64MultiArray, '/forward_velocity_controller/commands')
    odometry = listener.listen(Odometry, '/odom')
    wait_until(lambda: odometry)
    twist.publish(Twist(linear=Vector3(x=0.4)))
    wait_until(lambda: odometry[-1].twist.twist.linear.x > 0.3)
    for _ in range(20):
        wheels.publish(Float64MultiArray(data=[-2.0, -2.0]))
        twist.publish(Twist(linear=Vector3(x=0.4)))
        time.sleep(0.05)
    late = wait_for_time(odometry, server.now_ns())
    assert late.twist.twist.linear.x < -0.1
    wait_for_time(odometry, server.now_ns(later=1.2))
    twist.publish(Twist(linear=Vector3(x=0.4)))
    wait_until(lambda: odometry[-1].twist.twist.linear.x > 0.3)


def test_a_wrench_on_its_topic_lasts_while_it_is_repeated(simulation):
    _, _, listener = simulation('--world', 'rover', wrench_duration=0.2)
    publisher = sender(listener, WrenchStamped, '/wrench_command')
    odometry = listener.listen(Odometry, '/odom')
    wait_until(lambda: odometry)
    turn = WrenchStamped(
        header=Header(frame_id='base_link'), wrench=Wrench(torque=Vector3(z=150.0))
    )
    for _ in range(20):
        publisher.publish(turn)
        time.sleep(0.05)
    wait_until(lambda: max(each.twist.twist.angular.z for each in odometry) > 0.2)
    wait_until(lambda: abs(odometry[-1].twist.twist.angular.z) < 0.05)
