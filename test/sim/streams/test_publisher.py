# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What listeners may ask of a publisher."""

import pytest
import zmq

from urlab_ros_bridge.transport.publisher import MAX_CHANGES
from urlab_ros_bridge.transport.publisher import MAX_SUBSCRIPTIONS
from urlab_ros_bridge.transport.publisher import MAX_TOPIC_BYTES
from urlab_ros_bridge.transport.publisher import Publisher


class Pipe:
    """Stands in for an XPUB socket on which subscribing never ends."""

    def __init__(self):
        self.taken = 0

    def getsockopt(self, option):
        return b'' if option == zmq.LAST_ENDPOINT else zmq.POLLIN

    def recv(self, flags):
        self.taken += 1
        return b'\x01%d' % self.taken


def test_subscriptions_beyond_the_limit_are_ignored():
    subscribed = Publisher(Pipe())
    for _ in range(MAX_SUBSCRIPTIONS // MAX_CHANGES + 1):
        subscribed.read_subscriptions()
    assert len(subscribed._topics) == MAX_SUBSCRIPTIONS
    assert subscribed.is_subscribed(str(MAX_SUBSCRIPTIONS)) and not subscribed.is_subscribed('x')


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
