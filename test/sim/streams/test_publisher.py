# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What subscribers may ask of a publisher."""

import pytest
import zmq

from urlab_ros_bridge.transport.publisher import MAX_CHANGES
from urlab_ros_bridge.transport.publisher import MAX_SUBSCRIPTIONS
from urlab_ros_bridge.transport.publisher import MAX_TOPIC_BYTES
from urlab_ros_bridge.transport.publisher import Publisher


def test_subscribers_beyond_the_limit_miss_nothing(keep):
    """One that subscribes to very many topics takes nothing from the others."""
    sender, receiver = (keep(zmq.Context.instance().socket(kind)) for kind in (zmq.XPUB, zmq.SUB))
    sender.rcvhwm = receiver.sndhwm = 0
    sender.bind('inproc://subscriptions')
    publisher = Publisher(sender)
    receiver.connect('inproc://subscriptions')

    def take():
        for _ in range(MAX_SUBSCRIPTIONS // MAX_CHANGES + 1):
            publisher.read_subscriptions()

    for number in range(MAX_SUBSCRIPTIONS):
        receiver.subscribe(f'{number} ')
    take()
    last = f'{MAX_SUBSCRIPTIONS} '
    assert publisher.is_subscribed('0 ') and not publisher.is_subscribed(last)
    receiver.subscribe(last)
    take()
    assert publisher.is_subscribed(last) and publisher.is_named(last)
    for number in range(MAX_SUBSCRIPTIONS + 1):
        receiver.unsubscribe(f'{number} ')
    take()
    assert not publisher.is_subscribed(last) and not publisher.has_subscribers


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
