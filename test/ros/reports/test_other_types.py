# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Whoever publishes cmd_vel of the type that is not taken is told so, over DDS."""

from types import SimpleNamespace

from bridge_harness import wait_for_message
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist
from geometry_msgs.msg import TwistStamped
import pytest

from urlab_ros_bridge.ros.reports.other_types import OtherTypes

pytestmark = pytest.mark.ros


@pytest.mark.parametrize(
    ('setting', 'kind', 'value'),
    [('twist', TwistStamped, 'twist_stamped'), ('twist_stamped', Twist, 'twist')],
)
def test_diagnostics_name_the_publisher_and_the_parameter(
    small_server, bridged, setting, kind, value
):
    _, listener = bridged(small_server(), cmd_vel_type=setting)
    publisher = listener.node.create_publisher(kind, 'cmd_vel', 1)

    def told(message):
        return any(
            status.level == b'\x01' and 'is ignored' in status.message for status in message.status
        )

    seen = wait_for_message(listener, DiagnosticArray, '/diagnostics', told)
    (status,) = (each for each in seen.status if 'types of commands' in each.name)
    assert '/listener publishes /cmd_vel as geometry_msgs/msg/' in status.message
    assert f'cmd_vel_type set to "{value}"' in status.message
    listener.node.destroy_publisher(publisher)


class Graph:
    """A node that listens to cmd_vel, with made-up publishers: name -> type."""

    def __init__(self, **publishers):
        self.publishers = publishers
        self.asked = []
        self.subscriptions = [
            SimpleNamespace(msg_type=Twist, topic_name=topic)
            for topic in ('/cmd_vel', '/a/cmd_vel')
        ]

    def get_topic_names_and_types(self):
        own = 'geometry_msgs/msg/Twist'
        types = sorted({own, *self.publishers.values()})
        return [('/cmd_vel', types), ('/a/cmd_vel', [own]), ('/odom', ['nav_msgs/msg/Odometry'])]

    def get_publishers_info_by_topic(self, topic):
        self.asked.append(topic)
        return [
            SimpleNamespace(node_namespace='/', node_name=name, topic_type=kind)
            for name, kind in self.publishers.items()
        ]


def test_each_publisher_is_logged_once_and_the_right_ones_never():
    plain, stamped = 'geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped'
    graph, logged = Graph(teleop=plain, nav2=stamped, _UNKNOWN_=stamped), []
    others = OtherTypes(graph, lambda severity, text: logged.append(text))
    for _ in range(3):
        others.check()
    (text,) = logged
    assert text.startswith(f'/nav2 publishes /cmd_vel as {stamped}') and plain in text
    graph.publishers['joy'] = 'sensor_msgs/msg/Joy'
    others.check()
    assert len(logged) == 2 and 'cmd_vel_type' not in logged[1]


def test_only_topics_of_several_types_are_asked_about():
    graph = Graph(teleop='geometry_msgs/msg/Twist')
    others = OtherTypes(graph, print)
    others.check()
    assert not graph.asked and not others.found
    graph.publishers['nav2'] = 'geometry_msgs/msg/TwistStamped'
    others.check()
    assert graph.asked == ['/cmd_vel'] and [each.node for each in others.found] == ['/nav2']
