# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a peer says of itself before a ZeroMQ handshake (ZMTP 3, RFC 23).

libzmq reports alike that a server wants keys and that a connection ends as soon as it was made,
as behind a forwarded port whose other end is gone.  The greeting tells the two apart.
"""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

NO_KEYS = 'NULL'  # mechanism of ZMTP
_SIZE = 64
_MECHANISM = slice(12, 32)
# Signature and version: who was told our mechanism might hang up before it tells its own.
_OURS = b'\xff' + bytes(8) + b'\x7f\x03\x00'


def mechanism_at(endpoint: str, seconds: float = 1.0) -> str | None:
    """
    Return which security mechanism a TCP endpoint asks for: NULL, CURVE.

    :param seconds: that it may take to answer.
    :return: None when nobody there speaks ZMTP 3 within that time.
    """
    place, deadline = urlsplit(endpoint), time.monotonic() + seconds
    if place.scheme != 'tcp' or not place.hostname or not place.port:
        return None
    received = b''
    try:
        with socket.create_connection((place.hostname, place.port), seconds) as link:
            link.sendall(_OURS)
            while len(received) < _SIZE:
                link.settimeout(max(deadline - time.monotonic(), 1e-3))
                piece = link.recv(_SIZE - len(received))
                if not piece:
                    return None
                received += piece
    except OSError:
        return None
    if received[:1] != b'\xff' or not received[9] & 1 or received[10] < 3:
        return None
    return received[_MECHANISM].rstrip(b'\0').decode('ascii', 'replace')


__all__ = ['NO_KEYS', 'mechanism_at']
