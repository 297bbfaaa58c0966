# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import math

from bridge_harness import wait_until
from example_counts import examples
from geometry_msgs.msg import PoseWithCovarianceStamped
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
import pytest
from urlab_msgs import srv

from urlab_ros_bridge.ros.topics.robot.initial_pose import Displacement

TICK = 20_000_000


def base(place=(0.0, 0.0, 0.0), yaw=0.0, speed=(0.0, 0.0, 0.0), turn=0.0):
    return (*place, 0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2), *speed, 0.0, 0.0, turn)


@settings(max_examples=examples(50))
@given(
    speed=st.floats(-50.0, 50.0),
    turn=st.floats(-20.0, 20.0),
    steps=st.lists(st.integers(1, 50), min_size=1, max_size=20),
)
def test_motion_is_no_displacement_at_any_speed_and_with_lost_ticks(speed, turn, steps):
    displacement, now = Displacement(), 0
    assert not displacement.seen(0, base(speed=(speed, 0, 0), turn=turn))  # the first pose
    for step in steps:
        now += step * TICK
        seconds = now * 1e-9
        here = base((speed * seconds, 0.0, 0.0), turn * seconds, (speed, 0.0, 0.0), turn)
        assert not displacement.seen(now, here)


def test_the_true_pose_is_published_for_new_subscribers_and_after_displacements(
    small_server, bridged
):
    server = small_server(beat=True)
    bridge, listener = bridged(server, publish_initialpose=True)
    poses = listener.listen(PoseWithCovarianceStamped, '/initialpose')
    odometry = listener.listen(Odometry, '/odom')
    wait_until(lambda: len(poses) == 1)
    assert poses.pop().pose.pose.position.x == pytest.approx(0.0, abs=0.2)
    seen = len(odometry)
    wait_until(lambda: len(odometry) > seen + 50)
    assert not poses  # it is not repeated while the robot drives
    with server.lock:
        server.data.qpos[:2] = 7.0, -3.0
    displaced = listener.wait_for(
        PoseWithCovarianceStamped,
        '/initialpose',
        lambda message: message.pose.pose.position.x == pytest.approx(7.0, abs=0.2),
    )
    assert displaced.header.frame_id == 'map'
    assert [displaced.pose.covariance[place] for place in (0, 7, 35)] == [0.01] * 3
    assert len(poses) == 1
    assert listener.call(srv.Reset, '/reset', time=True).success
    wait_until(lambda: len(poses) == 2)
    assert poses[-1].pose.pose.position.x == pytest.approx(0.0, abs=0.2)
    # A restarted subscriber gets it again.
    (feed,) = [feed for feed in bridge.world.topics.feeds if feed.topic == 'initialpose']
    listener.forget()
    wait_until(lambda: not feed.has_subscribers)
    poses = listener.listen(PoseWithCovarianceStamped, '/initialpose')
    wait_until(lambda: len(poses) == 1)
