# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A node without DDS: its publishers keep their messages, and a test calls its subscriptions."""

from types import SimpleNamespace

from rclpy.qos import QoSProfile


class FakePublisher:
    """
    A publisher of a fake node.

    :ivar sent: messages, or their bytes.
    :ivar subscribers: what it reports as their number.
    """

    topic_name, qos_profile = '', QoSProfile(depth=1)

    def __init__(self, message_type=None, subscribers=1):
        self.msg_type, self.subscribers, self.sent = message_type, subscribers, []

    def get_subscription_count(self):
        return self.subscribers

    def publish(self, message):
        self.sent.append(message)


class FakeNode:
    """
    A node without parameters.

    :ivar publishers: topic -> publisher; `published`: topic -> messages.
    :ivar receivers: topic -> callback of its subscription.
    """

    def __init__(self):
        self.publishers, self.receivers = {}, {}

    @property
    def published(self):
        return {topic: publisher.sent for topic, publisher in self.publishers.items()}

    def has_parameter(self, name):
        return False

    def resolve_topic_name(self, topic):
        return topic

    def count_publishers(self, topic):
        return 1

    def create_publisher(self, message_type, topic, qos, **options):
        return self.publishers.setdefault(topic, FakePublisher(message_type))

    def create_subscription(self, message_type, topic, receive, qos, **options):
        self.receivers[topic] = receive
        return SimpleNamespace(topic_name=topic, msg_type=message_type, qos_profile=qos)
