# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Between server and renderer: messages, the memory that both share, and the server's end of them.

A message is one byte of kind and a body: a fixed record for jobs, which are frequent, JSON for the
rest.  Large things (the model, overlays, frames for a reply) travel as a file descriptor beside
the message, over a pair of sequenced-packet sockets.

Frames for subscribers do not pass through here: the renderer has the sockets and the regions of
shared memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
from concurrent.futures import Future
import json
import math
import mmap
import os
import select
import socket
import struct
import threading
from typing import Any
from typing import NamedTuple

import numpy as np

# Server to renderer.
LOAD, JOB, ARRAYS, OVERLAYS, READERS = b'L', b'J', b'A', b'O', b'S'
# Renderer to server.
READY, FAILED, WATCHED, FRAMES = b'R', b'F', b'W', b'D'

MAX_MESSAGE = 1 << 16
MAX_FDS = 200  # the kernel takes 253 in one message
STATE_SLOTS = 16
# A renderer that is busy may have one more job waiting: then it waits for no tick.
STREAM_JOBS = 2
_CONTROL_BYTES = 64
_JOB = struct.Struct('<Q?HqqQdQ')


class Capture(NamedTuple):
    """
    When a state was taken.

    :ivar timeline: counts how often time has started over.
    :ivar wall: unix seconds.
    :ivar state_id: number of the state, `WorldClock.frame_id`.
    """

    stamp_ns: int
    step: int
    timeline: int
    wall: float
    state_id: int = 0


class Frame(NamedTuple):
    """The pixels of a camera, in wire format, and the state that they show."""

    pixels: bytes
    capture: Capture


class Job(NamedTuple):
    """
    Render one state for some cameras.

    :ivar number: of the job; its state is in the slot `number` modulo `STATE_SLOTS`.
    :ivar streamed: subscribers get the frames.
    :ivar returned: cameras whose frames the server gets, in a `FRAMES` message.
    """

    number: int
    streamed: bool
    capture: Capture
    cameras: tuple[int, ...]
    returned: tuple[int, ...] = ()


def pack_job(job: Job) -> bytes:
    """Return a job message."""
    numbers = (*job.cameras, *job.returned)
    head = _JOB.pack(job.number, job.streamed, len(job.cameras), *job.capture)
    return JOB + head + struct.pack(f'<{len(numbers)}H', *numbers)


def unpack_job(body: bytes) -> Job:
    """Read the body of a job message."""
    number, streamed, count, *capture = _JOB.unpack_from(body)
    numbers = struct.unpack_from(f'<{(len(body) - _JOB.size) // 2}H', body, _JOB.size)
    return Job(number, streamed, Capture(*capture), numbers[:count], numbers[count:])


class JobMemory:
    """
    The memory that server and renderer share: states one way, progress the other.

    An anonymous file (memfd) that both map: nothing is left behind, whichever dies.

    :ivar control: uint64 (4,): the current timeline (written by the server); written by the
        renderer: how many jobs are done, how many were begun, and when the last one that was begun
        is expected to be done, in ns of the monotonic clock.
    """

    TIMELINE, DONE, BEGUN, EXPECTED = range(4)

    def __init__(self, state_size: int, fd: int | None = None) -> None:
        """
        Map the memory.

        :param state_size: bytes of a state, a multiple of 8.
        :param fd: of memory that was made elsewhere with the same size; None makes a new one.
        """
        self._size = state_size
        size = _CONTROL_BYTES + STATE_SLOTS * state_size
        self.fd = os.memfd_create('urlab-cameras') if fd is None else fd
        if fd is None:
            os.posix_fallocate(self.fd, 0, size)  # a write without memory would end the process
        self._map = mmap.mmap(self.fd, size)
        self._view = memoryview(self._map)
        self.control = np.frombuffer(self._map, np.uint64, 4)

    def close(self) -> None:
        """Close the file; the mapping goes with the last view into it."""
        os.close(self.fd)

    def state(self, job: int) -> memoryview:
        """Return the memory of the state of a job."""
        start = _CONTROL_BYTES + job % STATE_SLOTS * self._size
        return self._view[start : start + self._size]


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

    :raises OSError: when the other side has ended, BlockingIOError when its queue is full.
    """
    if fds:
        socket.send_fds(link, [message], list(fds))
    else:
        link.send(message)


def receive(link: socket.socket) -> tuple[bytes, bytes, list[int]] | None:
    """
    Return (kind, body, file descriptors) of the next message, None when the other side has ended.

    :raises BlockingIOError: when there is none yet.
    """
    try:
        message, fds, _, _ = socket.recv_fds(link, MAX_MESSAGE, MAX_FDS)
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


class RendererConnection:
    """
    Posts jobs; thread-safe, never waits.

    :ivar memory: shared with the renderer.
    :ivar latest: the last frame that was returned of each camera.
    """

    def __init__(
        self, connection: socket.socket, memory: JobMemory, frame_sizes: Sequence[int]
    ) -> None:
        """
        Use a renderer.

        :param frame_sizes: bytes of one frame of each camera.
        """
        self.memory = memory
        self.latest: dict[int, Frame] = {}
        self._frame_sizes = frame_sizes
        self._link = connection
        self._lock = threading.Lock()
        self._posted = 0
        self._returning: dict[int, tuple[Job, Future[dict[int, Frame]]]] = {}
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
        if int(control[JobMemory.BEGUN]) != self._posted:
            return False  # one waits already, or the renderer has no processor
        return abs(int(control[JobMemory.EXPECTED]) / 1e9 - now) <= period

    @property
    def waiting(self) -> int:
        """Return how many jobs are not done yet."""
        return self._posted - int(self.memory.control[JobMemory.DONE])

    def post(
        self,
        state: bytes,
        capture: Capture,
        cameras: Collection[int],
        returned: Collection[int] = (),
    ) -> bool:
        """
        Queue a state for rendering and streaming; False when too much is queued.

        :param returned: cameras whose frames become `latest`.
        """
        return self._send(True, state, capture, cameras, returned) is not None

    def ask(
        self, state: bytes, capture: Capture, cameras: Collection[int]
    ) -> Future[dict[int, Frame]] | None:
        """
        Queue a state for rendering for a reply: it is not streamed.

        :return: frames by camera, empty when the renderer dies first; None when it has too much to
            do already, or has ended.
        """
        return self._send(False, state, capture, cameras, cameras)

    def _send(
        self,
        streamed: bool,
        state: bytes,
        capture: Capture,
        cameras: Collection[int],
        returned: Collection[int],
    ) -> Future[dict[int, Frame]] | None:
        future: Future[dict[int, Frame]] = Future()
        with self._lock:
            number = self._posted
            done = int(self.memory.control[JobMemory.DONE])
            if self._closed or number - done >= STATE_SLOTS or not self._send_owed():
                return None
            self.memory.state(number)[: len(state)] = state
            job = Job(number, streamed, capture, tuple(cameras), tuple(returned))
            try:
                self._link.send(pack_job(job), socket.MSG_DONTWAIT)
            except OSError:
                return None
            self._posted = number + 1
            if returned:
                self._returning[number] = job, future
        return future

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
                pass  # it has ended; the next renderer is sent everything
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

    def take_frames(self, number: int, fd: int) -> None:
        """Read the frames of a job that the renderer returns, and close their file."""
        with self._lock:
            job, future = self._returning.pop(number)
        with os.fdopen(fd, 'rb') as file:
            file.seek(0)
            frames = {
                camera: Frame(file.read(self._frame_sizes[camera]), job.capture)
                for camera in job.returned
            }
        self.latest.update(frames)
        future.set_result(frames)

    def close(self) -> None:
        """Release all waiting threads: the renderer has ended."""
        with self._lock:
            self._closed = True
            waiting, self._returning = list(self._returning.values()), {}
        for _, future in waiting:
            future.set_result({})
