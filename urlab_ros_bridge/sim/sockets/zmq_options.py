# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Socket options of ZeroMQ, with types: its options are numbers or bytes."""

from __future__ import annotations

from contextlib import suppress
import os
import socket as sockets

import zmq

_READABLE = int(zmq.POLLIN)
_EVENTS = int(zmq.EVENTS)


def readable(socket: zmq.Socket) -> bool:
    """Return whether a message can be received at once."""
    events = socket.getsockopt(_EVENTS)
    return isinstance(events, int) and events & _READABLE != 0


def disconnect_sender(frame: zmq.Frame) -> None:
    """
    Shut down the TCP connection that a part of a message came by, if it still is one.

    libzmq itself closes no connection of a ROUTER; it notices that this one has ended.
    """
    with suppress(OSError, ValueError, zmq.ZMQError):
        handle = os.dup(int(frame.get(zmq.SRCFD)))
        with sockets.socket(fileno=handle) as connection:
            if connection.family in (sockets.AF_INET, sockets.AF_INET6):
                connection.shutdown(sockets.SHUT_RDWR)


def bound_endpoint(socket: zmq.Socket) -> str:
    """Return the address that the socket was bound to last, with the port that it was given."""
    endpoint = socket.getsockopt(zmq.LAST_ENDPOINT)
    return endpoint.decode().rstrip('\x00') if isinstance(endpoint, bytes) else ''
