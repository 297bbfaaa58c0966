# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from hypothesis import given
from hypothesis import strategies as st
import pytest
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock

from urlab_ros_bridge.ros.topics.clock import ClockPublisher

pytestmark = pytest.mark.ros
STEP = 2_000_000  # ns


class Outlet:
    """Takes what is published, in place of a node and its publisher."""

    def __init__(self):
        self.stamps = []
        self.listeners = 1

    def create_publisher(self, *_, **__):
        return self

    def has_parameter(self, name):
        return False

    def resolve_topic_name(self, topic):
        return topic

    def get_subscription_count(self):
        return self.listeners

    def publish(self, message):
        if isinstance(message, bytes):
            message = deserialize_message(message, Clock)
        self.stamps.append(message.clock.sec * 10**9 + message.clock.nanosec)


@given(rate=st.floats(1.0, 2000.0), ticks=st.integers(1, 400))
def test_the_rate_is_kept_and_the_last_word_is_said(rate, ticks):
    outlet = Outlet()
    clock = ClockPublisher(outlet, rate)
    for tick in range(1, ticks + 1):
        clock.tick(tick * STEP, tick * STEP)
    seconds = (ticks - 1) * STEP / 1e9
    # The periods are counted from 0, so a part of the first and the last may be among them.
    assert len(outlet.stamps) < min(rate, 500.0) * seconds * (1 + 1e-9) + 2
    assert len(outlet.stamps) >= min(rate, 500.0) * seconds * 0.999 - 1
    clock.publish_held_back()
    assert outlet.stamps[-1] == ticks * STEP
    assert outlet.stamps == sorted(set(outlet.stamps))


def test_newcomers_are_told_the_time_while_it_stands_still():
    outlet = Outlet()
    clock = ClockPublisher(outlet, 100.0)
    clock.poll_subscribers()
    clock.tick(7 * STEP, 0)
    for _ in range(20):
        clock.poll_subscribers()
    settled = len(outlet.stamps)
    outlet.listeners = 2
    clock.poll_subscribers()
    assert outlet.stamps == [7 * STEP] * (settled + 1)
    # Who has heard of the publisher only now has missed that.
    clock.poll_subscribers()
    assert outlet.stamps == [7 * STEP] * (settled + 2)
    for _ in range(20):
        clock.poll_subscribers()
    assert len(outlet.stamps) < settled + 20
