# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Odometry from wheels: exact on arcs, true without slip, off with it."""

from __future__ import annotations

import math

from bridge_harness import wait_until
from example_counts import examples
from geometry_msgs.msg import PoseStamped
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from scipy.linalg import expm
from simulation_interfaces.msg import EntityState
from simulation_interfaces.srv import SetEntityState
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage
from urlab_msgs import srv

from urlab_ros_bridge.geometry import yaw_of
from urlab_ros_bridge.ros.topics.robot.wheel_odometry import WheelOdometry

DIFFERENTIAL = [(10.0, 0.0, -2.0), (0.0, 0.0, 0.0), (10.0, 0.0, 2.0)]  # an arm joint between
MECANUM = [(20.0, -side * end * 20.0, side * 20.0 * 0.35) for end in (1, -1) for side in (-1, 1)]
speed = st.floats(-2.0, 2.0)


@pytest.mark.parametrize(
    ('matrix', 'axle'),
    [(DIFFERENTIAL, None), (DIFFERENTIAL, -0.3), (MECANUM, None)],
    ids=['differential', 'axle behind', 'mecanum'],
)
@settings(max_examples=examples(50))
@given(
    twist=st.tuples(speed, speed, speed),
    start=st.tuples(speed, speed, st.floats(-3.0, 3.0)),
    ticks=st.lists(st.floats(1e-3, 0.5), min_size=1, max_size=20),
)
def test_a_constant_twist_leads_along_its_arc_however_it_is_sampled(
    matrix, axle, twist, start, ticks
):
    matrix = np.array(matrix)
    twist = np.array(twist)
    if not matrix[:, 1].any():
        twist[1] = -twist[2] * (axle or 0.0)
    x, y, yaw = start
    base = (x, y, 0.1, 0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))
    odometry, time = WheelOdometry(matrix, 0.0, axle), 0.0
    for tick in (0.0, *ticks):
        time += tick
        odometry.update(round(time * 1e9), matrix @ twist * time, matrix @ twist, base)

    def group(x, y, yaw):
        return np.array([[0.0, -yaw, x], [yaw, 0.0, y], [0.0, 0.0, 0.0]])

    begin = np.eye(3)
    begin[:2, :2] = [[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]]
    begin[:2, 2] = x, y
    end = begin @ expm(group(*twist) * time)
    found_x, found_y, height, found_yaw = odometry.pose
    np.testing.assert_allclose((found_x, found_y), end[:2, 2], atol=1e-9)
    turned = found_yaw - math.atan2(end[1, 0], end[0, 0])
    assert abs(math.remainder(turned, math.tau)) < 1e-9
    assert height == 0.1
    np.testing.assert_allclose(odometry.twist, twist, atol=1e-9)


def test_it_comes_from_the_wheels_alone_and_the_true_place_of_odom_in_the_map_beside_it(bundled):
    parameters = {'odom_source': 'wheels', 'publish_map_to_odom': True, 'odom_rate': 50.0}
    server, bridge, listener = bundled({'world': 'rover'}, **parameters)
    client = bridge.link.client
    wait_until(lambda: bridge.settled, 20.0)
    client.set_twist('rover', (0.4, 0.0, 0.0), (0.0, 0.0, 0.4))
    # It is integrated before anybody listens.
    begun = bridge.timeline.stamp_ns
    wait_until(lambda: bridge.timeline.stamp_ns > begun + 1_000_000_000)
    client.set_twist('rover', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    odom = listener.wait_for(Odometry, '/odom', lambda it: abs(it.twist.twist.linear.x) < 1e-3)
    truth = listener.wait_for(PoseStamped, '/ground_truth/pose').pose.position.x
    assert odom.pose.pose.position.x == pytest.approx(truth, abs=0.05)
    assert 0.0 < odom.pose.covariance[0] < 1.0 and odom.twist.covariance[0] > 0.0
    # Moved while its wheels do not turn, it has not moved by odometry.
    world = server.simulation.world
    with server.simulation.engine.lock:
        world.data.qpos[world.articulations['rover'].base_joint.qpos_address] -= 0.5
    listener.forget()
    there = pytest.approx(truth - 0.5, abs=0.05)
    listener.wait_for(PoseStamped, '/ground_truth/pose', lambda it: it.pose.position.x == there)
    frames = listener.wait_for(
        TFMessage, '/tf', lambda message: message.transforms[0].header.frame_id == 'map'
    )
    slipped_pose = listener.wait_for(Odometry, '/odom').pose.pose
    assert slipped_pose.position.x == pytest.approx(odom.pose.pose.position.x, abs=0.05)
    to_odom, to_base = (item.transform for item in frames.transforms[:2])
    assert frames.transforms[1].child_frame_id == odom.child_frame_id
    yaw = yaw_of((0.0, 0.0, to_odom.rotation.z, to_odom.rotation.w))
    x, y = to_base.translation.x, to_base.translation.y
    assert to_odom.translation.x + math.cos(yaw) * x - math.sin(yaw) * y == there
    # Requests know that place, too.
    state = EntityState(header=Header(frame_id='odom'), pose=slipped_pose)
    state.pose.position.z = 1.0
    fields = {'set_pose': True} if hasattr(SetEntityState.Request, 'set_pose') else {}
    placed = listener.call(
        SetEntityState, '/set_entity_state', entity='pallet', state=state, **fields
    )
    assert placed.result.result == 1, placed.result
    assert client.get_entities(['pallet'])['pallet'].pos[0] == there
    assert listener.call(srv.Reset, '/reset').success
    again = listener.wait_for(Odometry, '/odom', lambda message: message.pose.covariance[0] < 1e-6)
    assert abs(again.pose.pose.position.x) < 1e-2


def test_wheel_odometry_without_wheels_is_refused_with_the_valid_drives(small_server, bridged):
    bridge, _ = bridged(small_server(), odom_source='wheels')
    wait_until(lambda: bridge.settled, 20.0)
    (note,) = [note for note in bridge.world.topics.notes if 'odom_source' in note]
    assert 'differential, ackermann, omni' in note and 'planar' in note
    names = {publisher.topic_name for publisher in bridge.node.publishers}
    assert '/ground_truth/pose' in names and '/odom' not in names
