# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The ROS graph is read by timers of the node, whatever goes wrong there."""

from bridge_harness import Bridge
from bridge_harness import free_domain
from bridge_harness import wait_until
import pytest

from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.reports import graph_check
from urlab_ros_bridge.ros.reports.graph_check import GraphCheck
from urlab_ros_bridge.ros.reports.other_publishers import OtherPublishers
from urlab_ros_bridge.ros.reports.other_types import OtherTypes

pytestmark = pytest.mark.ros


@pytest.fixture
def make(ros_node):
    """Return a function: function that checks -> the check, and what it logs."""

    def make(check):
        logged = []
        made = GraphCheck(ros_node(), lambda severity, text: logged.append((severity, text)))
        made.name, made.check = 'names', check
        made.results = lambda: [Status('names', 'none', {})]
        return made, logged

    return make


def test_a_bridge_makes_all_checks_until_it_stops(small_server, monkeypatch):
    monkeypatch.setattr(graph_check, 'CHECK_SECONDS', 0.01)
    seen = []
    for kind in (OtherPublishers, OtherTypes):

        def check(self, real=kind.check):
            seen.append(type(self))
            real(self)

        monkeypatch.setattr(kind, 'check', check)
    bridge = Bridge(free_domain(), *small_server().ports)
    try:
        wait_until(lambda: bridge.link.state.connected)
        wait_until(lambda: len(set(seen)) == 2)
    finally:
        bridge.close()


def test_a_check_that_fails_is_reported_once_until_it_works_again(make):
    wrong = [ValueError('no graph')]

    def check():
        if wrong:
            raise wrong[0]

    made, logged = make(check)
    for _ in range(3):
        made.run()
    assert logged == [('warning', 'check of the ROS graph for names failed: ValueError: no graph')]
    (status,) = made.statuses()
    assert status.level == 'warning' and status.text == 'unknown: ValueError: no graph'
    wrong.clear()
    made.run()
    assert [each.text for each in made.statuses()] == ['none'] and len(logged) == 1


def test_the_end_of_ros_is_no_problem(make):
    def check():
        node.context.try_shutdown()
        node.get_topic_names_and_types()
        raise AssertionError('the graph of a context that is shut down was read')

    made, logged = make(check)
    node = made._node
    made.run()
    assert not node.context.ok() and not logged


def test_one_that_was_never_started_can_be_stopped(make):
    made, _ = make(print)
    made.stop()
