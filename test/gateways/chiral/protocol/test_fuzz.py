# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Broken WebSocket frames and broken messages over a real socket: only their sender is let go."""

import socket
import struct

import msgpack
import numpy as np
import pytest

from test.gateways.chiral.stock_client import connect_when_free
from urlab_ros_bridge.gateways.chiral.protocol import codec

OPENING = (
    b'GET /view HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
    b'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'
)
MASK = b'\x00\x00\x00\x00'


@pytest.fixture(scope='module')
def server(quadruped, gateway):
    with gateway(quadruped, {'pace': 'lockstep'}, viewers=True) as running:
        yield running


def frame(data, first=0x82):
    """Return a masked frame (the mask is zero, so the bytes stay readable)."""
    if len(data) < 126:
        return bytes((first, 0x80 | len(data))) + MASK + data
    return bytes((first, 0xFE)) + struct.pack('!H', len(data)) + MASK + data


def ended(port, sent, half_close=True):
    """Send bytes after the handshake; return what came until the server ended the connection."""
    with socket.create_connection(('127.0.0.1', port), timeout=5) as link:
        link.sendall(OPENING)
        answer = b''
        while b'\r\n\r\n' not in answer:
            answer += link.recv(4096)
        assert b' 101 ' in answer
        received = b''
        try:
            link.sendall(sent)
            if half_close:
                link.shutdown(socket.SHUT_WR)
            while chunk := link.recv(65536):
                received += chunk
        except ConnectionError:
            pass
        return received


def close_code(received):
    at = received.rfind(b'\x88')
    return struct.unpack_from('!H', received, at + 2)[0]


def test_random_bytes(server):
    random = np.random.default_rng(12)
    for length in (1, 2, 3, 7, 20, 100, 5000):
        for _ in range(4):
            ended(server.port, random.bytes(length))
    with connect_when_free(server.url) as client:
        assert client.reset().type == 'reset_response'


@pytest.mark.parametrize(
    ('sent', 'code'),
    [
        (b'\x82\x05hello', 1002),  # not masked
        (frame(b'x', 0x83), 1002),  # a reserved opcode
        (frame(b'x', 0xC2), 1002),  # compressed, which nobody agreed on
        (frame(b'x', 0x80), 1002),  # the end of a message that never began
        (frame(b'\xff\xfe', 0x81), 1007),  # a text that is none
        (bytes((0x82, 0xFF)) + struct.pack('!Q', 1 << 40) + MASK, 1009),  # a terabyte to come
        (frame(b'x' * 200, 0x89), 1002),  # a ping of too many bytes
    ],
)
def test_frames_against_the_rules(server, sent, code):
    assert close_code(ended(server.port, sent, half_close=False)) == code
    with connect_when_free(server.url) as client:
        assert client.metadata()


def mutations(random):
    good = b''.join(codec.encode_action(np.zeros(12), {'camera': 1.0}))
    for _ in range(60):
        data = bytearray(good)
        for _ in range(random.integers(1, 5)):
            data[random.integers(len(data))] = random.integers(256)
        yield bytes(data[: random.integers(len(data) + 1)])
    for value in (None, -1, 2**63, 'x', [], {}, [None], [2**62, 2**62], 1.5, b'\x00'):
        for key in ('type', 'shape', 'dtype', 'obs_timestamps', 'seed', 'keyframe'):
            for kind in ('apply_action', 'reset', 'obs_request', 'metadata'):
                header = msgpack.packb(
                    {'type': kind, 'shape': [12], 'dtype': 'float32', key: value}
                )
                yield struct.pack('<I', len(header)) + header + bytes(48)


def test_mutated_messages(server):
    """Each is answered or ends its own connection with a reason; the driver's is never touched."""
    random = np.random.default_rng(9)
    with connect_when_free(server.url) as driver:
        before = driver.reset()
        for data in mutations(random):
            received = ended(server.port, frame(data))
            assert received[:1] in (b'\x82', b'\x88', b'')
            if received[:1] == b'\x88':
                assert close_code(received) in (1000, 1005, 1007, 1008)
        assert driver.observe().payload == before.payload
