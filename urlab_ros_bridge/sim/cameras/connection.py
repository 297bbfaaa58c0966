# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The server's end of the connection to the renderer: jobs, messages, returned frames."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
from concurrent.futures import Future
import json
import os
import socket
import threading

from urlab_ros_bridge.sim.cameras.jobs import Capture
from urlab_ros_bridge.sim.cameras.jobs import Frame
from urlab_ros_bridge.sim.cameras.jobs import Job
from urlab_ros_bridge.sim.cameras.jobs import JobMemory
from urlab_ros_bridge.sim.cameras.jobs import pack_job
from urlab_ros_bridge.sim.cameras.jobs import STATE_SLOTS
from urlab_ros_bridge.sim.cameras.messages import READERS
from urlab_ros_bridge.sim.cameras.messages import to_file

# A busy renderer may have one more job queued, so that it never idles until the next tick.
STREAM_JOBS = 2


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
        self._socket = connection
        self._lock = threading.Lock()
        self._posted = 0
        self._returning: dict[int, tuple[Job, Future[dict[int, Frame]]]] = {}
        self._closed = False
        # Messages that found the queue full: the newest of each kind, sent before the next job.
        self._unsent: dict[bytes, bytes] = {}

    @property
    def busy(self) -> bool:
        """Return whether streamed frames should wait."""
        return self.waiting >= STREAM_JOBS

    def has_time(self, now: float, period: float) -> bool:
        """
        Return whether a state posted now would be drawn soon.

        That is, the renderer is idle, or is expected to be by the next tick, when there is a newer
        state: one that is posted earlier only grows old in the queue.  A job that takes longer
        than expected may take much longer, so its end is awaited.

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
        *,
        streamed: bool = True,
    ) -> Future[dict[int, Frame]] | None:
        """
        Queue a state for rendering.

        :param returned: of these cameras the frames also come back, and become `latest`.
        :param streamed: whether viewers get the frames.
        :return: the frames that come back, by camera, none of them when the renderer dies first;
            None when too much is queued, or the renderer has ended.
        """
        future: Future[dict[int, Frame]] = Future()
        with self._lock:
            number = self._posted
            done = int(self.memory.control[JobMemory.DONE])
            if self._closed or number - done >= STATE_SLOTS or not self._send_unsent():
                return None
            self.memory.state(number)[: len(state)] = state
            drawn = sorted(cameras)
            back = tuple(camera for camera in drawn if camera in returned)
            job = Job(number, streamed, capture, tuple(drawn), back)
            try:
                self._socket.send(pack_job(job), socket.MSG_DONTWAIT)
            except OSError:
                return None
            self._posted = number + 1
            if back:
                self._returning[number] = job, future
        return future

    def tell(self, kind: bytes, content: bytes) -> None:
        """Send a large message before the next job; newer ones of its kind replace it."""
        with self._lock:
            self._unsent[kind] = content
            self._send_unsent()

    def tell_readers(self, cameras: Iterable[int]) -> None:
        """Tell the renderer whose shared-memory regions are read."""
        self.tell(READERS, json.dumps(sorted(cameras)).encode())

    def _send_unsent(self) -> bool:
        """Send the unsent messages; False if the queue is full: nothing here waits."""
        for kind, content in list(self._unsent.items()):
            try:
                self._send_message(kind, content)
            except BlockingIOError:
                return False
            except OSError:
                pass  # it has ended; the next renderer is sent everything
            del self._unsent[kind]
        return True

    def _send_message(self, kind: bytes, content: bytes) -> None:
        if kind == READERS:
            self._socket.send(kind + content, socket.MSG_DONTWAIT)
            return
        fd = to_file(content)
        try:
            # `socket.send_fds` leaves the flags out.
            beside = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array('i', [fd]))
            self._socket.sendmsg([kind], [beside], socket.MSG_DONTWAIT)
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
