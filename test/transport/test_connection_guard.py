# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the connections of a server may hold: those that take most go, the others stay."""

import contextlib
import socket
import time

import pytest
from raw_zmtp import frame
from raw_zmtp import MORE
from raw_zmtp import shake_hands
from repeating import repeating
from waiting import wait_until
import zmq

from urlab_ros_bridge.transport import connection_guard
from urlab_ros_bridge.transport.connection_events import ServerWatch
from urlab_ros_bridge.transport.publisher import Publisher
from urlab_ros_bridge.transport.receiver import MessageReceiver
from urlab_ros_bridge.transport.server_sockets import ServerSockets
from urlab_ros_bridge.transport.server_sockets import SocketLimits
from urlab_ros_bridge.transport.sockets import open_socket

LIMIT = 1 << 20
PART = frame(bytes(1 << 14), MORE)
SUBSCRIPTION = frame(b'\x01' + bytes(1000))


@pytest.fixture
def sockets(keys):
    made = ServerSockets(keys.server)
    yield made
    made.close()


def bind(sockets, kind, **limits):
    """Bind a socket of small limits; return it and its port."""
    limits = SocketLimits(1 << 20, **{'held_bytes': LIMIT, **limits})
    bound = sockets.bind(kind, '127.0.0.1', 0, '', limits)
    return bound, int(bound.last_endpoint.decode().rpartition(':')[2])


def dial(port, kind):
    """Return a TCP connection that has shaken hands as a socket type."""
    peer = socket.create_connection(('127.0.0.1', port), 30.0)
    shake_hands(peer, kind)
    return contextlib.closing(peer)


def is_open(peer):
    info = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return info[0] == 1  # TCP_ESTABLISHED


def sent_until_closed(peer, piece):
    """Send a piece again and again; return how many bytes the server has taken."""
    sent = 0
    with contextlib.suppress(ConnectionError):
        while sent < 100 * LIMIT:
            peer.sendall(piece)
            sent += len(piece)
            time.sleep(0.001)
    return sent


@pytest.fixture
def plain():
    made = ServerSockets(None)
    yield made
    made.close()


KINDS = [(zmq.ROUTER, 'DEALER', PART), (zmq.SUB, 'PUB', PART), (zmq.XPUB, 'SUB', PART)]


@pytest.mark.parametrize(('kind', 'peer_kind', 'piece'), [*KINDS, (zmq.XPUB, 'SUB', SUBSCRIPTION)])
def test_who_holds_most_goes_while_others_connect_all_the_time(plain, kind, peer_kind, piece):
    _, port = bind(plain, kind)

    def connect():
        with dial(port, peer_kind):
            time.sleep(0.01)

    with repeating(connect), dial(port, peer_kind) as largest, dial(port, peer_kind) as small:
        small.sendall(piece * 4)
        assert sent_until_closed(largest, piece) < 50 * LIMIT
        assert is_open(small)


def test_unfinished_messages_are_bounded_over_all_connections(plain):
    _, port = bind(plain, zmq.ROUTER)
    with contextlib.ExitStack() as held:
        peers = [held.enter_context(dial(port, 'DEALER')) for _ in range(8)]
        for count, peer in enumerate(peers, 1):  # together two megabytes
            with contextlib.suppress(ConnectionError):
                peer.sendall(PART * 4 * count)
        wait_until(lambda: sum(map(is_open, peers)) < len(peers))
        time.sleep(3 * connection_guard.CHECK_SECONDS)
        stay = [is_open(peer) for peer in peers]
        assert stay == sorted(stay, reverse=True) and 4 <= sum(stay) < 8, 'the largest have gone'


def test_messages_that_are_finished_count_no_longer(plain):
    """A peer may send any amount; what it has sent is forgotten when it was read."""
    bound, port = bind(plain, zmq.SUB)
    bound.subscribe(b'')
    receiver = MessageReceiver(bound, plain.finish_of(bound))
    message = frame(b'topic', MORE) + frame(bytes(LIMIT // 4))
    with dial(port, 'PUB') as peer:
        for _ in range(12):
            peer.sendall(message)
            wait_until(receiver.receive)
            receiver.receive()  # there is no other
            time.sleep(1.5 * connection_guard.CHECK_SECONDS)
        assert is_open(peer)


def test_subscriptions_are_bounded_with_keys_and_without(sockets, keys):
    bound, port = bind(sockets, zmq.XPUB)
    publisher = Publisher(bound, sockets.finish_of(bound))
    with open_socket(zmq.SUB, keys.client) as greedy, open_socket(zmq.SUB, keys.client) as modest:
        greedy.sndhwm = 0
        for each in (greedy, modest):
            each.connect(f'tcp://127.0.0.1:{port}')
        modest.subscribe(b'small')
        monitor = greedy.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        for number in range(2 * LIMIT // 1000):
            greedy.subscribe(b'%d'.rjust(1000) % number)
        with repeating(publisher.read_subscriptions):
            assert monitor.poll(60_000)
        publisher.send(b'small', b'value')
        assert modest.poll(60_000)
        greedy.disable_monitor()
        monitor.close()


def test_a_port_that_was_flooded_accepts_nobody_for_a_while(plain, monkeypatch):
    monkeypatch.setattr(connection_guard, 'REFUSAL_SECONDS', 1.0)
    _, port = bind(plain, zmq.XPUB)

    def stays():
        with contextlib.suppress(AssertionError, ConnectionError), dial(port, 'SUB') as peer:
            time.sleep(0.1)
            return is_open(peer)
        return False

    with dial(port, 'SUB') as largest, dial(port, 'SUB') as other:
        sent_until_closed(largest, SUBSCRIPTION)
        assert not stays() and is_open(other)
        wait_until(stays)


def test_of_too_many_connections_the_silent_ones_go_first(plain, monkeypatch):
    monkeypatch.setattr(connection_guard, 'MAX_CONNECTIONS', 6)
    bound, port = bind(plain, zmq.ROUTER)
    finish, lost = plain.finish_of(bound), []
    watch = ServerWatch(f'tcp://127.0.0.1:{port}', lambda: lost.append(True))
    users = [open_socket(zmq.DEALER) for _ in range(4)]
    for user in users:
        user.connect(f'tcp://127.0.0.1:{port}')
        user.send(b'request')
        identity, part = bound.recv_multipart(copy=False)
        finish(part.get(zmq.SRCFD))
        bound.send_multipart([identity.bytes, b'reply'])
        assert user.recv() == b'reply'
    with contextlib.ExitStack() as held:
        idle = [held.enter_context(dial(port, 'DEALER')) for _ in range(20)]
        wait_until(lambda: sum(map(is_open, idle)) <= 2)
        for user in users:
            events = user.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            user.send(b'again')
            assert bound.poll(60_000) and not events.poll(0)
            bound.recv_multipart()
            user.disable_monitor()
            events.close()
    assert not lost, 'a watch whose silent connection was closed renews it'
    plain.close()
    wait_until(lambda: lost)
    watch.stop()
    for user in users:
        user.close()


def test_a_process_keeps_descriptors_for_other_things(monkeypatch):
    limits = [(1024, 128), (100_000, 1000), (4, 1), (-1, 1000)]
    for descriptors, most in limits:
        monkeypatch.setattr(
            connection_guard.resource, 'getrlimit', lambda kind, soft=descriptors: (soft, soft)
        )
        assert connection_guard.most_connections() == most
