# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from fake_node import FakeNode
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from stamps import ns_of

from urlab_ros_bridge.ros.link.clock import ClockPublisher

STEP = 2_000_000  # ns


def clock_of(rate):
    """Return a clock, and the publisher of its fake node."""
    node = FakeNode()
    return ClockPublisher(node, rate), node.publishers['/clock']


def stamps(publisher):
    """Return the times that were published (ns)."""
    return [ns_of(deserialize_message(each, Clock)) for each in publisher.sent]


@given(rate=st.floats(1.0, 2000.0), ticks=st.integers(1, 400))
def test_the_rate_is_kept_and_the_last_time_is_published(rate, ticks):
    clock, publisher = clock_of(rate)
    for tick in range(1, ticks + 1):
        clock.tick(tick * STEP, tick * STEP)
    most = min(rate, 500.0) * (ticks - 1) * STEP / 1e9
    # The periods are counted from 0, so a part of the first and the last may be among them.
    assert most * 0.999 - 1 <= len(publisher.sent) < most * (1 + 1e-9) + 2
    clock.publish_held_back()
    times = stamps(publisher)
    assert times[-1] == ticks * STEP and times == sorted(set(times))


def test_new_subscribers_get_the_time_while_it_is_frozen():
    clock, publisher = clock_of(100.0)
    clock.poll_subscribers()
    clock.tick(7 * STEP, 0)
    for _ in range(20):
        clock.poll_subscribers()
    settled = len(publisher.sent)
    publisher.subscribers = 2
    # Twice: a node that has discovered the publisher only now has missed the first.
    for count in (1, 2):
        clock.poll_subscribers()
        assert stamps(publisher) == [7 * STEP] * (settled + count)
    for _ in range(20):
        clock.poll_subscribers()
    assert len(publisher.sent) < settled + 20
