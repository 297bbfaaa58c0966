# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A second robot comes and goes while the first one moves on."""

import itertools

from bridge_harness import wait_for_time
from bridge_harness import wait_until
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
import pytest

from urlab_ros_bridge.client.client import Client

BOX = """<mujoco><worldbody><body><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody></mujoco>"""


def nanoseconds(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def test_topics_of_a_robot_continue_while_others_are_spawned_and_deleted(simulation):
    server, _, listener = simulation('--cameras', 'off', cmd_vel_type='twist')
    odom = listener.listen(Odometry, '/odom')
    wait_until(lambda: odom)
    with Client('127.0.0.1', server.ports[0], shared=True) as client:
        client.set_twist('rover', angular=(0.0, 0.0, 0.5))
        wait_until(lambda: odom[-1].twist.twist.angular.z > 0.4)
        box = client.spawn_entity('box', xml=BOX, pos=(3, 2, 0.1))
        second = client.spawn_entity('second', file='rover.yaml', pos=(2, 2, 0))
        assert second.sim_time_ns >= box.sim_time_ns
        pose = listener.wait_for(PoseStamped, '/entities/box/pose').pose.position
        assert (pose.x, pose.y) == pytest.approx((3, 2), abs=0.05)
        driven = listener.listen(Odometry, '/second/odom')
        publisher = listener.node.create_publisher(Twist, '/second/cmd_vel', 10)
        command = Twist()
        command.linear.x = 0.3

        def moves():
            publisher.publish(command)
            return driven and driven[-1].twist.twist.linear.x > 0.2

        wait_until(moves)
        client.delete_entity('second')
        client.delete_entity('box')
        after = client.status().sim_time_ns
    wait_until(lambda: not listener.node.count_publishers('/second/odom'))
    last = wait_for_time(odom, after + 200_000_000)
    assert last.twist.twist.angular.z > 0.4, 'it was stopped'
    stamps = [nanoseconds(message) for message in list(odom)]
    assert all(new >= old for old, new in itertools.pairwise(stamps))
