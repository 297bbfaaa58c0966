# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The rates of topics as they are when nobody has changed anything."""

from itertools import pairwise

import pytest

from urlab_ros_bridge.ros.program.features import Settings

pytestmark = pytest.mark.ros

STATE = ('odom_rate', 'link_tf_rate', 'entity_rate', 'joint_state_rate', 'sensor_rate')
# Hz: what Nav2 needs of odometry, and what `ros2 topic echo` can print on a busy machine.
NEEDED, READABLE = 20.0, 100.0


def test_rates_suit_nav2_and_people():
    for name in STATE:
        assert NEEDED <= Settings.TABLE[name].default <= READABLE, name


def test_slower_topics_have_only_instants_that_faster_ones_have_too():
    rates = sorted(Settings.TABLE[name].default for name in STATE)
    assert all(fast % slow == 0 for slow, fast in pairwise(rates))
