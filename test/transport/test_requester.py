# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests over ZeroMQ, with and without keys: to servers that are slow, away, or hostile."""

import contextlib
import dataclasses
import threading
import time
from types import SimpleNamespace

import pytest
from raw_zmtp import GREETING
from raw_zmtp import raw_server
from raw_zmtp import shake_hands
from waiting import bind_when_free
import zmq

from urlab_ros_bridge.transport import requester
from urlab_ros_bridge.transport.errors import ConnectionLost
from urlab_ros_bridge.transport.errors import KeysRejected
from urlab_ros_bridge.transport.errors import RequestTimeout
from urlab_ros_bridge.transport.keys import make_keys
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.transport.keys import read_server_keys
from urlab_ros_bridge.transport.requester import Requester
from urlab_ros_bridge.transport.server_sockets import ServerSockets

PATIENCE = 60.0


@pytest.fixture(scope='module')
def folders(tmp_path_factory):
    """Return two folders of keys that do not belong together."""
    made = [tmp_path_factory.mktemp('keys') / name for name in ('ours', 'others')]
    for folder in made:
        make_keys(folder)
    return made


@pytest.fixture(params=['plain', 'encrypted'])
def keys(request, folders):
    if request.param == 'plain':
        return SimpleNamespace(server=None, client=None)
    server, client = read_server_keys(folders[0]), read_client_keys(folders[0])
    return SimpleNamespace(server=server, client=client)


@contextlib.contextmanager
def server(answer, keys=None, kind=zmq.ROUTER, port=0):
    """
    Run a socket until the block ends; yield its address.

    `answer` gets the socket and the parts of a request.
    """
    sockets = ServerSockets(keys)
    bound = bind_when_free(sockets, kind, port)
    over = threading.Event()

    def serve():
        while not over.is_set():
            if bound.poll(20):
                answer(bound, bound.recv_multipart())

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield bound.last_endpoint.decode()
    finally:
        over.set()
        thread.join()
        sockets.close()


def echo(bound, parts):
    bound.send_multipart(parts)


@contextlib.contextmanager
def client(endpoint, keys=None):
    made = Requester(endpoint, keys)
    try:
        yield made
    finally:
        made.close()


@pytest.mark.parametrize('kind', [zmq.REP, zmq.ROUTER])
def test_requests_and_replies_of_any_size_arrive(kind, keys):
    with server(echo, keys.server, kind) as endpoint, client(endpoint, keys.client) as made:
        for size in (0, 1, 255, 256, 9000, 70_000, 5_000_000):
            assert made.exchange('echo', bytes(size), PATIENCE) == bytes(size)


def test_the_first_part_of_a_longer_reply_counts():
    def answer(bound, parts):
        bound.send_multipart([*parts, b'more', b'', b'parts'])

    with server(answer) as endpoint, client(endpoint) as made:
        for number in (b'1', b'2'):
            assert made.exchange('echo', number, PATIENCE) == number


def test_an_oversize_reply_ends_its_connection_only(monkeypatch, keys):
    monkeypatch.setattr(requester, 'MAX_REPLY_BYTES', 1 << 16)

    def answer(bound, parts):
        bound.send_multipart([*parts[:-1], bytes(int(parts[-1]))])

    with server(answer, keys.server) as endpoint, client(endpoint, keys.client) as made:
        with pytest.raises(ConnectionLost):
            made.exchange('echo', b'1000000', PATIENCE)
        assert made.exchange('echo', b'3', PATIENCE) == bytes(3)


@pytest.mark.parametrize('host', ['a..b', '.', 'x' * 64])
def test_an_impossible_host_is_a_timeout(host):
    with client(f'tcp://{host}:5') as made, pytest.raises(RequestTimeout):
        made.exchange('echo', b'', 0.2)


def test_a_restarted_server_is_found_again_and_gets_no_old_request(keys):
    seen, replies = [], []

    def note(bound, parts):
        seen.append(parts[-1])
        bound.send_multipart(parts)

    with server(note, keys.server) as endpoint:
        pass
    port = int(endpoint.rpartition(':')[2])
    with client(endpoint, keys.client) as made:
        with pytest.raises(RequestTimeout):
            made.exchange('echo', b'nobody', 0.2)
        thread = threading.Thread(
            target=lambda: replies.append(made.exchange('echo', b'early', PATIENCE))
        )
        thread.start()
        time.sleep(0.1)
        with server(note, keys.server, port=port):
            thread.join()
        assert made._events.poll(PATIENCE), 'the end is noticed'
        with server(note, keys.server, port=port):
            replies.append(made.exchange('echo', b'again', PATIENCE))
            time.sleep(0.3)  # longer than a reconnection takes
    assert replies == seen == [b'early', b'again']


def test_a_late_reply_answers_no_other_request(keys):
    def late(bound, parts):
        if parts[-1] == b'slow':
            time.sleep(0.5)
        bound.send_multipart(parts)

    with server(late, keys.server) as endpoint, client(endpoint, keys.client) as made:
        with pytest.raises(RequestTimeout):
            made.exchange('echo', b'slow', 0.1)
        for number in (b'1', b'2'):
            assert made.exchange('echo', number, PATIENCE) == number


def leave(peer):
    shake_hands(peer, 'ROUTER')
    peer.settimeout(2.0)  # the request may have come with the handshake
    peer.recv(1 << 16)


def test_a_closed_connection_and_a_silent_server_are_different_errors():
    with raw_server(leave) as endpoint, client(endpoint) as made:
        for _ in range(3):
            with pytest.raises(ConnectionLost) as caught:
                made.exchange('echo', b'', PATIENCE)
            assert not isinstance(caught.value, KeysRejected)
    with server(lambda *_: None) as endpoint, client(endpoint) as made:
        with pytest.raises(RequestTimeout) as caught:
            made.exchange('echo', b'', 0.3)
        assert not isinstance(caught.value, ConnectionLost)


# A forwarded port without a server; a server that is about to exit; another protocol.
@pytest.mark.parametrize('words', [b'', GREETING, b'HTTP/1.1 400 Bad Request\r\n'])
def test_a_peer_that_ends_the_handshake_is_a_lost_connection(words):
    with raw_server(lambda peer: peer.sendall(words)) as endpoint, client(endpoint) as made:
        with pytest.raises(ConnectionLost) as caught:
            made.exchange('echo', b'', PATIENCE)
        assert type(caught.value) is ConnectionLost


@pytest.mark.parametrize(
    ('server_has', 'client_has', 'reason'),
    [
        ('ours', None, 'accepts only clients with keys'),
        (None, 'ours', 'does not use keys'),
        ('ours', 'others', 'server.key'),
        ('ours', 'unlisted', 'lacks the public key'),
    ],
)
def test_mismatched_keys_are_named(folders, server_has, client_has, reason):
    ours, others = map(read_client_keys, folders)
    chosen = {
        None: None,
        'ours': ours,
        'others': others,
        'unlisted': dataclasses.replace(others, server=ours.server),
    }[client_has]
    with server(echo, server_has and read_server_keys(folders[0])) as endpoint:
        for _ in range(3):
            with client(endpoint, chosen) as made, pytest.raises(KeysRejected, match=reason):
                made.exchange('echo', b'', PATIENCE)
