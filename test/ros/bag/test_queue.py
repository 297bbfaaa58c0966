# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Nothing is ever left out of the queue: who is too fast waits."""

import threading

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from urlab_ros_bridge.ros.bag.metadata import BagTopic
from urlab_ros_bridge.ros.bag.writer import BagQueue

TOPIC = BagTopic('/a', 'a_msgs/msg/A', '')


def drain(queue, count):
    found = []
    while len(found) < count:
        found += queue.take()
    return found


@settings(max_examples=15, deadline=None)
@given(st.lists(st.binary(max_size=2000), max_size=60), st.integers(1, 3000))
def test_all_come_out_in_order_however_small_it_is(messages, limit):
    queue = BagQueue(limit)
    sender = threading.Thread(
        target=lambda: [queue.put(TOPIC, n, data) for n, data in enumerate(messages)]
    )
    sender.start()
    found = drain(queue, len(messages))
    sender.join(10)
    assert found == [(TOPIC, n, data) for n, data in enumerate(messages)]


def test_nobody_waits_for_a_writer_that_has_failed():
    queue = BagQueue(1000)
    queue.put(TOPIC, 1, bytes(1000))
    sender = threading.Thread(target=lambda: queue.put(TOPIC, 2, b''))
    sender.start()
    queue.close()
    sender.join(10)
    assert not sender.is_alive()
    assert queue.take() == []
