# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The ROS graph is read by timers of the node, whatever goes wrong there."""

import pytest

from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.reports.graph import GraphCheck

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
