# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the ROS graph that fail."""

import pytest

from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.reports.graph import GraphCheck

pytestmark = pytest.mark.ros


def test_a_check_that_fails_is_logged_once_until_it_succeeds_again(ros_node):
    class Check(GraphCheck):
        name = 'names'

        def check(self):
            if failures:
                raise failures[0]

        def results(self):
            return [Status('names', 'none', {})]

    failures, logged = [ValueError('no graph')], []
    check = Check(ros_node(), lambda *entry: logged.append(entry))
    for _ in range(3):
        check.run()
    assert logged == [('warning', 'check of the ROS graph for names failed: ValueError: no graph')]
    (status,) = check.statuses()
    assert status.level == 'warning' and status.text == 'unknown: ValueError: no graph'
    failures.clear()
    check.run()
    assert [each.text for each in check.statuses()] == ['none'] and len(logged) == 1
    failures.append(ValueError('no graph'))
    check.run()
    assert len(logged) == 2
