# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The WebSocket server with peers that leave, hang, flood, trickle and send invalid data."""

import contextlib
import inspect
import os
from pathlib import Path
import re
import socket
import struct
import threading
import time

import pytest
from raw_peer import BINARY
from raw_peer import CLOSE
from raw_peer import dial
from raw_peer import flood
from raw_peer import frame
from raw_peer import opened
from raw_peer import opening
from raw_peer import PONG
from raw_peer import rest
from raw_peer import status
from raw_peer import trickle
from waiting import wait_until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from urlab_ros_bridge.gateways.serving import websocket_server
from urlab_ros_bridge.gateways.serving.access import Access
from urlab_ros_bridge.gateways.serving.access import HandshakeRefusal
from urlab_ros_bridge.gateways.serving.websocket_server import MAX_CONNECTIONS
from urlab_ros_bridge.gateways.serving.websocket_server import MAX_HANDSHAKES
from urlab_ros_bridge.gateways.serving.websocket_server import MAX_MESSAGE
from urlab_ros_bridge.gateways.serving.websocket_server import WebSocketServer


class Echo:
    """Sends back what comes; notes who was let in and who was forgotten."""

    def __init__(self):
        self.admitted, self.gone = [], []

    def admit(self, connection, request):
        if request.path == '/full':
            raise HandshakeRefusal(503, 'no place')
        self.admitted.append(connection)

    def serve(self, connection):
        for message in connection.messages():
            if message == b'close':
                connection.end(1008, 'as you like')
            elif message == b'break':
                raise RuntimeError('a gateway with a fault')
            elif isinstance(message, bytes):
                connection.send_parts([message[:10], message[10:]])
            else:
                connection.send(message)

    def left(self, connection):
        self.gone.append(connection)


@contextlib.contextmanager
def serving(access=None, **options):
    echo = Echo()
    server = WebSocketServer(echo, access or Access(), 0, name='echo', **options)
    server.bind()
    server.start()
    server.echo = echo
    try:
        yield server
    finally:
        server.stop('the test is over')
        assert set(echo.admitted) == set(echo.gone)
        assert server.connections == [] and server.handshakes == 0


@pytest.fixture
def server():
    with serving() as running:
        yield running


def echoes(server):
    with connect(server.url, proxy=None, open_timeout=20) as client:
        client.send(b'hello')
        return client.recv(timeout=20) == b'hello'


@pytest.mark.parametrize('sent', [b'', opening()[:30]])
def test_half_open_handshakes_keep_nobody_out(server, sent, monkeypatch):
    """None of them ends by itself here, and a client is let in at its first attempt."""
    monkeypatch.setattr(websocket_server, 'OPENING_SECONDS', 3600.0)
    threads = threading.active_count()
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            link = stack.enter_context(dial(server.port))
            with contextlib.suppress(ConnectionError):
                link.sendall(sent)
        for _ in range(3):
            assert echoes(server)
        wait_until(lambda: server.handshakes <= MAX_HANDSHAKES)
        assert server.handshakes > 0
        assert threading.active_count() <= threads + 3 * (MAX_HANDSHAKES + MAX_CONNECTIONS)
        # The newest are those that may still become something.
        link.sendall(opening()[len(sent) :])
        assert b' 101 ' in link.recv(4096)


def test_a_peer_without_a_request_in_time_is_disconnected(monkeypatch):
    monkeypatch.setattr(websocket_server, 'OPENING_SECONDS', 0.3)
    with serving() as server:
        with dial(server.port) as link:
            assert rest(link) == b''
        with dial(server.port) as link:
            trickle(link, opening())
        wait_until(lambda: server.handshakes == 0)


def test_one_address_does_not_crowd_out_another(monkeypatch):
    """The bound of each address is below that of all, and the one with most gives way."""
    monkeypatch.setattr(websocket_server, 'MAX_HANDSHAKES_PER_PEER', 6)
    monkeypatch.setattr(websocket_server, 'MAX_HANDSHAKES', 8)

    def dial_from(host, port):
        return socket.create_connection(('127.0.0.1', port), 20, source_address=(host, 0))

    with serving() as server, contextlib.ExitStack() as stack:
        early = stack.enter_context(dial_from('127.0.0.2', server.port))
        for host, count in (('127.0.0.3', 20), ('127.0.0.4', 20)):
            for _ in range(count):
                stack.enter_context(dial_from(host, server.port))
        wait_until(lambda: server.handshakes == 8)
        early.sendall(opening())
        assert b' 101 ' in early.recv(4096)


# What is not HTTP gets no answer.
BAD_HTTP = {
    b'GET //[ HTTP/1.1\r\nHost: x\r\n\r\n': ' 400 ',
    b'hello\r\n\r\n': '',
    b'\x16\x03\x01\x02\x00\n\n': '',  # TLS
    b'GET / HTTP/1.1\r\nno colon\r\n\r\n': '',
    b'GET / HTTP/1.1\r\nHost: x\r\n\r\n': ' 426 ',
    b'POST / HTTP/1.1\r\nHost: x\r\n\r\n': ' 405 ',
    b'GET / HTTP/1.1\r\nX: ' + b'y' * 20_000 + b'\r\n\r\n': ' 431 ',
    opening('/', 'Connection: \xff,,;'): ' 400 ',
}


@pytest.mark.parametrize('sent', BAD_HTTP, ids=lambda sent: repr(sent[:24]))
def test_bad_http_makes_one_line_of_the_log_at_most(server, sent, caplog):
    line, _ = status(server.port, sent)
    assert BAD_HTTP[sent] in line and bool(line) == bool(BAD_HTTP[sent])
    wait_until(lambda: server.handshakes == 0)
    assert len([r for r in caplog.records if 'websocket_server' in r.name]) <= 1


def test_no_more_clients_than_there_is_room_for_but_one_that_never_spoke_gives_way(
    server, monkeypatch
):
    with contextlib.ExitStack() as stack:
        speaker, *silent = (
            stack.enter_context(opened(server.port)) for _ in range(MAX_CONNECTIONS)
        )
        speaker.sendall(frame(b'hello'))
        assert speaker.recv(7) == b'\x82\x05hello'
        for link in silent:
            link.sendall(frame(b'', PONG))
        line, text = status(server.port, opening())
        assert ' 503 ' in line and 'no more are accepted' in text
        monkeypatch.setattr(websocket_server, 'SILENT_SECONDS', 0.0)
        assert echoes(server)
        assert b'the place was needed' in rest(silent[0])
        monkeypatch.setattr(websocket_server, 'SILENT_SECONDS', 3600.0)
        assert all(map(echoes, [server] * 3))  # one has left
        speaker.sendall(frame(b'again'))
        assert speaker.recv(7) == b'\x82\x05again'
    wait_until(lambda: not server.connections)
    assert ' 503 ' in status(server.port, opening('/full'))[0]
    assert echoes(server)


def test_clients_that_come_at_once_get_no_more_places_than_there_are(server, monkeypatch):
    monkeypatch.setattr(websocket_server, 'MAX_CONNECTIONS', 4)
    waiting = threading.Barrier(5)  # of four clients, and of this test
    admit = server.echo.admit

    def admit_together(connection, request):
        admit(connection, request)
        waiting.wait()

    monkeypatch.setattr(server.echo, 'admit', admit_together)
    with contextlib.ExitStack() as stack:
        links = [stack.enter_context(dial(server.port)) for _ in range(8)]
        for link in links:
            link.sendall(opening())
        wait_until(lambda: waiting.n_waiting == 4 and server.handshakes == 0)
        waiting.wait()
        answers = [link.recv(4096).split()[1] for link in links]
    assert sorted(answers) == [b'101'] * 4 + [b'503'] * 4


@pytest.mark.parametrize(
    ('attack', 'sent'),
    [
        (trickle, b'\x82\x05hello'),  # not masked
        (flood, bytes((BINARY, 0xFF)) + struct.pack('!Q', 1 << 40)),  # too large
        (flood, frame(b'close')),  # by the server
        (trickle, frame(struct.pack('!H', 1000), CLOSE)),
    ],
)
def test_a_peer_that_still_sends_after_the_close_is_reset(attack, sent, monkeypatch):
    """The time in which it can still send is bounded, and nothing of that is carried out."""
    monkeypatch.setattr(websocket_server, 'CLOSE_SECONDS', 0.5)
    # Missing pongs do not end it.
    with serving(keepalive=3600.0) as server, opened(server.port) as link:
        link.sendall(sent)
        attack(link, frame(b'x' * 1000))
        wait_until(lambda: not server.connections)
        assert echoes(server)


@pytest.mark.parametrize('closing', ['by the message', 'from outside', 'at the end'])
def test_a_peer_that_never_answers_the_close_is_reset(closing):
    with serving() as server, opened(server.port) as link:
        wait_until(lambda: server.connections)
        if closing == 'by the message':
            link.sendall(frame(b'close'))
        elif closing == 'from outside':  # while its thread waits for the next message
            server.close_all(1013, 'come back later')
        else:
            server.stop('the end')
        received = rest(link)  # ends although the peer keeps its half
        assert received[:1] == b'\x88'
        wait_until(lambda: not server.connections)


@pytest.mark.parametrize('keepalive', [0.5, None])
def test_a_peer_that_never_reads_is_given_up_and_cut_off_when_the_server_closes(keepalive):
    """Its thread is in the middle of sending, and pings cannot be sent."""
    options = {'keepalive': keepalive} if keepalive else {}
    with serving(**options) as server, opened(server.port) as link:
        link.settimeout(0.5)
        with contextlib.suppress(TimeoutError, ConnectionError):
            while True:
                link.sendall(frame(b'x' * 90_000))
        if not keepalive:
            server.close_all(1013, 'come back later')
        wait_until(lambda: not server.connections, seconds=20)


def test_an_unfinished_message_does_not_count_as_a_pong():
    """A message that never ends is asked for by pings, which cannot be answered within it."""
    with serving(keepalive=0.4) as server:
        with opened(server.port) as link:
            begun = bytes((BINARY, 0xFF)) + struct.pack('!Q', 1_000_000) + bytes(4)
            trickle(link, begun + bytes(2_000))
        wait_until(lambda: not server.connections)
        with connect(server.url, proxy=None) as client:  # answers pings, and says nothing
            time.sleep(2.5)
            client.send(b'still here')
            assert client.recv(timeout=20) == b'still here'


def test_very_many_fragments_are_refused(server):
    def resident():
        return int(Path('/proc/self/statm').read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE')

    with opened(server.port) as link:
        link.settimeout(60.0)
        before = resident()
        with contextlib.suppress(ConnectionError):
            link.sendall(frame(b'', 0x02) + frame(b'', 0x00) * 300_000 + frame(b'end', 0x80))
        assert b'\x03\xf1' in rest(link)[:4]  # 1009
        assert resident() - before < 32 << 20
    with opened(server.port) as link:
        link.sendall(frame(b'', 0x8A) * 1000 + frame(b'again', BINARY) + frame(b'', PONG))
        assert link.recv(7) == b'\x82\x05again'


def test_messages_are_binary_or_text_whole_or_in_pieces_up_to_the_limit(server):
    with connect(server.url, proxy=None, compression=None, max_size=None) as client:
        for message in (b'', 'x' * 125, b'x' * 126, 'x' * 65_536, bytes(MAX_MESSAGE)):
            client.send(message)
            assert client.recv(timeout=20) == message
        client.send([b'ab', b'', b'c' * 70_000])
        assert client.recv(timeout=20) == b'ab' + b'c' * 70_000
        with contextlib.suppress(ConnectionClosed):
            client.send(bytes(MAX_MESSAGE + 1))
        with pytest.raises(ConnectionClosed, match='1009'):
            client.recv(timeout=20)


def test_a_fault_of_the_gateway_ends_only_that_connection(server, caplog):
    with connect(server.url, proxy=None) as other:
        with opened(server.port) as link:
            link.sendall(frame(b'break'))
            rest(link)
        assert 'the connection raised an error' in caplog.text
        other.send(b'hello')
        assert other.recv(timeout=20) == b'hello'


def test_the_library_has_the_members_that_it_does_not_document(server):
    """When this fails, read the library's changes at each of `UNDOCUMENTED` before all else."""
    inner = server._server
    assert (
        isinstance(inner, websocket_server.Server) and inner.socket.getsockname()[1] == server.port
    )
    inspect.signature(inner.handler).bind('socket', 'address')
    with connect(server.url, proxy=None, open_timeout=20) as client:
        connection = wait_until(lambda: server.connections)[0]
        assert connection.socket.getpeername() == client.socket.getsockname()
        started = threading.Event()

        def send():
            started.set()
            connection.send(b'between')

        sender = threading.Thread(target=send)
        with connection.send_context():
            sender.start()
            started.wait()
            sender.join(0.2)
            assert sender.is_alive(), 'others wait while the context is held'
            connection.socket.sendall(b'\x82\x05first')
        sender.join()
        assert [client.recv(timeout=20) for _ in range(2)] == [b'first', b'between']
        connection.close_socket()
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=20)


def test_only_listed_members_of_the_library_are_undocumented():
    """Of the objects that `serve` makes, nothing else is used but what the documentation lists."""
    documented = {'shutdown', 'serve_forever'}
    used = set(re.findall(r'self\._server\.(\w+)', inspect.getsource(websocket_server)))
    assert used == documented | set(websocket_server.UNDOCUMENTED[websocket_server.Server])
