# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What is published or received is recorded once, as bytes, while its topic is recorded."""

import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image
from std_msgs.msg import String

from urlab_ros_bridge.ros.bag import RecordableNode
from urlab_ros_bridge.ros.bag import RecordableTopics
from urlab_ros_bridge.ros.bag.metadata import BagTopic
from urlab_ros_bridge.ros.bag.topics import MAX_AHEAD_NS
from urlab_ros_bridge.ros.bag.topics import Sink

pytestmark = pytest.mark.ros
NOW = 5_000_000_000


@pytest.fixture
def node(ros_node):
    node = ros_node(RecordableNode, node_name='recorded')
    node.topics = RecordableTopics(lambda: NOW)
    return node


@pytest.fixture
def recorded():
    """Return a list of what was recorded, and a function that finds a sink for every topic."""
    kept = []

    def find(name, message_type, profile):
        topic = BagTopic(name, message_type.__name__, '')
        put = lambda topic, stamp, data: kept.append((topic.name, stamp, data))  # noqa: E731
        return Sink(topic, message_type, put, lambda: NOW)

    return kept, find


def image(stamp_ns):
    message = Image(data=bytes(1000))
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 10**9)
    return serialize_message(message)


def test_objects_and_bytes_are_recorded_while_the_recorder_counts_as_a_subscriber(node, recorded):
    kept, find = recorded
    publisher = node.create_publisher(String, 'text', 1)
    publisher.publish(String(data='before'))
    assert publisher.get_subscription_count() == 0
    assert node.topics.record(find) == ['/text'] and publisher.get_subscription_count() == 1
    publisher.publish(String(data='one'))
    publisher.publish(serialize_message(String(data='two')))
    assert node.topics.record(None) == [] and publisher.get_subscription_count() == 0
    publisher.publish(String(data='after'))
    wanted = [('/text', NOW, serialize_message(String(data=text))) for text in ('one', 'two')]
    assert kept == wanted


def test_a_message_is_recorded_at_its_stamp_unless_that_is_far_ahead(node, recorded):
    kept, find = recorded
    node.topics.record(find)
    publisher = node.create_publisher(Image, 'image', 1)
    images = list(map(image, (NOW - 7, NOW + MAX_AHEAD_NS, NOW + MAX_AHEAD_NS + 1, 0)))
    for each in images:
        publisher.publish(each)
    times = (NOW - 7, NOW + MAX_AHEAD_NS, NOW, NOW)
    assert kept == [('/image', *pair) for pair in zip(times, images, strict=True)]
