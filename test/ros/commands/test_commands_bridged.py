# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

from bridge_harness import wait_until
from geometry_msgs.msg import Twist
from geometry_msgs.msg import TwistStamped
from geometry_msgs.msg import Vector3
import pytest
from sensor_msgs.msg import JointState
from stamps import time_of
from std_msgs.msg import Header


@pytest.fixture
def driver(small_server, bridged):
    """Return a function: message type, topic, parameters -> (server, bridge, publisher)."""

    def start(kind, topic, **parameters):
        server = small_server()
        bridge, listener = bridged(server, **parameters)
        publisher = listener.node.create_publisher(kind, topic, 1)
        wait_until(lambda: publisher.get_subscription_count() and bridge.settled)
        return server, bridge, publisher

    return start


def forward(speed, turn=0.0):
    return Twist(linear=Vector3(x=speed), angular=Vector3(z=turn))


def stamped(stamp_ns):
    return TwistStamped(header=Header(stamp=time_of(stamp_ns)), twist=forward(1.0))


@pytest.mark.distro
def test_a_twist_reaches_the_server_with_a_timeout_and_the_robot_stops_with_the_bridge(driver):
    options = {'cmd_vel_type': 'twist', 'cmd_vel_timeout': 50.0}
    server, bridge, publisher = driver(Twist, 'cmd_vel', **options)
    publisher.publish(forward(0.7, 0.2))
    request = wait_until(lambda: server.of('set_twist'))[-1]
    assert (request['articulation'], request['timeout']) == ('bot', 50.0)
    assert (request['linear'][0], request['angular'][2]) == (0.7, 0.2)
    bridge.node.stop()
    assert server.of('set_twist')[-1]['linear'] == [0, 0, 0]


@pytest.mark.distro
def test_a_stamped_twist_must_be_of_this_time(driver):
    server, bridge, publisher = driver(
        TwistStamped, 'cmd_vel', cmd_vel_type='twist_stamped', cmd_vel_max_age=0.5
    )
    rejections = bridge.commands.rejections
    wait_until(lambda: server.data.time > 0.7)
    publisher.publish(stamped(1))
    wait_until(lambda: rejections.counts.get('cmd_vel') == 1)
    assert 'old' in rejections.last['cmd_vel']
    publisher.publish(stamped(1795237504 * 10**9))
    wait_until(lambda: rejections.counts.get('cmd_vel') == 2)
    assert 'use_sim_time' in rejections.last['cmd_vel']
    assert not server.of('set_twist')
    for count, has_stamp in ((1, False), (2, True)):
        publisher.publish(stamped(server.now if has_stamp else 0))
        wait_until(lambda count=count: len(server.of('set_twist')) == count)


@pytest.mark.distro
def test_joint_commands_by_name_keep_what_they_do_not_name(driver):
    server, _, publisher = driver(JointState, 'joint_commands')
    server.data.ctrl[:] = (0.25, 0.0)
    publisher.publish(JointState(name=['lift'], effort=[2.0]))
    wait_until(lambda: server.data.ctrl[1] == 2.0)
    assert server.data.ctrl[0] == pytest.approx(0.25)
    publisher.publish(JointState(name=['bot_shoulder'], position=[-0.5]))
    wait_until(lambda: server.data.ctrl[0] == -0.5)
    assert server.data.ctrl[1] == 2.0
