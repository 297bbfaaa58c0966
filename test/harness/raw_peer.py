# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A WebSocket client of bare bytes, that does as much of the protocol as a test wants."""

import contextlib
import socket
import struct
import time

OPENING = (
    'GET {} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{}\r\n'
)
MASK = bytes(4)
BINARY, CLOSE, PONG = 0x82, 0x88, 0x8A


def dial(port, timeout=20, receive_buffer=0):
    """Return a connection; with a small buffer, who sends soon notices that nobody reads."""
    link = socket.socket()
    if receive_buffer:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    link.settimeout(timeout)
    link.connect(('127.0.0.1', port))
    return link


def opening(path='/', *headers):
    return OPENING.format(path, ''.join(f'{header}\r\n' for header in headers)).encode()


def opened(port, path='/', *headers, receive_buffer=0):
    """Return a socket after the opening handshake; nobody answers its pings."""
    link = dial(port, receive_buffer=receive_buffer)
    link.sendall(opening(path, *headers))
    answer = b''
    while b'\r\n\r\n' not in answer:
        chunk = link.recv(4096)
        assert chunk, answer
        answer += chunk
    assert b' 101 ' in answer, answer
    return link


def frame(data=b'', first=BINARY):
    """Return a masked frame; the mask is zero, so the bytes stay readable."""
    if len(data) < 126:
        return bytes((first, 0x80 | len(data))) + MASK + data
    if len(data) < 1 << 16:
        return bytes((first, 0xFE)) + struct.pack('!H', len(data)) + MASK + data
    return bytes((first, 0xFF)) + struct.pack('!Q', len(data)) + MASK + data


def status(port, sent):
    """Return the status line of the answer to some bytes, and its text; '' when there is none."""
    with dial(port) as link:
        link.sendall(sent)
        answer = rest(link)
    head, _, body = answer.partition(b'\r\n\r\n')
    return head.split(b'\r\n')[0].decode(), body.decode(errors='replace')


def rest(link):
    """Return all that comes until the other side ends the connection."""
    received = b''
    with contextlib.suppress(ConnectionError):
        while chunk := link.recv(1 << 16):
            received += chunk
    return received


def flood(link, chunk, seconds=60.0):
    """Send without reading until the other side ends it."""
    deadline = time.monotonic() + seconds
    with contextlib.suppress(ConnectionError):
        while time.monotonic() < deadline:
            link.send(chunk)
        raise AssertionError(f'{seconds} s, and there was no end')


def trickle(link, data, pause=0.05):
    """Send byte for byte until the other side ends it."""
    with contextlib.suppress(ConnectionError):
        for byte in data:
            link.send(bytes((byte,)))
            time.sleep(pause)
        raise AssertionError('there was no end')
