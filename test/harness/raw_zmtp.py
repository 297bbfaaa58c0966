# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes of ZMTP 3.0 (RFC 23), written by hand for peers that misbehave."""

from contextlib import contextmanager
from contextlib import suppress
import socket
import threading

GREETING = b'\xff' + bytes(8) + b'\x7f\x03\x00' + b'NULL'.ljust(20, b'\0') + bytes(32)
MORE = 0x01
COMMAND = 0x04


def frame(body, flags=0):
    """Return a frame: flags (with the large bit where needed), size, body."""
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | 0x02]) + len(body).to_bytes(8, 'big') + body


def ready(kind):
    """Return the command that ends the handshake of a socket type."""
    name, value = b'Socket-Type', kind.encode()
    return frame(
        b'\x05READY' + bytes([len(name)]) + name + len(value).to_bytes(4, 'big') + value, COMMAND
    )


def shake_hands(peer, kind):
    """Answer the handshake of a connecting socket; what it sends with READY is dropped."""
    peer.sendall(GREETING + ready(kind))
    received = b''
    while b'READY' not in received:
        piece = peer.recv(1 << 16)
        assert piece
        received += piece


@contextmanager
def raw_server(talk):
    """Accept connections and pass each to `talk`; yield the address."""
    listener = socket.create_server(('127.0.0.1', 0))

    def accept():
        with suppress(OSError):
            while True:
                with listener.accept()[0] as peer, suppress(OSError, AssertionError):
                    talk(peer)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f'tcp://127.0.0.1:{listener.getsockname()[1]}'
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
