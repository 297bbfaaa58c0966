# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The ZMTP greeting of a peer: which security mechanism it announces.

libzmq reports alike that a server wants keys and that a connection ends as soon as it was made,
as behind a forwarded port whose other end is gone.  The greeting tells the two apart.
"""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

from urlab_ros_bridge.wire import zmtp


def mechanism_at(endpoint: str, seconds: float = 1.0) -> str | None:
    """
    Return which security mechanism a TCP endpoint asks for: NULL, CURVE.

    :param seconds: that it may take to answer.
    :return: None when nobody there speaks ZMTP 3 within that time.
    """
    place, deadline = urlsplit(endpoint), time.monotonic() + seconds
    if place.scheme != 'tcp' or not place.hostname or not place.port:
        return None
    received, mechanism = b'', None
    try:
        with socket.create_connection((place.hostname, place.port), seconds) as link:
            link.sendall(zmtp.GREETING_BEFORE_MECHANISM)
            while mechanism is None:
                link.settimeout(max(deadline - time.monotonic(), 1e-3))
                piece = link.recv(zmtp.GREETING_BYTES - len(received))
                if not piece:
                    return None
                received += piece
                mechanism = zmtp.read_mechanism(received)
    except (OSError, UnicodeError, zmtp.BadPeer):  # the second: of a host that cannot be
        return None
    return mechanism


__all__ = ['mechanism_at']
