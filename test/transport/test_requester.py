# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests over ZeroMQ, with and without keys: to servers that are slow, away, or hostile."""

import contextlib
import dataclasses
import threading
import time

import pytest
from raw_zmtp import GREETING
from raw_zmtp import raw_server
from raw_zmtp import shake_hands
from repeating import repeating
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


@contextlib.contextmanager
def server(answer, keys=None, kind=zmq.ROUTER, port=0):
    """
    Run a socket until the block ends; yield its address.

    `answer` gets the socket and the parts of a request.
    """
    sockets = ServerSockets(keys)
    bound = bind_when_free(sockets, kind, port)

    def turn():
        if bound.poll(20):
            answer(bound, bound.recv_multipart())

    try:
        with repeating(turn):
            yield bound.last_endpoint.decode()
    finally:
        sockets.close()


def client(endpoint, keys=None):
    return contextlib.closing(Requester(endpoint, keys))


@pytest.mark.parametrize('kind', [zmq.REP, zmq.ROUTER])
def test_requests_and_replies_of_any_size_arrive_and_the_first_part_counts(kind, keys):
    def answer(bound, parts):
        bound.send_multipart([*parts, b'more'])

    with server(answer, keys.server, kind) as endpoint, client(endpoint, keys.client) as made:
        for size in (0, 1, 255, 256, 9000, 70_000, 5_000_000):
            assert made.exchange('echo', bytes(size), PATIENCE) == bytes(size)


def test_an_oversize_reply_ends_its_connection_only(monkeypatch):
    monkeypatch.setattr(requester, 'MAX_REPLY_BYTES', 1 << 16)

    def answer(bound, parts):
        bound.send_multipart([*parts[:-1], bytes(int(parts[-1]))])

    with server(answer) as endpoint, client(endpoint) as made:
        with pytest.raises(ConnectionLost):
            made.exchange('echo', b'1000000', PATIENCE)
        assert made.exchange('echo', b'3', PATIENCE) == bytes(3)


def test_an_impossible_host_is_a_timeout():
    with client(f'tcp://{"x" * 64}:5') as made, pytest.raises(RequestTimeout):
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


def leave(peer):
    shake_hands(peer, 'ROUTER')
    peer.settimeout(2.0)  # the request may have come with the handshake
    peer.recv(1 << 16)


# An ending server; a forwarded port without a server; one that is about to exit; another protocol.
@pytest.mark.parametrize(
    'talk',
    [
        leave,
        lambda _: None,
        lambda peer: peer.sendall(GREETING),
        lambda peer: peer.sendall(b'HTTP/1.1 400 Bad Request\r\n'),
    ],
)
def test_a_peer_that_ends_the_connection_is_lost_and_a_silent_one_times_out(talk):
    with raw_server(talk) as endpoint, client(endpoint) as made:
        with pytest.raises(ConnectionLost) as caught:
            made.exchange('echo', b'', PATIENCE)
        assert type(caught.value) is ConnectionLost
    with server(lambda *_: None) as endpoint, client(endpoint) as made:
        with pytest.raises(RequestTimeout) as caught:
            made.exchange('echo', b'', 0.3)
        assert type(caught.value) is RequestTimeout


@pytest.mark.parametrize(
    ('server_has', 'client_has', 'reason'),
    [
        (True, None, 'accepts only clients with keys'),
        (False, 'ours', 'does not use keys'),
        (True, 'others', 'server.key'),
        (True, 'unlisted', 'lacks the public key'),
    ],
)
def test_mismatched_keys_are_named(tmp_path, server_has, client_has, reason):
    for name in ('ours', 'others'):
        make_keys(tmp_path / name)
    ours, others = (read_client_keys(tmp_path / name) for name in ('ours', 'others'))
    unlisted = dataclasses.replace(others, server=ours.server)
    chosen = {'ours': ours, 'others': others, 'unlisted': unlisted}.get(client_has)
    keys = read_server_keys(tmp_path / 'ours') if server_has else None
    with (
        server(lambda *_: None, keys) as endpoint,
        client(endpoint, chosen) as made,
        pytest.raises(KeysRejected, match=reason),
    ):
        made.exchange('echo', b'', PATIENCE)
