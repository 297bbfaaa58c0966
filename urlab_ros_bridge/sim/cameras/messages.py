# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Messages between server and renderer, over a pair of sequenced-packet sockets.

A message is one byte of kind and a body: a fixed record for jobs (`jobs.py`), JSON for the others.
Large content (the model, overlays, frames for a reply) is in a file whose descriptor is sent
beside the message.  Frames for subscribers are not sent here: the renderer has the sockets of the
cameras and their regions of shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence
import json
import math
import os
import select
import socket
from typing import Any

# Server to renderer.
LOAD, JOB, ARRAYS, OVERLAYS, READERS = b'L', b'J', b'A', b'O', b'S'
# Renderer to server.
READY, FAILED, WATCHED, FRAMES = b'R', b'F', b'W', b'D'

MAX_MESSAGE = 1 << 16
MAX_FDS = 200  # the kernel takes 253 in one message


def pack(kind: bytes, body: Any = None) -> bytes:
    """Return a message with a JSON body."""
    return kind + json.dumps(body).encode()


def send(connection: socket.socket, message: bytes, fds: Sequence[int] = ()) -> None:
    """
    Send a message, with file descriptors.

    :raises OSError: when the other side has ended, BlockingIOError when its queue is full.
    """
    if fds:
        socket.send_fds(connection, [message], list(fds))
    else:
        connection.send(message)


def receive(connection: socket.socket) -> tuple[bytes, bytes, list[int]] | None:
    """
    Return (kind, body, file descriptors) of the next message, None when the other side has ended.

    :raises BlockingIOError: when there is none yet.
    """
    try:
        message, fds, _, _ = socket.recv_fds(connection, MAX_MESSAGE, MAX_FDS)
    except ConnectionError:
        return None
    return (message[:1], message[1:], fds) if message else None


def to_file(*parts: bytes | memoryview) -> int:
    """Return the descriptor of an anonymous file with this content."""
    fd = os.memfd_create('urlab-cameras-data')
    with os.fdopen(os.dup(fd), 'wb') as file:
        file.writelines(parts)
    return fd


def from_file(fd: int) -> bytes:
    """Return the content of such a file and close it."""
    with os.fdopen(fd, 'rb') as file:
        file.seek(0)
        return file.read()


def wait_readable(
    sockets: Sequence[socket.socket], timeout: float | None = None
) -> list[socket.socket]:
    """
    Return the sockets from which something can be read, or that have ended.

    :param timeout: seconds; None waits forever.
    """
    poller = select.poll()
    for each in sockets:
        poller.register(each, select.POLLIN)
    found = poller.poll(None if timeout is None else math.ceil(timeout * 1000))
    ready = {descriptor for descriptor, _ in found}
    return [each for each in sockets if each.fileno() in ready]
