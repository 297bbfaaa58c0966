# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the ROS graph: publishers of another type, other publishers."""

from bridge_harness import wait_until
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry

from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.reports import graph
from urlab_ros_bridge.ros.reports.graph import GraphCheck


def test_a_check_that_fails_is_a_warning_and_logged_once_until_it_succeeds_again(ros_node):
    class Check(GraphCheck):
        name = 'names'

        def check(self):
            if failures:
                raise failures.pop()

        def results(self):
            return [Status('names', 'none', {})]

    failures, logged, levels = 2 * [ValueError('no graph')], [], []
    check = Check(ros_node(), lambda *entry: logged.append(entry))
    for _ in range(3):
        check.run()
        levels += [status.level for status in check.statuses()]
    assert levels == ['warning', 'warning', 'ok'] and len(logged) == 1


def test_diagnostics_name_the_publisher_and_the_parameter(small_server, bridged):
    _, listener = bridged(small_server(), cmd_vel_type='twist')
    publisher = listener.node.create_publisher(TwistStamped, 'cmd_vel', 1)

    def is_reported(message):
        return any(
            status.level == b'\x01' and 'is ignored' in status.message for status in message.status
        )

    report = listener.wait_for(DiagnosticArray, '/diagnostics', is_reported)
    (status,) = (each for each in report.status if 'types of commands' in each.name)
    assert '/listener publishes /cmd_vel as geometry_msgs/msg/' in status.message
    assert 'cmd_vel_type set to "twist_stamped"' in status.message
    listener.node.destroy_publisher(publisher)


def test_another_publisher_of_a_topic_is_reported_until_it_ends(
    small_server, bridged, monkeypatch
):
    monkeypatch.setattr(graph, 'CHECK_SECONDS', 0.2)
    monkeypatch.setattr(graph, 'SETTLED_SECONDS', 1.0)
    monkeypatch.setattr(graph, 'LEASE_SECONDS', 1.0)
    _, listener = bridged(small_server())
    reports = listener.listen(DiagnosticArray, '/diagnostics')

    def is_reported():
        found = [s for m in reports[-1:] for s in m.status if s.name.endswith('other publishers')]
        return any('/listener' in s.message and '/odom' in s.message for s in found)

    publisher = listener.node.create_publisher(Odometry, 'odom', 1)
    wait_until(is_reported)
    listener.node.destroy_publisher(publisher)
    wait_until(lambda: not is_reported())
