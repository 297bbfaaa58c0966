# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What is published or received is recorded once, as bytes, while its topic is recorded."""

import pytest
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image
from std_msgs.msg import String

from urlab_ros_bridge.ros.bag import RecordableNode
from urlab_ros_bridge.ros.bag import RecordableTopics
from urlab_ros_bridge.ros.bag.storage.topic import BagTopic
from urlab_ros_bridge.ros.bag.topics import MAX_AHEAD_NS
from urlab_ros_bridge.ros.bag.topics import Sink

pytestmark = pytest.mark.ros
NOW = 5_000_000_000
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


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


def test_latched_messages_without_a_time_wait_for_a_bag(node, recorded):
    _, find = recorded
    text = node.create_publisher(String, 'text', LATCHED)
    picture = node.create_publisher(Image, 'image', LATCHED)
    other = node.create_publisher(String, 'other', 1)
    for data in ('old', 'new'):
        text.publish(String(data=data))
        other.publish(String(data=data))
    picture.publish(image(NOW))
    assert node.topics.latched() == []
    node.topics.record(find)
    ((sink, message),) = node.topics.latched()
    assert sink.topic.name == '/text' and message.data == 'new'


def test_what_comes_and_goes_while_a_bag_is_written(node, recorded):
    kept, find = recorded
    node.topics.record(find)
    publisher = node.create_publisher(String, 'late', 1)
    subscription = node.create_subscription(String, 'heard', lambda message: None, 1)
    publisher.publish(String(data='x'))
    assert [name for name, _, _ in kept] == ['/late']
    assert set(node.topics.names()) == {'/late', '/heard'}
    node.destroy_publisher(publisher)
    node.destroy_subscription(subscription)
    assert node.topics.names() == []


def test_what_is_heard_is_recorded_before_it_is_handed_on(node, recorded):
    kept, find = recorded
    order = []
    subscription = node.create_subscription(
        Image, 'heard', lambda message: order.append(len(kept)), 1
    )
    node.topics.record(find)
    message = Image()
    message.header.stamp.sec = 99  # of whoever sent it
    subscription.callback(message)
    ((topic, stamp, data),) = kept
    assert order == [1] and (topic, stamp) == ('/heard', NOW)
    # Not its bytes: those that align the numbers are whatever was in the memory before.
    assert deserialize_message(data, Image) == message
