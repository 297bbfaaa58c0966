# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One rover with its bridge: drive, e-stop, wrenches, options, spawned robots and recordings."""

import itertools
import json
from pathlib import Path
import sys

from bridge_harness import LATCHED
from bridge_harness import wait_for_time
from bridge_harness import wait_until
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from geometry_msgs.msg import Wrench
from lifelines import start_process
from nav_msgs.msg import Odometry
import pytest
from simulations import ServerProgram
from stamps import ns_of
from std_msgs.msg import Bool
from std_srvs.srv import SetBool
from urlab_msgs import srv
from urlab_msgs.msg import SimOptions

from urlab_ros_bridge.client.errors import EStopEngaged

TIMEOUT = 1.0
# 1 m/s is lost at 3 m/s^2.
BRAKING = 1.0 / 3.0
DRIVER = """
import rclpy, time
from geometry_msgs.msg import Twist, Vector3
rclpy.init(domain_id={domain})
node = rclpy.create_node('driver')
publisher = node.create_publisher(Twist, 'cmd_vel', 1)
while True:
    publisher.publish(Twist(linear=Vector3(x=1.0)))
    time.sleep(0.05)
"""
BOX = """<mujoco><worldbody><body><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody></mujoco>"""
FRAMES = 25


@pytest.fixture(scope='module')
def lasting_rover(lasting_simulation, tmp_path_factory):
    # On a busy machine commands arrive late: none is too old.
    words = ('--cameras=off', f'--data-dir={tmp_path_factory.mktemp("data")}')
    server, _, listener = lasting_simulation(
        ServerProgram(*words), cmd_vel_type='twist',
        cmd_vel_timeout=TIMEOUT, odom_rate=100.0, command_max_age=0.0,
        rpc_timeout=20.0,  # options are tried in another process
    )  # fmt: skip
    # Topics are there a moment before services are.
    wait_until(lambda: listener.call(srv.Forward, '/forward').code != 'not_connected')
    return server, listener


@pytest.fixture
def rover(lasting_rover):
    """Return (server, listener, messages of odom since it was put back) of a rover at rest."""
    server, listener = lasting_rover
    assert listener.call(SetBool, '/e_stop', data=False).success
    assert listener.call(srv.Reset, '/reset').success
    odometry = listener.listen(Odometry, '/odom')
    wait_for_time(odometry, server.now_ns(later=0.5))
    odometry.clear()
    wait_until(lambda: odometry)
    yield server, listener, odometry
    listener.forget()


def speed(message):
    return message.twist.twist.linear.x


@pytest.mark.slow
def test_it_drives_as_fast_as_it_is_told_and_stops_when_its_driver_is_killed(rover):
    server, listener, odom = rover
    domain = listener.context.get_domain_id()
    driver = start_process([sys.executable, '-c', DRIVER.format(domain=domain)])
    try:
        moving = listener.wait_for(Odometry, '/odom', lambda message: speed(message) > 0.02)
        wait_for_time(odom, ns_of(moving) + 2 * 10**9)
    finally:
        driver.kill()
        driver.wait()
    killed = server.now_ns()
    wait_for_time(odom, server.now_ns(later=TIMEOUT + BRAKING + 1.0))

    # A busy listener may have missed the first messages, and the one at two seconds sharp.
    later = next(m for m in odom if ns_of(m) >= ns_of(moving) + 2 * 10**9)
    driven = later.pose.pose.position.x - moving.pose.pose.position.x
    took = (ns_of(later) - ns_of(moving)) * 1e-9
    assert driven == pytest.approx(took - 0.5 * BRAKING * (1.0 - speed(moving)) ** 2, abs=0.1)
    assert max(map(speed, odom)) == pytest.approx(1.0, abs=0.05)
    # The last command may have been on its way, and braking takes its time.
    end = killed + round((TIMEOUT + BRAKING + 0.3) * 1e9)
    stopped = [m for m in odom if ns_of(m) > end]
    assert stopped and all(abs(speed(m)) < 0.02 for m in stopped)


def test_the_e_stop_stops_the_rover_and_drops_commands_until_it_is_released(rover):
    server, listener, odometry = rover
    publisher = listener.publisher(Twist, '/cmd_vel')
    drive = Twist(linear=Vector3(x=0.6))
    publisher.publish(drive)
    wait_until(lambda: max(map(speed, odometry)) > 0.55)
    assert listener.call(SetBool, '/e_stop', data=True).success
    # The robot's own limit is 3 m/s^2, so 0.2 s from 0.6 m/s; the rest is for a few ticks.
    assert abs(speed(wait_for_time(odometry, server.now_ns(later=0.3)))) < 0.05
    # A subscriber that comes late is told.
    listener.wait_for(Bool, '/e_stop/active', lambda state: state.data, qos=LATCHED)
    publisher.publish(drive)
    assert abs(speed(wait_for_time(odometry, server.now_ns(later=0.5)))) < 0.02
    refused = listener.call(srv.SetTwist, '/set_twist', linear=Vector3(x=0.5))
    assert (refused.success, refused.code) == (False, 'e_stop')
    assert listener.call(SetBool, '/e_stop', data=False).success
    assert abs(speed(wait_for_time(odometry, server.now_ns(later=0.3)))) < 0.02
    odometry.clear()
    publisher.publish(drive)
    wait_until(lambda: any(speed(message) > 0.3 for message in list(odometry)))


def test_the_e_stop_of_the_bridge_is_that_of_the_server(rover):
    """Engaged or released by either, both report the same, and other clients are stopped too."""
    server, listener, odometry = rover
    state = listener.listen(Bool, '/e_stop/active', LATCHED)
    client = server.client
    client.set_twist('rover', (0.6, 0.0, 0.0), timeout=60.0)
    wait_until(lambda: speed(odometry[-1]) > 0.55)
    assert listener.call(SetBool, '/e_stop', data=True).success
    wait_until(lambda: client.status().e_stop)
    with pytest.raises(EStopEngaged):
        client.set_twist('rover', (0.6, 0.0, 0.0))
    wait_until(lambda: abs(speed(odometry[-1])) < 0.02)
    assert client.e_stop(False) is False
    wait_until(lambda: state and state[-1].data is False)
    assert client.e_stop() is True
    wait_until(lambda: state[-1].data is True)
    assert listener.call(SetBool, '/e_stop', data=False).success
    wait_until(lambda: not client.status().e_stop)


def test_a_wrench_pushes_for_its_time(rover):
    _, listener, odometry = rover
    bad = listener.call(srv.ApplyWrench, '/apply_wrench', body='nobody')
    assert (bad.success, bad.code) == (False, 'unknown_body')
    lift = Wrench(force=Vector3(z=600.0))  # higher than 0.3 m, and not on its back
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
    assert ask(gravity=[0.0, 0.0, -1.62], integrator='rk4').success
    for bad in ({'solver': 'magic'}, {'gravity': [1.0]}):
        assert ask(**bad).code == 'bad_value'
    changed = ask().options
    assert changed.integrator == 'rk4' and list(changed.gravity) == pytest.approx([0, 0, -1.62])
    assert ask(gravity=before.gravity, integrator=before.integrator).success


def test_topics_of_a_robot_continue_while_others_are_spawned_and_deleted(rover):
    server, listener, odom = rover
    client = server.client
    client.set_twist('rover', angular=(0.0, 0.0, 0.5))
    wait_until(lambda: odom[-1].twist.twist.angular.z > 0.4)
    client.spawn_entity('box', xml=BOX, pos=(3, 2, 0.1))
    client.spawn_entity('second', file='rover.yaml', pos=(2, 2, 0))
    pose = listener.wait_for(PoseStamped, '/entities/box/pose').pose.position
    assert (pose.x, pose.y) == pytest.approx((3, 2), abs=0.05)
    driven = listener.listen(Odometry, '/second/odom')
    publisher = listener.node.create_publisher(Twist, '/second/cmd_vel', 10)
    wait_until(
        lambda: (
            publisher.publish(Twist(linear=Vector3(x=0.3))) or (driven and speed(driven[-1]) > 0.2)
        )
    )
    client.delete_entity('second')
    client.delete_entity('box')
    after = client.status().sim_time_ns
    wait_until(lambda: not listener.node.count_publishers('/second/odom'))
    last = wait_for_time(odom, after + 200_000_000)
    assert last.twist.twist.angular.z > 0.4, 'it was stopped'
    stamps = list(map(ns_of, list(odom)))
    assert all(new >= old for old, new in itertools.pairwise(stamps))


def test_a_run_is_recorded_saved_loaded_and_stepped_through(rover):
    _, listener, _ = rover

    def call(service, **fields):
        kind = getattr(srv, ''.join(part.capitalize() for part in service.split('_')))
        return listener.call(kind, f'/{service}', **fields)

    assert call('set_mode', mode='direct').success
    assert call('recording_save').code == 'recording_not_active'
    assert call('recording_start', name='run', max_duration_s=60.0).success
    assert call('step', n_steps=FRAMES).success
    stopped = call('recording_stop')
    assert stopped.name == 'run' and stopped.frame_count == FRAMES and stopped.sim_duration_s > 0
    saved = call('recording_save', path='run.json')
    frames = json.loads(Path(saved.absolute_path).read_text())['Frames']
    assert Path(saved.absolute_path).parent.name == 'Replays' and len(frames) == FRAMES
    assert call('replay_load', path='/etc/hostname').code == 'path_not_readable'
    loaded = call('replay_load', path='run.json')
    assert (loaded.name, loaded.total_frames) == ('run', FRAMES)
    assert list(call('replay_list_sessions').sessions) == ['live', 'run']
    assert call('replay_set_active', name='run').success
    assert call('replay_start').total_frames == FRAMES
    stamp = call('step', n_steps=10).sim_time
    assert ns_of(stamp) * 1e-9 == pytest.approx(frames[9]['timestamp'], abs=1e-9)
    assert call('replay_stop').success and call('set_mode', mode='live').success
