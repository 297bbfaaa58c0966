# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which topics are recorded; a message is recorded once, as bytes, at its time."""

import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image
from std_msgs.msg import String

from urlab_ros_bridge.ros.bag import RecordableNode
from urlab_ros_bridge.ros.bag import RecordableTopics
from urlab_ros_bridge.ros.bag.bag import Selection
from urlab_ros_bridge.ros.bag.metadata import BagTopic
from urlab_ros_bridge.ros.bag.topics import MAX_AHEAD_NS
from urlab_ros_bridge.ros.bag.topics import Sink
from urlab_ros_bridge.schema.patterns import BadPattern

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


def test_expressions_select_groups():
    selection = Selection(['odom', 'front_rgb/.*'], ['.*/compressed'])
    wanted = ['/odom', '/front_rgb/image_raw', '/front_rgb/camera_info', '/clock', '/tf',
              '/tf_static', '/rover_1/tf', '/rover_1/tf_static']  # fmt: skip
    refused = ['/odom2', '/rover/odom', '/front_rgb/image_raw/compressed', '/scan', '/shtf']
    assert [topic for topic in wanted + refused if selection.wants(topic)] == wanted


def test_without_names_pictures_and_clouds_are_left_out():
    selection = Selection([], [])
    for topic in ('/odom', '/cmd_vel', '/clock', '/front/labels'):
        assert selection.wants(topic)
    for topic in (
        '/f/camera_info',
        '/f/image_raw',
        '/f/image_raw/compressed',
        '/f/points',
        '/f/points/high',
        '/r/f/image_raw',
    ):
        assert not selection.wants(topic)
        assert Selection([topic], []).wants(topic)


@pytest.mark.parametrize('text', ['(', '[a', '*', ''])
def test_invalid_expressions_are_refused(text):
    for topics, exclude in (([text], []), ([], [text])):
        with pytest.raises(BadPattern) as refused:
            Selection(topics, exclude)
        assert repr(text) in str(refused.value)
