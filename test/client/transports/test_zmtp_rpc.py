# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Requests by the client's own connection, to servers of libzmq and to strange ones."""

import contextlib
import select
import socket
import threading
import time

import pytest
import zmq

from urlab_ros_bridge.client.errors import ConnectionLost
from urlab_ros_bridge.client.errors import KeysRejected
from urlab_ros_bridge.client.errors import NotConnected
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.client.transports import zmtp_rpc
from urlab_ros_bridge.client.transports.zmtp_rpc import ZmtpRpcSocket
from urlab_ros_bridge.wire import zmtp

PATIENCE = 60.0


@contextlib.contextmanager
def server(answer, kind=zmq.REP, port=0, **options):
    """
    Run a socket of libzmq until the block ends; yield its address.

    `answer` gets the socket and the parts of a request.
    """
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
        bound.close()


def echo(bound, parts):
    bound.send_multipart(parts)


@contextlib.contextmanager
def strange(talk):
    """Accept connections and let `talk` have each; yield the address."""
    listener = socket.create_server(('127.0.0.1', 0))

    def accept():
        with contextlib.suppress(OSError):
            while True:
                with listener.accept()[0] as peer, contextlib.suppress(OSError):
                    talk(peer)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f'tcp://127.0.0.1:{listener.getsockname()[1]}'
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@contextlib.contextmanager
def rpc(endpoint):
    made = ZmtpRpcSocket(endpoint)
    try:
        yield made
    finally:
        made.close()


@pytest.mark.parametrize('kind', [zmq.REP, zmq.ROUTER])
def test_requests_and_replies_of_any_size_arrive(kind):
    with server(echo, kind) as endpoint, rpc(endpoint) as client:
        for size in (0, 1, 255, 256, 9000, 70_000, 5_000_000):
            frame = bytes(size)
            assert client.exchange('echo', frame, PATIENCE) == frame


def test_of_a_reply_of_many_parts_the_first_counts():
    def answer(bound, parts):
        bound.send_multipart([*parts, b'more', b'', b'parts'])

    with server(answer) as endpoint, rpc(endpoint) as client:
        for number in (b'1', b'2'):
            assert client.exchange('echo', number, PATIENCE) == number


def test_a_reply_may_be_as_large_in_parts_as_in_one(monkeypatch):
    monkeypatch.setattr(zmtp_rpc, 'MAX_REPLY_BYTES', 1 << 16)

    def answer(bound, parts):
        bound.send_multipart([*parts, *(bytes(1 << 14) for _ in range(int(parts[-1])))])

    with server(answer) as endpoint, rpc(endpoint) as client:
        assert client.exchange('echo', b'3', PATIENCE) == b'3'
        with pytest.raises(ConnectionLost):
            client.exchange('echo', b'5', PATIENCE)
        assert client.exchange('echo', b'1', PATIENCE) == b'1'


@pytest.mark.parametrize('host', ['a..b', 'x' * 64])
def test_a_host_that_cannot_be_is_one_that_does_not_answer(host):
    with rpc(f'tcp://{host}:5') as client, pytest.raises(RequestTimeout):
        client.exchange('echo', b'', 0.2)


def test_a_server_that_comes_later_is_waited_for_and_one_that_comes_back_is_found():
    with server(echo) as endpoint:
        pass
    port = int(endpoint.rpartition(':')[2])
    with rpc(endpoint) as client:
        with pytest.raises(RequestTimeout):
            client.exchange('echo', b'nobody', 0.2)
        deadline = time.monotonic() + PATIENCE
        with contextlib.suppress(ConnectionRefusedError):
            while time.monotonic() < deadline:  # libzmq closes ports a little later
                socket.create_connection(('127.0.0.1', port)).close()
        replies = []
        thread = threading.Thread(
            target=lambda: replies.append(client.exchange('echo', b'early', PATIENCE))
        )
        thread.start()
        time.sleep(0.1)
        with server(echo, port=port):
            thread.join()
        assert replies == [b'early']
        with server(echo, port=port):
            assert client.exchange('echo', b'again', PATIENCE) == b'again'


def test_a_late_reply_answers_no_other_request():
    def late(bound, parts):
        if parts[-1] == b'slow':
            time.sleep(0.5)
        bound.send_multipart(parts)

    with server(late, zmq.ROUTER) as endpoint, rpc(endpoint) as client:
        with pytest.raises(RequestTimeout):
            client.exchange('echo', b'slow', 0.1)
        assert client.exchange('echo', b'next', PATIENCE) == b'next'


def test_a_second_reply_answers_no_other_request():
    def twice(bound, parts):
        bound.send_multipart(parts)
        bound.send_multipart([*parts[:-1], b'once more'])

    with server(twice, zmq.ROUTER) as endpoint, rpc(endpoint) as client:
        for number in range(20):
            frame = str(number).encode()
            assert client.exchange('echo', frame, PATIENCE) == frame
            # It came with the reply, or comes now; after the next request nobody could tell.
            assert client._reader.size or select.select([client._socket], [], [], PATIENCE)[0]


def test_a_server_that_asks_whether_we_live_is_told():
    def slow(bound, parts):
        time.sleep(1.0)
        bound.send_multipart(parts)

    options = {'heartbeat_ivl': 50, 'heartbeat_timeout': 300}
    with server(slow, **options) as endpoint, rpc(endpoint) as client:
        assert client.exchange('echo', b'slow', PATIENCE) == b'slow'


def shake_hands(peer):
    peer.sendall(zmtp.GREETING + zmtp.ready('ROUTER'))
    while b'READY' not in peer.recv(1 << 16):
        pass


def test_a_connection_that_breaks_is_told_from_one_that_is_silent():
    def leave(peer):
        shake_hands(peer)
        peer.settimeout(2.0)  # the request may have come with the handshake
        peer.recv(1 << 16)

    with strange(leave) as endpoint, rpc(endpoint) as client:
        for _ in range(3):
            with pytest.raises(ConnectionLost) as caught:
                client.exchange('echo', b'', PATIENCE)
            assert not isinstance(caught.value, KeysRejected)


def test_a_reply_byte_by_byte_is_a_reply():
    def dribble(peer):
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in zmtp.GREETING + zmtp.ready('ROUTER'):
            peer.sendall(bytes([byte]))
        while b'question' not in peer.recv(1 << 16):
            pass
        for byte in zmtp.command(b'PONG') + zmtp.DELIMITER + zmtp.frame(b'answer'):
            peer.sendall(bytes([byte]))
            time.sleep(0.001)
        peer.recv(1)

    with strange(dribble) as endpoint, rpc(endpoint) as client:
        assert client.exchange('echo', b'question', PATIENCE) == b'answer'


@pytest.mark.parametrize(
    'reply',
    [
        zmtp.frame(b'no delimiter'),
        zmtp.DELIMITER + b'\x08\x00',
        zmtp.DELIMITER * 300,
        b'\x02' + b'\xff' * 8,
        zmtp.command(b''),
    ],
)
def test_a_reply_that_is_none_ends_the_connection(reply):
    def talk(peer):
        shake_hands(peer)
        peer.sendall(reply)
        while peer.recv(1 << 16):
            pass

    with strange(talk) as endpoint, rpc(endpoint) as client, pytest.raises(ConnectionLost):
        client.exchange('echo', b'', PATIENCE)


@pytest.mark.parametrize(
    ('words', 'error'),
    [
        # A forwarded port with nobody behind it; a server that is just ending.
        (b'', ConnectionLost),
        (zmtp.GREETING, ConnectionLost),
        (b'HTTP/1.1 400 Bad Request\r\n', KeysRejected),
    ],
)
def test_who_does_not_shake_hands_is_no_server(words, error):
    with (
        strange(lambda peer: peer.sendall(words)) as endpoint,
        rpc(endpoint) as client,
        pytest.raises(ConnectionLost) as caught,
    ):
        client.exchange('echo', b'', PATIENCE)
    assert type(caught.value) is error


def test_a_server_with_keys_and_one_of_another_kind_are_refused():
    public, secret = zmq.curve_keypair()
    keys = {'curve_server': True, 'curve_publickey': public, 'curve_secretkey': secret}
    # One of another kind may hang up before it has said which.
    for kind, options, error in ((zmq.REP, keys, KeysRejected), (zmq.PUB, {}, ConnectionLost)):
        with contextlib.ExitStack() as stack:
            bound = stack.enter_context(zmq.Context.instance().socket(kind))
            for name, value in options.items():
                setattr(bound, name, value)
            bound.bind('tcp://127.0.0.1:*')
            client = stack.enter_context(rpc(bound.last_endpoint.decode()))
            with pytest.raises(error):
                client.exchange('echo', b'', PATIENCE)


@pytest.mark.parametrize('where', ['the reply', 'the handshake', 'the server'])
def test_cancel_ends_a_request_in_another_thread(where):
    begun = threading.Event()

    def hang(peer):
        if where == 'the reply':
            shake_hands(peer)
        begun.set()
        while peer.recv(1 << 16):
            pass

    with strange(hang) as endpoint:
        if where == 'the server':
            endpoint = 'tcp://127.0.0.1:1'  # where nobody listens
            begun.set()
        with rpc(endpoint) as client:
            errors = []

            def ask():
                try:
                    client.exchange('echo', b'', 1000.0)
                except Exception as error:
                    errors.append(error)

            thread = threading.Thread(target=ask)
            thread.start()
            assert begun.wait(PATIENCE)
            time.sleep(0.05)
            client.cancel()
            thread.join(PATIENCE)
            assert [type(error) for error in errors] == [NotConnected]
