# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Driving through cmd_vel, and what happens after the driver has ended."""

import math
import sys
import time

from bridge_harness import wait_for_time
from bridge_harness import wait_until
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from lifelines import start_process
from nav_msgs.msg import Odometry
import pytest
from tf2_msgs.msg import TFMessage

from urlab_ros_bridge.client.client import Client

TIMEOUT = 0.5
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


def nanoseconds(stamp):
    return stamp.sec * 10**9 + stamp.nanosec


def seconds(message):
    return nanoseconds(message.header.stamp) * 1e-9


@pytest.fixture(scope='module')
def lasting_rover(lasting_simulation):
    # On a busy machine commands arrive late: none is too old.
    return lasting_simulation(
        cmd_vel_type='twist', cmd_vel_timeout=TIMEOUT, odom_rate=100.0, command_max_age=0.0
    )


@pytest.fixture
def rover(lasting_rover, observer):
    """Return (server, bridge, listener) of a rover where it starts."""
    server, _, listener = lasting_rover
    with server.in_use():
        observer(server).reset()
        yield lasting_rover
    listener.forget()


@pytest.mark.slow
def test_two_seconds_forward_agree_on_every_topic_and_a_killed_driver_stops(rover):
    server, _, listener = rover
    odom = listener.listen(Odometry, 'odom')
    truth = listener.listen(PoseStamped, 'ground_truth/pose')
    transforms = listener.listen(TFMessage, '/tf')
    wait_until(lambda: odom and truth and transforms)
    domain = listener.context.get_domain_id()
    driver = start_process([sys.executable, '-c', DRIVER.format(domain=domain)])
    try:
        moving = listener.wait_for(
            Odometry, 'odom', lambda message: message.twist.twist.linear.x > 0.02
        )
        start = seconds(moving)
        wait_until(lambda: seconds(odom[-1]) > start + 2.0)
    finally:
        driver.kill()
        driver.wait()
    killed = server.now_ns() * 1e-9
    wait_for_time(odom, server.now_ns(later=TIMEOUT + BRAKING + 1.0))

    # A busy listener may have missed the first messages, and the one at two seconds sharp.
    later = next(m for m in odom if seconds(m) >= start + 2.0)
    driven = later.pose.pose.position.x - moving.pose.pose.position.x
    missing = 1.0 - moving.twist.twist.linear.x
    assert driven == pytest.approx(seconds(later) - start - 0.5 * BRAKING * missing**2, abs=0.1)
    fastest = max(message.twist.twist.linear.x for message in odom)
    assert fastest == pytest.approx(1.0, abs=0.05)

    # The last command may have been on its way, and braking takes its time.
    stopped = [m for m in odom if seconds(m) > killed + TIMEOUT + BRAKING + 0.3]
    assert stopped and all(abs(m.twist.twist.linear.x) < 0.02 for m in stopped)

    by_stamp = {nanoseconds(m.header.stamp): m.pose for m in truth}
    frames = {
        nanoseconds(t.header.stamp): t.transform
        for m in transforms
        for t in m.transforms
        if t.child_frame_id == 'base_link'
    }
    compared = 0
    for message in list(odom):
        stamp, pose = nanoseconds(message.header.stamp), message.pose.pose
        if stamp in by_stamp and stamp in frames:
            compared += 1
            assert by_stamp[stamp] == pose
            place, turn = frames[stamp].translation, frames[stamp].rotation
            assert (place.x, place.y, place.z) == (
                pose.position.x,
                pose.position.y,
                pose.position.z,
            )
            assert (turn.x, turn.y, turn.z, turn.w) == (
                pose.orientation.x,
                pose.orientation.y,
                pose.orientation.z,
                pose.orientation.w,
            )
    assert compared > 100


def test_a_killed_bridge_stops_the_robot(rover):
    server, bridge, listener = rover
    publisher = listener.node.create_publisher(Twist, 'cmd_vel', 1)
    wait_until(publisher.get_subscription_count)
    odom = listener.listen(Odometry, 'odom')

    def drive():
        publisher.publish(Twist(linear=Vector3(x=1.0)))
        time.sleep(0.05)
        return odom and odom[-1].twist.twist.linear.x > 0.9

    wait_until(drive)
    bridge.kill()
    with Client('127.0.0.1', server.ports[0], shared=True) as client:
        stands = client.status().sim_time_ns + round((TIMEOUT + BRAKING + 0.3) * 1e9)
        wait_until(lambda: client.status().sim_time_ns >= stands)
        velocity = client.step().articulations['rover'].qvel
        assert math.hypot(*velocity[:2]) < 0.02
