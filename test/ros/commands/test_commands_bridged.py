# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

from bridge_harness import CapturedLog
from bridge_harness import wait_until
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Twist
from geometry_msgs.msg import TwistStamped
from geometry_msgs.msg import Vector3
import pytest
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from small_model import EXTENSIONS
from small_model import XML
from small_world import SmallServer
from std_msgs.msg import Header


@pytest.fixture
def driver(small_server, bridged):
    """Return a function: message type, topic, ... -> (server, bridge, publisher)."""

    def start(kind, topic, extensions=EXTENSIONS, mode='live', **parameters):
        server = small_server(extensions=extensions, mode=mode)
        bridge, listener = bridged(server, **parameters)
        publisher = listener.node.create_publisher(kind, topic, 1)
        wait_until(
            lambda: (
                publisher.get_subscription_count()
                and bridge.timeline.stamp_ns
                and bridge.link.state.connected
            )
        )
        return server, bridge, publisher

    return start


def forward(speed, turn=0.0):
    return Twist(linear=Vector3(x=speed), angular=Vector3(z=turn))


@pytest.mark.distro
def test_a_twist_reaches_the_server_with_a_timeout(driver):
    server, _, publisher = driver(Twist, 'cmd_vel', cmd_vel_type='twist', cmd_vel_timeout=0.3)
    publisher.publish(forward(0.7, 0.2))
    request = wait_until(lambda: server.of('set_twist'))[-1]
    assert (request['articulation'], request['linear'][0], request['angular'][2]) == (
        'bot',
        0.7,
        0.2,
    )
    assert request['timeout'] == 0.3


def test_a_stock_server_is_stopped_by_the_bridge_in_simulation_time(driver):
    server, _, publisher = driver(
        Twist, 'cmd_vel', extensions=(), cmd_vel_type='twist', cmd_vel_timeout=0.2
    )
    publisher.publish(forward(1.0))
    wait_until(lambda: server.of('set_twist'))
    assert 'timeout' not in server.of('set_twist')[0]
    wait_until(lambda: len(server.of('set_twist')) == 2)
    assert server.of('set_twist')[1]['linear'] == [0, 0, 0]
    begun, ended = server.times_of('set_twist')
    assert ended - begun == pytest.approx(0.2, abs=0.08)


@pytest.mark.distro
def test_a_stamped_twist_must_be_of_this_time(driver):
    server, bridge, publisher = driver(
        TwistStamped, 'cmd_vel', cmd_vel_type='twist_stamped', cmd_vel_max_age=0.5
    )
    rejections = bridge.commands.rejections
    wait_until(lambda: server.data.time > 0.7)
    publisher.publish(TwistStamped(header=Header(stamp=Time(nanosec=1)), twist=forward(1.0)))
    wait_until(lambda: rejections.counts.get('cmd_vel') == 1)
    assert 'old' in rejections.last['cmd_vel']
    publisher.publish(TwistStamped(header=Header(stamp=Time(sec=1795237504)), twist=forward(1.0)))
    wait_until(lambda: rejections.counts.get('cmd_vel') == 2)
    assert 'use_sim_time' in rejections.last['cmd_vel']
    assert not server.of('set_twist')
    publisher.publish(TwistStamped(twist=forward(0.1)))
    wait_until(lambda: len(server.of('set_twist')) == 1)
    sec, nanosec = divmod(server.now, 10**9)
    publisher.publish(
        TwistStamped(header=Header(stamp=Time(sec=sec, nanosec=nanosec)), twist=forward(0.2))
    )
    wait_until(lambda: len(server.of('set_twist')) == 2)


def test_a_bridge_that_ends_stops_the_robot(small_server, bridged):
    server = small_server()
    bridge, listener = bridged(server, cmd_vel_type='twist', cmd_vel_timeout=50.0)
    publisher = listener.node.create_publisher(Twist, 'cmd_vel', 1)
    wait_until(lambda: publisher.get_subscription_count() and bridge.link.state.connected)
    publisher.publish(forward(1.0))
    wait_until(lambda: server.of('set_twist'))
    bridge.node.stop()
    assert server.of('set_twist')[-1]['linear'] == [0, 0, 0]


def test_partial_messages_of_one_instant_are_merged_and_none_is_lost(small_server, bridged):
    joints = ''.join(
        f'<body><joint name="{{p}}_j{n}"/><geom size=".1" mass="1"/></body>' for n in range(20)
    )
    motors = ''.join(f'<motor name="{{p}}_j{n}" joint="{{p}}_j{n}"/>' for n in range(20))
    xml = XML.replace('<body name="box"', f'{joints}<body name="box"', 1)
    server = small_server(model_xml=xml.replace('</actuator>', f'{motors}</actuator>'))
    bridge, listener = bridged(server)
    publishers = [listener.node.create_publisher(JointState, 'joint_commands', 100) for _ in '12']
    wait_until(
        lambda: bridge.link.state.connected and all(p.get_subscription_count() for p in publishers)
    )
    for number in range(20):
        for publisher in publishers:
            publisher.publish(JointState(name=[f'j{number}'], effort=[1.0 + number]))
    wait_until(lambda: server.data.ctrl[2:].tolist() == [1.0 + number for number in range(20)])
    assert not bridge.commands.rejections.counts


def test_a_robot_without_a_drive_refuses_cmd_vel_and_logs_the_remedy_once(
    driver, monkeypatch, capfd
):
    hello = SmallServer._op_hello

    def without_drive(self, request, session):
        reply = hello(self, request, session)
        reply['articulations'][0]['twist_controller'] = {'kind': 'command', 'actuators': []}
        return reply

    monkeypatch.setattr(SmallServer, '_op_hello', without_drive)
    server, bridge, publisher = driver(Twist, 'cmd_vel', cmd_vel_type='twist')
    rejections, log = bridge.commands.rejections, CapturedLog(capfd)
    for number in range(10):
        publisher.publish(forward(0.5))
        wait_until(lambda number=number: rejections.counts.get('cmd_vel') == number + 1)
    assert not server.of('set_twist')
    wait_until(lambda: log.with_words('has no drive'))
    (line,) = log.with_words('has no drive')
    assert 'bot' in line and 'cmd_vel_needs_drive' in line
    bridge.node.set_parameters([Parameter('cmd_vel_needs_drive', value=False)])
    publisher.publish(forward(0.5))
    wait_until(lambda: server.of('set_twist'))


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
