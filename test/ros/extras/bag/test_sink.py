# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which topics are recorded; a message is recorded once, as bytes, at its time."""

import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image
from stamps import time_of

from urlab_ros_bridge.ros.extras.bag.metadata import BagTopic
from urlab_ros_bridge.ros.extras.bag.selection import Selection
from urlab_ros_bridge.ros.extras.bag.sink import MAX_AHEAD_NS
from urlab_ros_bridge.ros.extras.bag.sink import Sink
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.taps import Taps

NOW = 5_000_000_000


@pytest.fixture
def node(ros_node):
    node = ros_node()
    node.taps = Taps()
    return node


def image(stamp_ns):
    message = Image(data=bytes(1000))
    message.header.stamp = time_of(stamp_ns)
    return serialize_message(message)


def test_a_message_is_recorded_at_its_stamp_unless_that_is_far_ahead(node):
    kept = []

    def find(name, message_type, profile):
        put = lambda topic, stamp, data: kept.append((topic.name, stamp, data))  # noqa: E731
        return Sink(BagTopic(name, message_type.__name__, ''), message_type, put, lambda: NOW)

    publisher = Publishers(node).get(Image, 'image')
    publisher.publish(image(NOW))
    assert node.taps.record(find) == ['/image']
    images = list(map(image, (NOW - 7, NOW + MAX_AHEAD_NS, NOW + MAX_AHEAD_NS + 1, 0)))
    for each in images:
        publisher.publish(each)
    assert node.taps.record(None) == []
    publisher.publish(image(NOW))
    times = (NOW - 7, NOW + MAX_AHEAD_NS, NOW, NOW)
    assert kept == [('/image', *pair) for pair in zip(times, images, strict=True)]


def test_expressions_select_groups_and_without_them_images_and_clouds_are_left_out():
    selection = Selection(['odom', 'front_rgb/.*'], ['.*/compressed'])
    for topic in ('/odom', '/front_rgb/image_raw', '/clock', '/tf', '/rover_1/tf_static'):
        assert selection.wants(topic)
    for topic in ('/odom2', '/rover/odom', '/front_rgb/image_raw/compressed', '/shtf'):
        assert not selection.wants(topic)
    selection = Selection([], [])
    for topic in ('/odom', '/cmd_vel', '/clock', '/front/labels'):
        assert selection.wants(topic)
    for topic in ('/f/camera_info', '/r/f/image_raw', '/f/image_raw/compressed', '/f/points/high'):
        assert not selection.wants(topic)
        assert Selection([topic], []).wants(topic)
