# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions, with and without keys: to publishers that come and go, and to hostile ones."""

import contextlib
import os
import time

import pytest
from raw_zmtp import GREETING
from raw_zmtp import raw_server
from raw_zmtp import ready
from waiting import bind_when_free
from waiting import wait_until
import zmq

from urlab_ros_bridge.transport.server_sockets import ServerSockets
from urlab_ros_bridge.transport.subscriber import Subscriber

PATIENCE = 60.0
LIMIT = 1 << 26
TOPIC = b'eye '


@contextlib.contextmanager
def publisher(keys=None, port=0):
    """Run a socket until the block ends."""
    sockets = ServerSockets(keys)
    bound = bind_when_free(sockets, zmq.XPUB, port, send_queue=0)
    bound.xpub_verbose = 1
    bound.rcvtimeo = int(1000 * PATIENCE)
    try:
        yield bound
    finally:
        sockets.close()


def subscriber(endpoint, keys=None, topics=(TOPIC,)):
    made = Subscriber(endpoint, topics, max_bytes=LIMIT, rcvhwm=5000, keys=keys)
    return contextlib.closing(made)


def address(bound):
    return bound.last_endpoint.decode()


def next_of(made):
    """Wait for a message; return its parts."""
    return [bytes(part) for part in wait_until(made.receive)]


def test_messages_of_any_size_arrive_in_order_and_others_do_not(keys):
    with publisher(keys.server) as bound, subscriber(address(bound), keys.client) as made:
        assert bound.recv() == b'\x01' + TOPIC
        for size in (0, 1, 255, 256, 9000, 70_000, 1_228_840, 33_000_000, 5):
            body = os.urandom(min(size, 1000)) + bytes(max(size - 1000, 0))
            bound.send_multipart([b'other', body])
            bound.send_multipart([TOPIC, body])
            assert next_of(made) == [TOPIC, body]
        bound.send_multipart([TOPIC, b'1', b'2', b'3'])
        bound.send_multipart([TOPIC])
        assert next_of(made) == [TOPIC, b'1', b'2', b'3'] and next_of(made) == [TOPIC]
        made.unsubscribe(TOPIC)
        assert bound.recv() == b'\x00' + TOPIC
        made.subscribe(b'more')
        assert bound.recv() == b'\x01more'
        made.close()
        assert bound.recv() == b'\x00more'


@pytest.mark.parametrize('odd', [[], [b'one'], [b'a', b'b', b'c']])
def test_rows_are_pairs_and_messages_of_another_shape_are_noticed(odd):
    with publisher() as bound, subscriber(address(bound), topics=(b'',)) as made:
        assert bound.recv() == b'\x01'
        sent = [(b'topic %d' % number, bytes([number])) for number in range(250)] * 5
        for row in sent:
            bound.send_multipart(row)
        if odd:
            bound.send_multipart(odd)
        bound.send_multipart([b'last', b'row'])
        rows, damages = [], []

        def received(last):
            found, is_damaged = made.receive_rows()
            rows.extend(found)
            damages.append(is_damaged)
            return is_damaged or last in rows

        wait_until(lambda: received((b'last', b'row')))
        assert rows[: len(sent)] == sent and any(damages) is bool(odd)
        bound.send_multipart([b'next', b'row'])
        wait_until(lambda: received((b'next', b'row')))


def test_a_restarted_publisher_is_found_again(keys):
    with publisher(keys.server) as bound:
        endpoint = address(bound)
    port = int(endpoint.rpartition(':')[2])
    with subscriber(endpoint, keys.client) as made:
        assert made.receive() is None
        for word in (b'early', b'again'):
            with publisher(keys.server, port) as bound:
                # A SUB socket repeats its subscriptions only while it receives.
                while not bound.poll(20):
                    assert made.receive() is None
                assert bound.recv() == b'\x01' + TOPIC
                bound.send_multipart([TOPIC, word])
                assert next_of(made) == [TOPIC, word]


@pytest.mark.parametrize(
    'said',
    [
        b'',
        GREETING + ready('REP'),
        GREETING + ready('PUB') + b'\x02' + (LIMIT + 1).to_bytes(8, 'big') + bytes(9000),
        GREETING + ready('PUB') + b'\xff' * 300,
    ],
    ids=['hangs up', 'kind', 'size', 'flags'],
)
def test_a_hostile_publisher_costs_only_slow_reconnections(said):
    connections = []

    def talk(peer):
        connections.append(time.monotonic())
        peer.sendall(said)
        peer.settimeout(0.1)
        with contextlib.suppress(TimeoutError):
            while peer.recv(4096):
                pass

    with raw_server(talk) as endpoint, subscriber(endpoint) as made:
        used, end = time.process_time(), time.monotonic() + 1.0
        while time.monotonic() < end:
            assert made.receive() is None
            made.wait(0.05)
        assert time.process_time() - used < 0.5
        assert 1 <= len(connections) < 12
