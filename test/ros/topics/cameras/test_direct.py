# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes reach subscribers as they are, and rclpy's own copy is not made."""

import sys
import time

from bridge_harness import free_domain
from bridge_harness import wait_until
import pytest
import rclpy
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image

from urlab_ros_bridge.ros.rclpy_tools.direct_publisher import DirectPublisher

pytestmark = [pytest.mark.ros, pytest.mark.distro]


@pytest.fixture
def pair():
    """Return a publisher of images, what a subscriber heard, and a function that lets it hear."""
    context = Context()
    rclpy.init(context=context, domain_id=free_domain())
    node, heard = Node('direct', context=context), []
    publisher = node.create_publisher(Image, 'picture', QoSProfile(depth=5))
    node.create_subscription(Image, 'picture', heard.append, QoSProfile(depth=5), raw=True)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    yield publisher, heard, lambda: executor.spin_once(timeout_sec=0.1)
    executor.remove_node(node)
    node.destroy_node()
    rclpy.shutdown(context=context)


def picture(fill):
    return serialize_message(Image(height=480, width=640, data=bytes([fill]) * 640 * 480))


def test_the_bytes_arrive_as_they_are_and_not_through_rclpy(pair, monkeypatch):
    publisher, heard, spin = pair
    direct = DirectPublisher(publisher)
    wait_until(lambda: direct.get_subscription_count() == 1)
    monkeypatch.setattr(publisher, 'publish', lambda *_: pytest.fail('rclpy was asked'))
    messages = [picture(fill) for fill in (1, 2, 3)]
    references = [sys.getrefcount(message) for message in messages]
    for number in range(3):
        direct.publish(messages[number])
    deadline = time.monotonic() + 10
    while len(heard) < 3 and time.monotonic() < deadline:
        spin()
    assert heard == messages
    assert [sys.getrefcount(message) for message in messages] == references


def test_message_objects_go_the_ordinary_way(pair):
    publisher, heard, spin = pair
    direct = DirectPublisher(publisher)
    wait_until(lambda: direct.get_subscription_count() == 1)
    message = Image(height=1, width=2, data=b'\x05\x06')
    direct.publish(message)
    while not heard:
        spin()
    # Bytes that only pad may hold anything.
    assert [deserialize_message(data, Image) for data in heard] == [message]


def test_what_the_middleware_refuses_is_told_as_rclpy_tells_it(pair):
    publisher, _, _ = pair
    direct = DirectPublisher(publisher)
    publisher.handle.destroy_when_not_in_use()
    with pytest.raises(InvalidHandle):
        direct.publish(picture(1))
