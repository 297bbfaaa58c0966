# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A robot that is deleted takes its topics along, while another thread lists them."""

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from geometry_msgs.msg import Twist  # noqa: E402
from rclpy.node import Node  # noqa: E402

from urlab_ros_bridge.ros.reports.graph import with_topics  # noqa: E402


class Deleting(Node):
    """A node whose last endpoints are destroyed right after they were listed."""

    @property
    def subscriptions(self):
        found = list(super().subscriptions)
        self.destroy_subscription(found[-1])
        return iter(found)

    @property
    def publishers(self):
        found = list(super().publishers)
        self.destroy_publisher(found[-1])
        return iter(found)


@pytest.fixture
def node(ros_node):
    made = ros_node(Deleting, node_name='deleting')
    for name in 'abc':
        made.create_subscription(Twist, f'{name}/cmd_vel', print, 1)
        made.create_publisher(Twist, f'{name}/odom', 1)
    return made


def test_what_is_destroyed_is_left_out(node):
    assert [topic for _, topic in with_topics(node.subscriptions)][-2:] == [
        '/a/cmd_vel',
        '/b/cmd_vel',
    ]
    assert [topic for _, topic in with_topics(node.publishers)][-2:] == ['/a/odom', '/b/odom']
