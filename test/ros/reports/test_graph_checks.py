# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The ROS graph is read in a thread of its own, whatever goes wrong there."""

import threading

from bridge_harness import Bridge
from bridge_harness import free_domain
from bridge_harness import wait_until
import pytest

from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.reports import graph_checks
from urlab_ros_bridge.ros.reports.graph_checks import GraphChecks
from urlab_ros_bridge.ros.reports.other_publishers import OtherPublishers
from urlab_ros_bridge.ros.reports.other_types import OtherTypes

pytestmark = pytest.mark.ros
THREAD = 'graph checks'


def threads():
    return [each for each in threading.enumerate() if each.name == THREAD]


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(graph_checks, 'CHECK_SECONDS', 0.01)


@pytest.fixture
def node(ros_node):
    return ros_node()


@pytest.fixture
def start(node, quick):
    """Return a function: name -> check for keywords; it returns the checks and what they log."""
    started = []

    def start(**checks):
        logged = []
        made = GraphChecks(node, lambda severity, text: logged.append((severity, text)))
        for name, check in checks.items():
            made.add(name, check, lambda name=name: [Status(name, 'none', {})])
        made.all_started()
        started.append(made)
        return made, logged

    yield start
    for each in started:
        each.stop()


def test_a_bridge_reads_the_graph_in_that_thread_alone(small_server, quick, monkeypatch):
    seen = []
    for kind in (OtherPublishers, OtherTypes):

        def check(self, real=kind.check):
            seen.append((type(self), threading.current_thread().name))
            real(self)

        monkeypatch.setattr(kind, 'check', check)
    bridge = Bridge(free_domain(), *small_server().ports)
    try:
        wait_until(lambda: bridge.link.state.connected)
        wait_until(lambda: len({kind for kind, _ in seen}) == 2)
    finally:
        bridge.close()
    assert {thread for _, thread in seen} == {THREAD} and not threads()


def test_a_check_that_fails_is_reported_once_until_it_works_again_and_holds_up_no_other(start):
    other, wrong = [], [ValueError('no graph')]

    def check():
        if wrong:
            raise wrong[0]

    checks, logged = start(first=check, second=lambda: other.append(1))
    wait_until(lambda: len(other) > 5)
    assert logged == [('warning', 'check of the ROS graph for first failed: ValueError: no graph')]
    status, _ = checks.statuses()
    assert status.level == 'warning' and status.text == 'unknown: ValueError: no graph'
    wrong.clear()
    wait_until(lambda: not checks.problems)
    assert [each.text for each in checks.statuses()] == ['none'] * 2 and len(logged) == 1


def test_it_ends_after_the_check_that_it_is_making(start):
    begun, go_on, more = threading.Event(), threading.Event(), []

    def check():
        begun.set()
        go_on.wait()

    checks, _ = start(first=check, second=lambda: more.append(1))
    begun.wait()
    threading.Timer(0.1, go_on.set).start()
    checks.stop()
    assert not threads() and not more


def test_the_end_of_ros_ends_it_without_a_word(start, node):
    def check():
        node.context.try_shutdown()
        node.get_topic_names_and_types()
        raise AssertionError('the graph of a context that is shut down was read')

    _, logged = start(first=check)
    wait_until(lambda: not threads())
    assert not node.context.ok() and not logged


def test_one_that_was_never_started_can_be_stopped(node):
    GraphChecks(node, print).stop()
    assert not threads()
