# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a ZeroMQ socket knows of itself, with types: its options are numbers or bytes."""

from __future__ import annotations

import zmq

_READABLE = int(zmq.POLLIN)
_EVENTS = int(zmq.EVENTS)


def readable(socket: zmq.Socket) -> bool:
    """Say whether a message can be received at once."""
    events = socket.getsockopt(_EVENTS)
    return isinstance(events, int) and events & _READABLE != 0


def bound_endpoint(socket: zmq.Socket) -> str:
    """Return the address that the socket was bound to last, with the port that it was given."""
    endpoint = socket.getsockopt(zmq.LAST_ENDPOINT)
    return endpoint.decode().rstrip('\x00') if isinstance(endpoint, bytes) else ''
