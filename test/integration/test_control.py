# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Commands to a rover's wheels and bodies, its e-stop, and what it does without its bridge."""

import time

from bridge_harness import LATCHED
from bridge_harness import wait_for_time
from bridge_harness import wait_until
from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from geometry_msgs.msg import Wrench
from nav_msgs.msg import Odometry
import pytest
from std_msgs.msg import Bool
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool
from urlab_msgs import srv
from urlab_msgs.msg import SimOptions

from urlab_ros_bridge.client.errors import EStopEngaged


def test_wheels_turn_by_array_and_stop_when_the_bridge_is_killed(simulation, observer):
    server, bridge, listener = simulation('--world', 'rover')
    publisher = listener.publisher(Float64MultiArray, '/forward_velocity_controller/commands')
    odometry = listener.listen(Odometry, '/odom')
    wait_until(lambda: odometry)
    publisher.publish(Float64MultiArray(data=[4.0, 4.0]))
    wait_until(lambda: odometry[-1].twist.twist.linear.x > 0.3)
    client = observer(server)
    time.sleep(1.5)
    # It continues while the bridge runs, although the command is not repeated...
    assert client.step().articulations['rover'].ctrl.tolist() == [4.0, 4.0]
    bridge.kill()
    killed = client.step().time
    # ... and ends within the second of simulation time that setpoints outlive their bridge.
    wait_until(lambda: not client.step().articulations['rover'].ctrl.any())
    assert client.step().time - killed < 1.3


@pytest.fixture(scope='module')
def lasting_rover(lasting_simulation):
    server, _, listener = lasting_simulation(
        '--world', 'rover', cmd_vel_type='twist', cmd_vel_timeout=5.0, joint_command_lock=1.0,
        wrench_duration=0.2, rpc_timeout=20.0,  # options are tried in another process
    )  # fmt: skip
    odometry = listener.listen(Odometry, '/odom')
    wait_until(lambda: odometry)
    # Topics are there a moment before services are.
    wait_until(lambda: listener.call(srv.Forward, '/forward').code != 'not_connected')
    return server, listener, odometry


@pytest.fixture
def rover(lasting_rover):
    """Return (server, listener, messages of odom since it was put back) of a rover at rest."""
    server, listener, odometry = lasting_rover
    assert listener.call(SetBool, '/e_stop', data=False).success
    # Setpoints of the test before last for the length of the lock.
    wait_for_time(odometry, server.now_ns(later=1.0))
    assert listener.call(srv.Reset, '/reset').success
    wait_for_time(odometry, server.now_ns(later=0.5))
    odometry.clear()
    wait_until(lambda: odometry)
    return server, listener, odometry


class LatchedListener:
    """A subscription that comes late."""

    def __init__(self, listener):
        self.received = []
        listener.node.create_subscription(Bool, '/e_stop/active', self.received.append, LATCHED)


def test_the_e_stop_stops_the_rover_and_drops_commands_until_it_is_released(rover):
    server, listener, odometry = rover
    publisher = listener.publisher(Twist, '/cmd_vel')
    state = listener.listen(Bool, '/e_stop/active', LATCHED)
    wait_until(lambda: state and state[-1].data is False)
    drive = Twist(linear=Vector3(x=0.6))
    publisher.publish(drive)
    wait_until(lambda: odometry[-1].twist.twist.linear.x > 0.55)
    assert listener.call(SetBool, '/e_stop', data=True).success
    # The robot's own limit is 3 m/s^2, so 0.2 s from 0.6 m/s; the rest is for a few ticks.
    late = wait_for_time(odometry, server.now_ns(later=0.3))
    assert abs(late.twist.twist.linear.x) < 0.05
    latched = LatchedListener(listener)
    wait_until(lambda: latched.received and latched.received[-1].data is True)
    publisher.publish(drive)
    late = wait_for_time(odometry, server.now_ns(later=0.5))
    assert abs(late.twist.twist.linear.x) < 0.02
    refused = listener.call(srv.SetTwist, '/set_twist', linear=Vector3(x=0.5))
    assert (refused.success, refused.code) == (False, 'e_stop')
    assert listener.call(SetBool, '/e_stop', data=False).success
    late = wait_for_time(odometry, server.now_ns(later=0.3))
    assert abs(late.twist.twist.linear.x) < 0.02
    publisher.publish(drive)
    wait_until(lambda: odometry[-1].twist.twist.linear.x > 0.3)


def test_the_e_stop_of_the_bridge_is_that_of_the_server(rover, observer):
    """Engaged or released by either, both report the same, and other clients are stopped too."""
    server, listener, odometry = rover
    state = listener.listen(Bool, '/e_stop/active', LATCHED)
    client = observer(server)
    client.set_twist('rover', (0.6, 0.0, 0.0), timeout=60.0)
    wait_until(lambda: odometry[-1].twist.twist.linear.x > 0.55)
    assert listener.call(SetBool, '/e_stop', data=True).success
    wait_until(lambda: client.status().e_stop)
    with pytest.raises(EStopEngaged):
        client.set_twist('rover', (0.6, 0.0, 0.0))
    wait_until(lambda: abs(odometry[-1].twist.twist.linear.x) < 0.02)
    assert client.e_stop(False) is False
    wait_until(lambda: state and state[-1].data is False)
    assert client.e_stop() is True
    wait_until(lambda: state[-1].data is True)
    refused = listener.call(srv.SetTwist, '/set_twist', linear=Vector3(x=0.5))
    assert (refused.success, refused.code) == (False, 'e_stop')
    assert listener.call(SetBool, '/e_stop', data=False).success
    wait_until(lambda: not client.status().e_stop)


def test_a_wrench_pushes_for_its_time(rover):
    _, listener, odometry = rover
    push = Wrench(force=Vector3(z=1.0))
    bad = listener.call(srv.ApplyWrench, '/apply_wrench', body='nobody', wrench=push)
    assert (bad.success, bad.code) == (False, 'unknown_body') and 'rover_base_link' in bad.message
    lift = Wrench(force=Vector3(z=2000.0))
    done = listener.call(srv.ApplyWrench, '/apply_wrench', wrench=lift, duration=0.1)
    assert done.success and done.body == 'rover_base_link', done.message
    wait_until(lambda: max(each.pose.pose.position.z for each in odometry) > 0.2)
    wait_until(lambda: abs(odometry[-1].pose.pose.position.z) < 0.1)


def test_options_are_changed_and_checked(rover):
    _, listener, _ = rover

    def ask(**fields):
        return listener.call(srv.SetSimOptions, '/set_sim_options', options=SimOptions(**fields))

    before = ask().options
    assert list(before.gravity) == pytest.approx([0, 0, -9.81])
    changed = ask(gravity=[0.0, 0.0, -1.62], integrator='rk4').options
    assert changed.integrator == 'rk4' and list(changed.gravity) == pytest.approx([0, 0, -1.62])
    for bad in ({'solver': 'magic'}, {'gravity': [1.0]}, {'timestep': [-1.0]}):
        assert ask(**bad).code == 'bad_value'
    assert list(ask().options.gravity) == pytest.approx([0, 0, -1.62])
    restored = ask(gravity=before.gravity, integrator=before.integrator)
    assert restored.success, restored.message
