# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes of a template through the middleware to an ordinary subscriber."""

import time

from domains import free_domain
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState

from urlab_ros_bridge.ros.messages.cdr import Template

pytestmark = [pytest.mark.ros, pytest.mark.distro]


@pytest.fixture
def node(monkeypatch):
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=free_domain())
    node = rclpy.create_node('template_test', context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.mark.parametrize('effort', [[0.0, 0.0], []])
def test_a_subscriber_gets_what_was_written(node, effort):
    # Without efforts the message ends with an empty sequence of eight-byte numbers.
    template = Template(
        JointState(
            name=['left', 'right_wheel'], position=[0.0, 0.0], velocity=[0.0, 0.0], effort=effort
        )
    )
    template.writer('header.stamp')(12, 345)
    template.array('position')[...] = 1.5, -2.5
    template.array('velocity')[...] = 3.0, 4.0
    expected = JointState(
        name=['left', 'right_wheel'], position=[1.5, -2.5], velocity=[3.0, 4.0], effort=effort
    )
    expected.header.stamp.sec, expected.header.stamp.nanosec = 12, 345
    received = []
    publisher = node.create_publisher(JointState, 'states', 10)
    node.create_subscription(JointState, 'states', received.append, 10)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    deadline = time.monotonic() + 10
    while not received and time.monotonic() < deadline:
        publisher.publish(template.to_bytes())
        executor.spin_once(timeout_sec=0.05)
    executor.shutdown()
    assert received and received[0] == expected
