# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What listeners may ask of a publisher."""

import pytest
import zmq

from urlab_ros_bridge.transport.publisher import MAX_CHANGES
from urlab_ros_bridge.transport.publisher import MAX_SUBSCRIPTIONS
from urlab_ros_bridge.transport.publisher import MAX_TOPIC_BYTES
from urlab_ros_bridge.transport.publisher import Publisher


def test_subscriptions_beyond_the_limit_are_ignored(keep):
    sender, receiver = (keep(zmq.Context.instance().socket(kind)) for kind in (zmq.XPUB, zmq.SUB))
    sender.rcvhwm = receiver.sndhwm = 0
    sender.bind('inproc://subscriptions')
    publisher = Publisher(sender)
    receiver.connect('inproc://subscriptions')
    for number in range(MAX_SUBSCRIPTIONS + 1):
        receiver.subscribe(f'{number} ')
    for _ in range(MAX_SUBSCRIPTIONS // MAX_CHANGES + 1):
        publisher.read_subscriptions()
    assert publisher.is_subscribed(f'{MAX_SUBSCRIPTIONS - 1} ')
    assert not publisher.is_subscribed(f'{MAX_SUBSCRIPTIONS} ')


@pytest.mark.parametrize('place', ['state', 'info'])
def test_a_huge_subscription_closes_only_its_own_connection(server, place):
    running = server()
    context = zmq.Context.instance()
    with context.socket(zmq.SUB) as huge, context.socket(zmq.SUB) as small:
        for socket in (huge, small):
            socket.setsockopt(zmq.LINGER, 0)
        huge.connect(running.endpoints[place])
        huge.setsockopt(zmq.SUBSCRIBE, b'')
        assert huge.poll(10_000)
        monitor = huge.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        huge.setsockopt(zmq.SUBSCRIBE, b'x' * 100 * MAX_TOPIC_BYTES)
        assert monitor.poll(10_000)
        small.setsockopt(zmq.SUBSCRIBE, b'')
        small.connect(running.endpoints[place])
        assert small.poll(10_000)
        huge.disable_monitor()
        monitor.close()
