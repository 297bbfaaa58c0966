# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a bridge makes of a small world, in every dialect of the wire."""

from bridge_harness import LATCHED
from bridge_harness import LISTEN_BEST_EFFORT
from bridge_harness import wait_until
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
import mujoco
from nav_msgs.msg import Odometry
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from sensor_msgs.msg import JointState
from sensor_msgs.msg import LaserScan
from sensor_msgs.msg import NavSatFix
from stamps import ns_of
from tf2_msgs.msg import TFMessage
from urlab_msgs import msg as urlab_msgs

from urlab_ros_bridge.ros.messages.geodesy import GeodeticOrigin
from urlab_ros_bridge.ros.messages.geodesy import TangentPlane

DIALECTS = {
    'rows and sim_time': {'server': {}},
    'stock snapshots': {'server': {'extensions': (), 'send_rows': False}},
    'direct mode': {'server': {'mode': 'direct'}, 'step_mode': 'keep'},
}


@pytest.mark.parametrize('dialect', DIALECTS)
def test_every_dialect_gives_the_same_messages(dialect, small_server, bridged):
    options = dict(DIALECTS[dialect])
    # Time is frozen: however late a topic is discovered, its first message shows this state.
    server = small_server(beat=True, **options.pop('server'))
    with server.lock:
        server.paused = True
        server.data.qpos[:7] = (30.0, -40.0, 0.5, 0.8, 0.0, 0.6, 0.0)
        server.data.qvel[:8] = (1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.5, -0.5)
        mujoco.mj_forward(server.model, server.data)
    gps = {'gps_origin': [48.137, 11.575, 520.0], 'covariance.gps_stddev': [2.0, 3.0, 4.0]}
    _, listener = bridged(server, **gps, **options)
    for kind, topic in (
        (Odometry, 'odom'),
        (NavSatFix, '/gps/fix'),
        (JointState, 'joint_states'),
        (Imu, 'imu/data'),
        (PoseStamped, 'entities/box/pose'),
        (TFMessage, '/tf'),
    ):
        listener.listen(kind, topic)
    odom = listener.wait_for(Odometry, 'odom')
    assert (odom.header.frame_id, odom.child_frame_id) == ('odom', 'base_link')
    linear = odom.twist.twist.linear
    assert (linear.x, linear.y, linear.z) == pytest.approx((-2.6, 2.0, 1.8))  # in its own frame
    turn = odom.pose.pose.orientation
    assert (turn.x, turn.y, turn.z, turn.w) == pytest.approx((0.0, 0.6, 0.0, 0.8))
    fix = listener.wait_for(NavSatFix, '/gps/fix')
    wanted = TangentPlane(GeodeticOrigin(48.137, 11.575, 520.0)).place(30.0, -40.0, 0.5)
    place = pytest.approx((wanted.latitude, wanted.longitude), rel=1e-8)
    assert (fix.latitude, fix.longitude) == place and fix.header.frame_id == 'base_link'
    assert fix.position_covariance.tolist() == [4.0, 0, 0, 0, 9.0, 0, 0, 0, 16.0]
    # A stock server does not tell how good odometry is.
    assert odom.pose.covariance[0] == (0.0 if dialect.startswith('stock') else 0.25)
    joints = listener.wait_for(JointState, 'joint_states')
    assert joints.name == ['shoulder', 'lift']
    assert joints.velocity[1] == pytest.approx(-0.5)
    imu = listener.wait_for(Imu, 'imu/data')
    assert imu.orientation_covariance[0] >= 0  # reported
    assert imu.angular_velocity.z == pytest.approx(0.3)
    box = listener.wait_for(PoseStamped, 'entities/box/pose')
    assert (box.header.frame_id, box.pose.position.x) == ('map', pytest.approx(2.0))
    # The links of the robot have messages of their own.
    listener.wait_for(
        TFMessage,
        '/tf',
        lambda message: (
            [(t.header.frame_id, t.child_frame_id) for t in message.transforms]
            == [('odom', 'base_link'), ('base_link', 'base_footprint')]
        ),
    )


@pytest.mark.distro
def test_one_tick_has_one_stamp_and_the_clock_comes_first(small_server, bridged):
    server = small_server(rate=50)
    _, listener = bridged(server, clock_rate=0.0)
    listener.listen(Clock, '/clock')
    for kind, topic in (
        (Odometry, 'odom'),
        (JointState, 'joint_states'),
        (Imu, 'imu/data'),
        (LaserScan, 'scan'),
        (TFMessage, '/tf'),
        (PoseStamped, 'ground_truth/pose'),
    ):
        listener.listen(kind, topic)
    wait_until(lambda: min(map(len, listener.received.values())) > 20)
    by_stamp = {}
    for written, topic, message in listener.order:
        if topic == '/tf':
            assert len(set(map(ns_of, message.transforms))) == 1
            if message.transforms[0].header.frame_id != 'odom':
                continue  # the links
        by_stamp.setdefault(ns_of(message), {})[topic] = written, message
    whole = [topics for topics in by_stamp.values() if len(topics) == 7]
    assert len(whole) > 15
    for topics in whole:
        order = sorted(topics, key=lambda topic: topics[topic][0])
        assert order[:2] == ['/clock', '/tf']
        pose, base = topics['odom'][1].pose.pose, topics['/tf'][1].transforms[0].transform
        assert topics['ground_truth/pose'][1].pose == pose and base.rotation == pose.orientation
        for axis in 'xyz':
            assert getattr(base.translation, axis) == getattr(pose.position, axis)


@pytest.mark.distro
def test_static_transforms_join_every_sensor_frame_to_the_base(small_server, bridged):
    _, listener = bridged(small_server(), publish_map_to_odom=True)
    message = listener.wait_for(TFMessage, '/tf_static', qos=LATCHED)
    parents = {t.child_frame_id: t.header.frame_id for t in message.transforms}
    assert parents['imu_link'] == parents['lidar'] == 'base_link'
    assert parents['odom'] == 'map'
    assert all(ns_of(t) == 0 for t in message.transforms)


def test_rows_are_subscribed_only_for_topics_with_subscribers(small_server, bridged):
    server = small_server()
    bridge, listener = bridged(server, publish_entities=True)
    wait_until(lambda: bridge.stream.counters.ticks > 10)
    assert bridge.stream._subscribed == set()
    listener.listen(JointState, 'joint_states')
    wait_until(lambda: bridge.stream._subscribed == {b'bot/joint/', b'bot/effort'})


def test_while_paused_only_new_subscribers_get_the_state(small_server, bridged):
    server = small_server()
    bridge, listener = bridged(server)
    odom = listener.listen(Odometry, 'odom')
    clock = listener.listen(Clock, '/clock', LISTEN_BEST_EFFORT)
    wait_until(lambda: len(odom) > 10 and clock)
    with server.lock:
        server.paused = True
    wait_until(lambda: ns_of(odom[-1]) == server.now)
    count, ticks = len(odom), bridge.stream.counters.ticks
    wait_until(lambda: bridge.stream.counters.ticks > ticks + 50)
    assert len(odom) == count
    wait_until(lambda: ns_of(clock[-1]) == server.now)
    joints = listener.wait_for(JointState, 'joint_states')
    assert ns_of(joints) == server.now
    # A robot that is moved by hand while time is frozen is shown.
    with server.lock:
        server.data.qpos[0] = 7.0
    moved = listener.wait_for(
        Odometry, 'odom', lambda message: message.pose.pose.position.x == 7.0
    )
    assert ns_of(moved) == server.now


def test_observe_only_publishes_without_a_single_request(small_server, bridged):
    server = small_server()
    _, listener = bridged(server, observe_only=True)
    odom = listener.wait_for(Odometry, 'odom', timeout=15)
    assert odom.header.frame_id == 'odom'
    joints = listener.wait_for(JointState, 'joint_states')
    assert joints.name == ['shoulder', 'lift']
    gyro = listener.wait_for(urlab_msgs.SensorStamped, 'sensor/gyro')
    assert (gyro.type, gyro.unit, len(gyro.data)) == ('', '', 3)
    diagnostics = listener.wait_for(DiagnosticArray, '/diagnostics')
    assert 'observing' in diagnostics.status[0].message
    assert server.requests == []
