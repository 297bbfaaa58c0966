# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server's own connections: bytes hurt their sender alone, nobody waits for another."""

import contextlib
import errno
import random
import socket
import struct
import time

from bundled_server import running_server
import pytest
import zmq

from urlab_ros_bridge.sim.sockets import zmtp_server
from urlab_ros_bridge.sim.transports import zmtp_rpc
from urlab_ros_bridge.wire import zmtp
from urlab_ros_bridge.wire.encoding import codec

PATIENCE = 60.0
META = codec.pack({'op': 'meta'})
REQUEST = zmtp.DELIMITER + zmtp.frame(META)


def dial(running):
    host, port = running.endpoints['rpc'].removeprefix('tcp://').split(':')
    return socket.create_connection((host, int(port)), PATIENCE)


def raw_client(running, kind='DEALER'):
    """Return a TCP connection that has shaken hands, and a reader of what comes."""
    peer, reader = dial(running), zmtp.ZmtpReader(1 << 26)
    peer.sendall(zmtp.GREETING + zmtp.ready(kind))
    while not reader.greeted():
        reader.feed(peer.recv(1 << 16))
    flags, body = receive(peer, reader)
    assert flags & zmtp.COMMAND and zmtp.read_ready(zmtp.read_command(body)[1], ['ROUTER'])
    return peer, reader


def receive(peer, reader):
    """Return the next frame."""
    while (frame := reader.next()) is None:
        data = peer.recv(1 << 16)
        assert data, 'the connection has ended'
        reader.feed(data)
    return frame


def reply(peer, reader, head=(b'',)):
    """Return the next reply; its envelope must be `head`."""
    got = [receive(peer, reader) for _ in head]
    assert [body for _, body in got] == list(head)
    return codec.unpack(receive(peer, reader)[1])


def ended(peer):
    """Return whether the server closes a connection."""
    try:
        while peer.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


@pytest.fixture(scope='module')
def running():
    """Return a server that all tests of this module share."""
    with running_server(cameras='off') as made:
        yield made


@pytest.fixture
def other(running):
    """Return another client, which must be served whatever happens, before and afterwards."""
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(zmq.Context.instance().socket(zmq.REQ))
        client.linger, client.rcvtimeo = 0, int(1000 * PATIENCE)
        client.connect(running.endpoints['rpc'])

        def ask():
            client.send(META)
            assert codec.unpack(client.recv())['op'] == 'meta_ok'

        ask()
        yield ask
        ask()


def test_requests_in_any_pieces_are_answered_in_order(running):
    peer, reader = raw_client(running)
    stream = REQUEST + zmtp.frame(b'id', zmtp.MORE) + REQUEST + REQUEST
    shuffle = random.Random(1)
    while stream:
        size = shuffle.randint(1, 9)
        peer.sendall(stream[:size])
        stream = stream[size:]
        time.sleep(0.0005)
    assert reply(peer, reader)['op'] == 'meta_ok'
    assert reply(peer, reader, (b'id', b''))['op'] == 'meta_ok'
    assert reply(peer, reader)['op'] == 'meta_ok'
    peer.close()


def test_handshake_byte_by_byte(running):
    peer, reader = dial(running), zmtp.ZmtpReader(1 << 20)
    for byte in zmtp.GREETING + zmtp.ready('REQ') + REQUEST:
        peer.sendall(bytes([byte]))
    while not reader.greeted():
        reader.feed(peer.recv(1 << 16))
    receive(peer, reader)
    assert reply(peer, reader)['op'] == 'meta_ok'
    peer.close()


def test_many_requests_at_once_delay_nobody(running, other):
    peer, reader = raw_client(running)
    count = 2000
    peer.sendall(REQUEST * count)
    other()
    for _ in range(count):
        assert reply(peer, reader)['op'] == 'meta_ok'
    peer.close()


def test_a_ping_is_answered(running):
    peer, reader = raw_client(running, 'REQ')
    peer.sendall(zmtp.command(b'PING', b'\x00\x00context') + zmtp.command(b'UNKNOWN') + REQUEST)
    assert zmtp.read_command(receive(peer, reader)[1]) == (b'PONG', b'context')
    assert reply(peer, reader)['op'] == 'meta_ok'
    peer.close()


HELLO = zmtp.GREETING + zmtp.ready('DEALER')
BAD = {
    'http': b'GET / HTTP/1.1\r\nHost: here\r\n\r\n',
    'noise': random.Random(2).randbytes(300),
    'ZMTP 2': b'\xff' + bytes(8) + b'\x7f\x01\x05',
    'password': b'\xff' + bytes(8) + b'\x7f\x03\x00' + b'PLAIN'.ljust(52, b'\x00'),
    'another kind': zmtp.GREETING + zmtp.ready('SUB'),
    'no kind': zmtp.GREETING + zmtp.command(b'READY'),
    'READY cut short': zmtp.GREETING + zmtp.frame(b'\x05READY\x0bSock', zmtp.COMMAND),
    'a request too early': zmtp.GREETING + REQUEST,
    'a command without name': HELLO + b'\x04\x00',
    'a long command': HELLO + zmtp.frame_head(5000, zmtp.COMMAND),
    'a frame too large': HELLO + zmtp.frame_head(codec.MAX_REQUEST_BYTES + 1),
    'a size without end': HELLO + b'\x02' + b'\xff' * 8,
    'unknown flags': HELLO + b'\x40\x00',
    'many parts': HELLO + zmtp.DELIMITER * 300,
}


@pytest.mark.parametrize('name', BAD)
def test_who_breaks_the_rules_is_disconnected_and_nobody_else(running, other, name):
    with dial(running) as peer:
        peer.sendall(BAD[name])
        assert ended(peer)


def test_who_leaves_in_the_middle_of_the_handshake_is_forgotten(running, other):
    for size in (0, 10, 64, len(HELLO)):
        for _ in range(10):
            peer = dial(running)
            peer.sendall(HELLO[:size])
            # An end without farewell: what the server sends next fails.
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            peer.close()
        other()


def test_parts_that_are_too_large_together_end_the_connection(running, other):
    with dial(running) as peer:
        part = zmtp.frame(bytes(codec.MAX_REQUEST_BYTES // 2), zmtp.MORE)
        with contextlib.suppress(OSError):
            peer.sendall(HELLO + part + part + part)
        assert ended(peer)


def test_a_handshake_that_does_not_end_is_ended(running, other, monkeypatch):
    monkeypatch.setattr(zmtp_server, 'HANDSHAKE_SECONDS', 0.3)
    with dial(running) as silent, dial(running) as half, raw_client(running)[0] as whole:
        half.sendall(zmtp.GREETING[:20])
        assert ended(silent) and ended(half)
        whole.sendall(REQUEST)
        assert b'meta_ok' in whole.recv(1 << 16)


def test_unfinished_requests_have_a_limit_in_all(running, other, monkeypatch):
    monkeypatch.setattr(zmtp_rpc, 'MAX_PARTIAL', 1 << 20)
    transport = running._transport
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(raw_client(running)[0]) for _ in range(4)]
        for peer in peers:
            with contextlib.suppress(OSError):
                peer.sendall(zmtp.DELIMITER + zmtp.frame_head(1 << 20) + bytes(400_000))
        deadline = time.monotonic() + PATIENCE
        while sum(map(lost, peers)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        other()
    while transport._partial:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def lost(peer):
    """Return whether a connection has ended by now."""
    peer.setblocking(False)
    try:
        return not peer.recv(1)
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_who_takes_no_replies_is_asked_no_more_and_then_gets_them_all(running, other):
    peer, reader = raw_client(running)
    peer.setblocking(False)
    request = zmtp.DELIMITER + zmtp.frame(codec.pack({'op': 'meta', 'padding': bytes(10_000)}))
    stream, sent = memoryview(request * 3000), 0
    quiet = time.monotonic()
    while sent < len(stream) and time.monotonic() - quiet < 0.5:  # until it reads no more
        try:
            sent += peer.send(stream[sent : sent + 100_000])
            quiet = time.monotonic()
        except BlockingIOError:
            time.sleep(0.01)
    assert sent < len(stream)
    other()
    clients = list(running._transport._clients.connections.values())
    assert 0 < max(each.unsent_bytes for each in clients) < 1 << 20
    assert running._transport._partial < 1 << 20
    peer.settimeout(PATIENCE)
    for _ in range(sent // len(request)):
        assert reply(peer, reader)['op'] == 'meta_ok'
    peer.close()


def test_without_descriptors_those_that_are_connected_are_served(running, other, monkeypatch):
    listener = running._transport._clients.listener
    refused = []

    class Full:
        def accept(self):
            refused.append(1)
            raise OSError(errno.EMFILE, 'too many open files')

        def fileno(self):
            return listener.fileno()

    monkeypatch.setattr(running._transport._clients, 'listener', Full())
    with dial(running) as waiting:
        other()
        deadline = time.monotonic() + PATIENCE
        while not refused:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        monkeypatch.undo()
        waiting.sendall(HELLO + REQUEST)
        while b'meta_ok' not in waiting.recv(1 << 16):
            pass
    assert len(refused) < 10, 'it must not try all the time'
