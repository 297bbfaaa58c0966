# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction

from fake_node import FakeNode
from fake_node import FakePublisher
from geometry_msgs.msg import Twist
from geometry_msgs.msg import TwistStamped
from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.feed import RateLimiter
from urlab_ros_bridge.ros.features.feed import TopicTaken

MS = 1_000_000


def passed(limiter, times):
    found = []
    for now in times:
        if limiter.due(now):
            limiter.count(now)
            found.append(now)
    return found


@given(st.integers(1, 1000), st.integers(0, 10**15), st.integers(100_000, 5 * MS))
def test_on_the_grid_there_is_one_in_each_period_and_the_first_of_it(rate, start, timestep):
    ticks = range(start, start + 300 * timestep, timestep)
    # As fractions: periods of most rates are no whole numbers of nanoseconds.
    cells = [Fraction(now * rate, 10**9).__floor__() for now in ticks]
    expected = [
        now
        for now, cell, before in zip(ticks, cells, [-1, *cells], strict=False)
        if cell != before
    ]
    assert passed(RateLimiter(float(rate)), ticks) == expected


def test_a_topic_has_one_publisher_and_one_type():
    publishers = Publishers(FakeNode())
    publisher = publishers.get(Twist, 'a')
    assert publishers.get(Twist, 'a') is publisher
    with pytest.raises(TopicTaken, match="'a'"):
        publishers.get(TwistStamped, 'a')


def test_while_time_is_frozen_a_new_subscriber_gets_the_message_a_few_times():
    publisher = FakePublisher(subscribers=0)
    feed = Feed('a', publisher, lambda stamp_ns: stamp_ns, on_error=print)
    sent = []
    for subscribers in (0, 1, *[1] * 20, 2, *[2] * 20):
        publisher.subscribers = subscribers
        feed.poll_subscribers()
        if feed.has_new_subscriber or feed.repeats:
            feed.publish(7)
        sent.append(len(publisher.sent))
    assert sent[0] == 0 and sent[1] == 1
    assert 2 < sent[21] < 10 and sent[-1] == 2 * sent[21]
