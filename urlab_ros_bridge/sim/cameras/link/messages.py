# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The messages between server and renderer, over a pair of sequenced-packet sockets.

A message is one byte of kind and a body: a fixed record for jobs, which are frequent, JSON for the
rest.  Large things (the model, overlays) travel as a file descriptor beside the message.
"""

from __future__ import annotations

from collections.abc import Sequence
import json
import math
import os
import select
import socket
import struct
from typing import Any
from typing import NamedTuple

from urlab_ros_bridge.sim.cameras.link.frame_memory import Capture

# Server to renderer.
LOAD, JOB, ARRAYS, OVERLAYS, READERS = b'L', b'J', b'A', b'O', b'S'
# Renderer to server.
READY, FAILED, WATCHED, DONE = b'R', b'F', b'W', b'D'

MAX_MESSAGE = 1 << 16
MAX_FDS = 200  # the kernel takes 253 in one message
_JOB = struct.Struct('<IQ?qqQdQ')


class Job(NamedTuple):
    """
    Render one state for some cameras.

    :ivar slot: where the state is in the shared memory.
    :ivar number: of the job.
    :ivar reply: answer with a `DONE` message instead of streaming the frames.
    """

    slot: int
    number: int
    reply: bool
    capture: Capture
    cameras: tuple[int, ...]


def pack_job(job: Job) -> bytes:
    """Return a job message."""
    count = len(job.cameras)
    head = _JOB.pack(job.slot, job.number, job.reply, *job.capture)
    return JOB + head + struct.pack(f'<{count}H', *job.cameras)


def unpack_job(body: bytes) -> Job:
    """Read the body of a job message."""
    slot, number, reply, *capture = _JOB.unpack_from(body)
    count = (len(body) - _JOB.size) // 2
    cameras = struct.unpack_from(f'<{count}H', body, _JOB.size)
    return Job(slot, number, reply, Capture(*capture), cameras)


def port_of(camera: int, ports: int) -> int:
    """
    Return which of the listening sockets serves a camera.

    >>> [port_of(camera, 2) for camera in range(5)]
    [0, 1, 0, 1, 0]
    """
    return camera % ports


def pack(kind: bytes, body: Any = None) -> bytes:
    """Return a message with a JSON body."""
    return kind + json.dumps(body).encode()


def send(link: socket.socket, message: bytes, fds: Sequence[int] = ()) -> None:
    """
    Send a message, with file descriptors.

    :raises OSError: when the other side is gone, BlockingIOError when its queue is full.
    """
    if fds:
        socket.send_fds(link, [message], list(fds))
    else:
        link.send(message)


def receive(link: socket.socket) -> tuple[bytes, bytes, list[int]] | None:
    """
    Return (kind, body, file descriptors) of the next message, None when the other side is gone.

    :raises BlockingIOError: when there is none yet.
    """
    try:
        message, fds, _, _ = socket.recv_fds(link, MAX_MESSAGE, MAX_FDS)
    except ConnectionError:
        return None
    return (message[:1], message[1:], fds) if message else None


def to_file(content: bytes) -> int:
    """Return the descriptor of an anonymous file with this content."""
    fd = os.memfd_create('urlab-cameras-data')
    with os.fdopen(os.dup(fd), 'wb') as file:
        file.write(content)
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
