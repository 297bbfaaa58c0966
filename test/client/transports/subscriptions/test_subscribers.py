# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions on plain connections: to publishers of libzmq, and to strange ones."""

import contextlib
import os
import socket
import struct
import threading
import time

import pytest
import zmq

from urlab_ros_bridge.client.transports.subscriptions import open_subscriber
from urlab_ros_bridge.client.transports.subscriptions.libzmq_subscriber import LibzmqSubscriber
from urlab_ros_bridge.client.transports.subscriptions.zmtp_subscriber import ZmtpSubscriber
from urlab_ros_bridge.wire import zmtp

PATIENCE = 60.0
LIMIT = 1 << 26
TOPIC = b'eye '


@contextlib.contextmanager
def publisher(kind=zmq.XPUB, port=0, **options):
    """Run a socket of libzmq until the block ends."""
    bound = zmq.Context.instance().socket(kind)
    bound.linger = 0
    for name, value in options.items():
        setattr(bound, name, value)
    deadline = time.monotonic() + PATIENCE
    while True:  # libzmq closes ports a little later
        try:
            bound.bind(f'tcp://127.0.0.1:{port or "*"}')
            break
        except zmq.ZMQError:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    try:
        yield bound
    finally:
        bound.close()


def port_of(bound):
    return int(bound.last_endpoint.decode().rpartition(':')[2])


def memory(size):
    return memoryview(bytearray(size))


@contextlib.contextmanager
def subscriber(port, topics=(TOPIC,), limit=LIMIT, deep=True):
    made = open_subscriber(f'tcp://127.0.0.1:{port}', topics, limit, memory, deep=deep)
    assert isinstance(made, ZmtpSubscriber)
    try:
        yield made
    finally:
        made.close()


def next_of(made, patience=PATIENCE):
    """Wait for a message; return its parts."""
    deadline = time.monotonic() + patience
    while (message := made.take()) is None:
        assert time.monotonic() < deadline
        made.wait(0.05)
    return [bytes(part) for part in message]


def await_subscription(bound, topic=TOPIC):
    bound.rcvtimeo = int(1000 * PATIENCE)
    assert bound.recv() == b'\x01' + topic


@contextlib.contextmanager
def strange(talk):
    """Accept connections and let `talk` have each; yield the port."""
    listener = socket.create_server(('127.0.0.1', 0))

    def accept():
        with contextlib.suppress(OSError):
            while True:
                with listener.accept()[0] as peer, contextlib.suppress(OSError):
                    talk(peer)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def greet(peer, kind='PUB'):
    """Shake hands as a publisher and read the subscription."""
    peer.settimeout(PATIENCE)
    peer.sendall(zmtp.GREETING + zmtp.ready(kind))
    expected = zmtp.GREETING_3_0 + zmtp.ready('SUB') + zmtp.frame(b'\x01' + TOPIC)
    received = b''
    while len(received) < len(expected):
        piece = peer.recv(len(expected) - len(received))
        assert piece
        received += piece
    assert received == expected


def picture(size, number=0):
    body = struct.pack('<Q', number) + bytes(size - 8)
    return zmtp.frame(TOPIC, zmtp.MORE) + zmtp.frame(body)


@pytest.mark.parametrize('kind', [zmq.PUB, zmq.XPUB])
def test_messages_of_any_size_arrive_in_their_order(kind):
    with publisher(kind) as bound, subscriber(port_of(bound)) as made:
        if kind == zmq.PUB:  # it reports nothing
            deadline = time.monotonic() + PATIENCE
            while made.take() is None:
                assert time.monotonic() < deadline
                bound.send_multipart([TOPIC, b'first'])
                made.wait(0.02)
            time.sleep(0.1)
            while made.take() is not None:
                pass
        else:
            await_subscription(bound)
        for size in (0, 1, 255, 256, 9000, 70_000, 1_228_840, 1_228_840, 33_000_000, 5):
            body = os.urandom(min(size, 1000)) + bytes(max(size - 1000, 0))
            bound.send_multipart([TOPIC, body])
            assert next_of(made) == [TOPIC, body]
        bound.send_multipart([TOPIC, b'1', b'2', b'3'])
        bound.send_multipart([b'other', b'4'])
        bound.send_multipart([TOPIC])
        assert next_of(made) == [TOPIC, b'1', b'2', b'3'] and next_of(made) == [TOPIC]


def test_two_subscribers_of_one_publisher_both_get_everything():
    with publisher(xpub_verbose=1) as bound, subscriber(port_of(bound)) as one:
        await_subscription(bound)
        with subscriber(port_of(bound)) as two:
            await_subscription(bound)
            for number in range(20):
                bound.send_multipart([TOPIC, bytes([number]) * 50_000])
            for number in range(20):
                assert next_of(one) == next_of(two) == [TOPIC, bytes([number]) * 50_000]


def test_closing_is_unsubscribing():
    with publisher() as bound:
        with subscriber(port_of(bound)):
            await_subscription(bound)
        assert bound.recv() == b'\x00' + TOPIC


def test_a_publisher_that_comes_later_is_waited_for_and_one_that_comes_back_is_found():
    with publisher() as bound:
        port = port_of(bound)
    with subscriber(port) as made:
        assert made.take() is None
        for word in (b'early', b'again'):
            with publisher(port=port) as bound:
                bound.rcvtimeo = 10
                deadline = time.monotonic() + PATIENCE
                while True:
                    assert time.monotonic() < deadline
                    assert made.take() is None
                    made.wait(0.01)
                    with contextlib.suppress(zmq.Again):
                        assert bound.recv() == b'\x01' + TOPIC
                        break
                bound.send_multipart([TOPIC, word])
                assert next_of(made) == [TOPIC, word]


def test_a_publisher_that_dies_within_a_message_leaves_nothing_of_it():
    lives = []

    def talk(peer):
        lives.append(peer)
        greet(peer)
        whole = picture(100_000, len(lives))
        peer.sendall(whole if len(lives) > 2 else whole[: 40_000 * len(lives)])
        time.sleep(0.2 if len(lives) < 3 else 10.0)

    with strange(talk) as port, subscriber(port) as made:
        (_, body) = next_of(made)
        assert struct.unpack_from('<Q', body) == (3,) and len(body) == 100_000


def test_heartbeats_are_answered():
    options = {'heartbeat_ivl': 50, 'heartbeat_timeout': 1500}
    with publisher(**options) as bound, subscriber(port_of(bound)) as made:
        await_subscription(bound)
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            assert made.take() is None
            made.wait(0.05)
        bound.send_multipart([TOPIC, b'still here'])
        assert next_of(made) == [TOPIC, b'still here']
        bound.rcvtimeo = 0
        with pytest.raises(zmq.Again):
            bound.recv()  # it has neither left nor come again


@pytest.mark.parametrize(
    'said',
    [
        b'HTTP/1.1 400 Bad Request\r\n\r\n',
        zmtp.GREETING.replace(b'NULL', b'CURV'),
        zmtp.GREETING + zmtp.ready('REP'),
        zmtp.GREETING + zmtp.ready('PUB') + zmtp.frame_head(LIMIT + 1),
        zmtp.GREETING + zmtp.ready('PUB') + b'\x09\x01\x00',
        b'',
    ],
    ids=['http', 'keys', 'kind', 'size', 'flags', 'hangs up'],
)
def test_strange_publishers_are_tried_again_but_not_all_the_time(said):
    tries = []

    def talk(peer):
        tries.append(time.monotonic())
        peer.sendall(said)
        peer.settimeout(0.05)
        with contextlib.suppress(TimeoutError):
            while peer.recv(4096):
                pass

    with strange(talk) as port, subscriber(port) as made:
        deadline = time.monotonic() + PATIENCE
        turns = 0
        while len(tries) < 3:
            assert time.monotonic() < deadline and made.take() is None
            made.wait(0.05)
            turns += 1
        assert turns < 2000
        # Three tries need two pauses, the second one twice as long as the first.
        assert tries[2] - tries[0] > 0.2


def test_a_flood_of_what_nobody_wants_does_not_hold_the_reader():
    stop = threading.Event()

    def talk(peer):
        greet(peer)
        flood = 500 * (zmtp.frame(b'x', zmtp.MORE) + zmtp.frame(bytes(200)))
        while not stop.is_set():
            peer.sendall(flood)

    with strange(talk) as port, subscriber(port) as made:
        for _ in range(8):
            assert made.take() is None
            made.wait(0.01)
        stop.set()


def test_of_a_flood_of_empty_messages_only_some_is_looked_at_in_one_go():
    stop = threading.Event()

    def talk(peer):
        greet(peer)
        while not stop.is_set():
            peer.sendall(bytes(1 << 20))  # half a million messages

    with strange(talk) as port, subscriber(port) as made:
        reader, sizes = made._reader, []
        filled = reader.filled

        def count(size):
            sizes.append(size)
            filled(size)

        reader.filled = count
        deadline = time.monotonic() + PATIENCE
        while sum(sizes) < 1 << 19:
            assert time.monotonic() < deadline
            before = sum(sizes)
            assert made.take() is None
            assert sum(sizes) - before < 1 << 19
            made.wait(0.01)
        stop.set()


@pytest.mark.parametrize('host', ['a..b', 'x' * 64, '.'])
def test_a_host_that_cannot_be_is_one_that_is_not_there(host):
    made = open_subscriber(f'tcp://{host}:5', (TOPIC,), LIMIT, memory, deep=True)
    assert isinstance(made, ZmtpSubscriber)
    for _ in range(3):
        assert made.take() is None
        made.wait(0.01)
    made.close()


def test_who_asks_and_does_not_read_the_answers_is_left():
    def talk(peer):
        greet(peer)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        while True:
            peer.sendall(500 * zmtp.command(b'PING', b'\0\0' + bytes(16)))

    with strange(talk) as port, subscriber(port) as made:
        deadline = time.monotonic() + PATIENCE
        while made.take() is None and made._pause <= 0.1:
            assert time.monotonic() < deadline
            made.wait(0.01)


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='no fork')
def test_a_fork_gets_a_connection_of_its_own():
    with publisher(xpub_verbose=1) as bound, subscriber(port_of(bound)) as made:
        await_subscription(bound)
        read_end, write_end = os.pipe()
        child = os.fork()
        if not child:
            try:
                made.take()
                os.write(write_end, next_of(made)[1])
                made.close()
            finally:
                os._exit(0)
        try:
            await_subscription(bound)
            bound.send_multipart([TOPIC, b'for both'])
            assert next_of(made) == [TOPIC, b'for both']
            assert os.read(read_end, 100) == b'for both'
        finally:
            os.waitpid(child, 0)
            os.close(read_end)
            os.close(write_end)
        bound.send_multipart([TOPIC, b'for one'])
        assert next_of(made) == [TOPIC, b'for one']


def test_other_addresses_are_left_to_libzmq():
    for place in ('tcp://127.0.0.1:5555', 'tcp://robot.example:1'):
        assert ZmtpSubscriber.can_reach(place)
    for place in ('ipc:///tmp/x', 'tcp://[::1]:5555', 'tcp://eth0;10.0.0.1:5', 'tcp://h:99999',
                  'tcp://*:5', 'tcp://h', 'inproc://x'):  # fmt: skip
        assert not ZmtpSubscriber.can_reach(place)
    bound = zmq.Context.instance().socket(zmq.XPUB)
    bound.linger = 0
    bound.bind(f'ipc://@urlab-test-{os.getpid()}')
    made = open_subscriber(f'ipc://@urlab-test-{os.getpid()}', [TOPIC], LIMIT, memory, deep=False)
    assert isinstance(made, LibzmqSubscriber)
    await_subscription(bound)
    bound.send_multipart([TOPIC, b'body'])
    assert next_of(made) == [TOPIC, b'body']
    made.close()
    bound.close()
