# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Messages between server and renderer, over a pair of sequenced-packet sockets; the server's end.

A message is one byte of kind and a body: a fixed record for jobs, which are frequent, JSON for the
rest.  Large things (the model, overlays) travel as a file descriptor beside the message.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from collections.abc import Sequence
from concurrent.futures import Future
import json
import math
import os
import select
import socket
import struct
import threading
from typing import Any
from typing import NamedTuple

from urlab_ros_bridge.sim.cameras.frame_memory import Capture
from urlab_ros_bridge.sim.cameras.frame_memory import FrameMemory
from urlab_ros_bridge.sim.cameras.frame_memory import STATE_SLOTS

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


# A renderer that is busy may have one more job waiting: then it waits for no tick.
STREAM_JOBS = 2


class RendererConnection:
    """
    Posts jobs; thread-safe, never waits.

    :ivar memory: shared with the renderer.
    """

    def __init__(self, connection: socket.socket, memory: FrameMemory) -> None:
        self.memory = memory
        self._link = connection
        self._lock = threading.Lock()
        self._posted = 0
        self._replies: dict[int, Future[dict[int, int]]] = {}
        self._closed = False
        # What the queue had no room for, by kind: the newest of each, sent before the next job.
        self._owed: dict[bytes, bytes] = {}

    @property
    def busy(self) -> bool:
        """Return whether streamed frames should wait."""
        return self.waiting >= STREAM_JOBS

    def has_time(self, now: float, period: float) -> bool:
        """
        Return whether a state of now would be drawn soon.

        That is, the renderer is idle, or is expected to be by the next tick, when there is a newer
        state: what is posted earlier only gets old.  A job that takes longer than expected may
        take much longer, so then its end is awaited.

        :param now: s of the monotonic clock.
        :param period: s until the next tick.
        """
        if not self.waiting:
            return True
        control = self.memory.control
        if int(control[FrameMemory.BEGUN]) != self._posted:
            return False  # one waits already, or the renderer has no processor
        return abs(int(control[FrameMemory.EXPECTED]) / 1e9 - now) <= period

    @property
    def waiting(self) -> int:
        """Return how many jobs are not done yet."""
        return self._posted - int(self.memory.control[FrameMemory.DONE])

    def post(self, state: bytes, capture: Capture, cameras: Iterable[int]) -> bool:
        """Queue a state for rendering and streaming; False when too much is queued."""
        with self._lock:
            return self._send(state, capture, cameras, reply=False) is not None

    def ask(
        self, state: bytes, capture: Capture, cameras: Iterable[int]
    ) -> Future[dict[int, int]] | None:
        """
        Queue a state for rendering for a reply: it is not streamed.

        :return: frame slots by camera, empty when the renderer dies first; None when it has
            too much to do already, or is gone.
        """
        future: Future[dict[int, int]] = Future()
        with self._lock:
            number = self._send(state, capture, cameras, reply=True)
            if number is None:
                return None
            self._replies[number] = future
        return future

    def _send(
        self, state: bytes, capture: Capture, cameras: Iterable[int], reply: bool
    ) -> int | None:
        number = self._posted
        done = int(self.memory.control[FrameMemory.DONE])
        if self._closed or number - done >= STATE_SLOTS or not self._send_owed():
            return None
        slot = number % STATE_SLOTS
        self.memory.state(slot)[: len(state)] = state
        job = Job(slot, number, reply, capture, tuple(cameras))
        try:
            self._link.send(pack_job(job), socket.MSG_DONTWAIT)
        except OSError:
            return None
        self._posted = number + 1
        return number

    def tell(self, kind: bytes, content: bytes) -> None:
        """Send a large message before the next job; newer ones of its kind replace it."""
        with self._lock:
            self._owed[kind] = content
            self._send_owed()

    def tell_readers(self, cameras: Iterable[int]) -> None:
        """Tell the renderer whose shared-memory regions are read."""
        self.tell(READERS, json.dumps(sorted(cameras)).encode())

    def _send_owed(self) -> bool:
        """Send what is owed; false when not all of it could be sent, as one never waits here."""
        for kind, content in list(self._owed.items()):
            try:
                self._send_message(kind, content)
            except BlockingIOError:
                return False
            except OSError:
                pass  # it is gone, and the next one is told everything
            del self._owed[kind]
        return True

    def _send_message(self, kind: bytes, content: bytes) -> None:
        if kind == READERS:
            self._link.send(kind + content, socket.MSG_DONTWAIT)
            return
        fd = to_file(content)
        try:
            # `socket.send_fds` leaves the flags out.
            beside = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array('i', [fd]))
            self._link.sendmsg([kind], [beside], socket.MSG_DONTWAIT)
        finally:
            os.close(fd)

    def answered(self, number: int, slots: dict[int, int]) -> None:
        """Handle the renderer's report of a job with `reply`."""
        with self._lock:
            future = self._replies.pop(number, None)
        if future is not None:
            future.set_result(slots)

    def close(self) -> None:
        """Release all waiting threads: the renderer is gone."""
        with self._lock:
            self._closed = True
            waiting, self._replies = list(self._replies.values()), {}
        for future in waiting:
            future.set_result({})


__all__ = ['STREAM_JOBS', 'RendererConnection']
