# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Converts and sends one frame while the next one is drawn.

Drawing leaves the processor idle here and there (a graphics card or the rasteriser's threads
work), and NumPy and ZeroMQ release Python's lock, so this costs the drawing thread nothing.  Where
drawing and this share one processor, nothing is gained by doing both at once, and both lose what
they have in its caches: there the thread that draws finishes each frame itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
import logging
import math
import os
import queue
import socket
import threading
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.sim.cameras import messages
from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.catalog import listener_of
from urlab_ros_bridge.sim.cameras.jobs import Capture
from urlab_ros_bridge.sim.cameras.jobs import Job
from urlab_ros_bridge.sim.cameras.jobs import JobMemory
from urlab_ros_bridge.sim.cameras.renderer.drawing import RawFrame
from urlab_ros_bridge.transport.publisher import Publisher
from urlab_ros_bridge.transport.publisher import SubscriptionPoller
from urlab_ros_bridge.transport.server_sockets import ServerSockets
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.region import clock_of
from urlab_ros_bridge.wire.camera_frame import BYTES_PER_PIXEL
from urlab_ros_bridge.wire.camera_frame import HEADER_BYTES
from urlab_ros_bridge.wire.camera_frame import pack_header

SEND_QUEUE = 2  # frames per subscriber; one that is slower loses frames
# Bytes that the kernel takes at a time: small blocks stay in the processor's cache (a fifth more
# frames per second than with the default of megabytes).
SEND_BUFFER = 128 * 1024


class FrameSender:
    """
    Sends the frames of one camera; used by one thread.

    :ivar publisher: its socket, which other cameras may share; to be polled for subscriptions.
    """

    def __init__(self, publisher: Publisher, camera: CameraItem) -> None:
        self._camera = camera
        self._bare, self._framed = camera.topics
        self.publisher = publisher
        self._generation = publisher.generation
        self._sends = (False, False)

    @property
    def is_watched(self) -> bool:
        """Return whether one of the topics has subscribers."""
        return any(self._sends)

    def read_subscriptions(self) -> bool:
        """Process subscriptions; return whether there were any on this socket."""
        self.publisher.read_subscriptions()
        if self.publisher.generation == self._generation:
            return False
        self._generation = self.publisher.generation
        is_subscribed = self.publisher.is_subscribed
        self._sends = (
            is_subscribed(self._bare.decode()),
            is_subscribed(self._framed.decode()),
        )
        return True

    def send(self, message: memoryview, frame_id: int, capture: Capture) -> None:
        """
        Send a frame on the topics that are subscribed to; never wait.

        :param message: `HEADER_BYTES` for a header, and the pixels.  It is not copied, so it must
            not change any more.
        """
        camera, (bare, framed) = self._camera, self._sends
        message[:HEADER_BYTES] = pack_header(
            camera.width, camera.height, frame_id, capture.stamp_ns / 1e9, capture.wall
        )
        if bare:
            self.publisher.send_in_place(self._bare, message[HEADER_BYTES:])
        if framed:
            self.publisher.send_in_place(self._framed, message)


def open_senders(
    sockets: ServerSockets, cameras: Sequence[CameraItem], listeners: Sequence[int]
) -> list[FrameSender]:
    """
    Begin to accept subscribers; return a sender for each camera.

    :param listeners: descriptors of the listening sockets that the server holds open, so clients
        find the same ports again when the renderer had to be restarted.  More cameras than these
        share them in turns, as `listener_of` says.
    """
    each = math.ceil(len(cameras) / max(len(listeners), 1))
    publishers = [
        Publisher.adopt(sockets, listener, send_queue=SEND_QUEUE * each, send_buffer=SEND_BUFFER)
        for listener in listeners
    ]
    return [
        FrameSender(publishers[listener_of(camera.index, len(publishers))], camera)
        for camera in cameras
    ]


_BUFFERS = 3
_LOG = logging.getLogger(__name__)


class DrawnFrame(NamedTuple):
    """An image to finish; `last` of its job."""

    raw: RawFrame
    buffer: np.ndarray
    camera: int
    job: Job
    last: bool


class FrameEncoder:
    """
    Owns the sockets of all cameras, with a thread of its own or in the thread that draws.

    :ivar buffers: to draw into; drawing waits until one is free.
    :ivar threaded: frames are finished in a thread of its own; else `submit` finishes them, and
        its caller uses `wait_for_input` too.
    """

    def __init__(
        self,
        memory: JobMemory,
        senders: Sequence[FrameSender],
        regions: Mapping[int, RegionWriter],
        words: int,
        tell: Callable[[bytes, Sequence[int]], None],
        *,
        threaded: bool,
    ) -> None:
        """
        Prepare.

        :param regions: memory that frames of cameras are also written to, while it is read.
        :param words: pixels of the largest camera.
        :param tell: sends a message with file descriptors to the server.
        :param threaded: whether to finish frames in a thread of its own.
        """
        self._memory, self._senders, self._tell = memory, list(senders), tell
        self._regions, self._readers = regions, frozenset[int]()
        self._shown: set[int] = set()
        self._frames = [0] * len(senders)
        self._returned: dict[int, memoryview] = {}
        self._drawn: deque[DrawnFrame] = deque()
        # The buffer that was returned last is still in the processor's cache.
        self.buffers: queue.LifoQueue[np.ndarray] = queue.LifoQueue()
        for _ in range(_BUFFERS if threaded else 1):
            self.buffers.put(np.empty(words, np.uint32))
        self._wake = os.eventfd(0, os.EFD_NONBLOCK)
        self._socket: int | None = None  # once it is polled
        self._poller = SubscriptionPoller()
        self._poller.add(self._wake)
        for publisher in {sender.publisher for sender in self._senders}:
            self._poller.add(publisher)
        self.threaded = threaded

    def start(self) -> None:
        """Begin to report subscriptions to the server; start the thread, if there is one."""
        if self.threaded:
            threading.Thread(target=self._run, name='frame-encoder', daemon=True).start()

    def submit(self, drawn: DrawnFrame) -> None:
        """Finish an image, or queue it for the thread."""
        if not self.threaded:
            self._finish(drawn)
            return
        self._drawn.append(drawn)
        os.eventfd_write(self._wake, 1)

    def set_readers(self, cameras: Iterable[int]) -> None:
        """Set the cameras whose regions have readers; thread-safe."""
        self._readers = frozenset(cameras)
        os.eventfd_write(self._wake, 1)

    def wait_for_input(self, server: socket.socket) -> bool:
        """
        Sleep until there is something to do here, or to receive; not beside a thread.

        :return: whether there is something to receive.
        """
        if self._socket is None:
            self._socket = server.fileno()
            self._poller.add(self._socket)
        ready = self._poller.poll()
        # Usually only a job has arrived.
        if ready != {self._socket}:
            self._turn(ready)
        return self._socket in ready

    def _run(self) -> None:
        """Run forever; an error ends the process, and the server starts another one."""
        try:
            while True:
                self._turn(self._poller.poll())
        except Exception:
            _LOG.exception('the renderer aborted')
            os._exit(1)

    def _turn(self, ready: Container[object]) -> None:
        """
        Process subscriptions and readers, and finish the queued images.

        :param ready: the result of the poller.
        """
        if self._wake in ready:
            with suppress(BlockingIOError):
                os.eventfd_read(self._wake)
        self._report_watched(ready)
        for camera in self._shown - self._readers:
            # The next reader must not mistake the last frame for a new one.
            self._shown.discard(camera)
            self._regions[camera].forget()
        while self._drawn:
            self._finish(self._drawn.popleft())

    def _report_watched(self, ready: Container[object]) -> None:
        changed = {
            index
            for index, sender in enumerate(self._senders)
            if sender.publisher in ready and sender.read_subscriptions()
        }
        if changed:
            watched = [index for index, sender in enumerate(self._senders) if sender.is_watched]
            new = [index for index in watched if index in changed]
            self._tell(messages.pack(messages.WATCHED, {'watched': watched, 'new': new}), [])

    def _finish(self, drawn: DrawnFrame) -> None:
        """Convert a frame into the memory that it is sent from, and send it."""
        camera, job, sender = drawn.camera, drawn.job, self._senders[drawn.camera]
        region = self._regions.get(camera) if job.streamed and camera in self._readers else None
        returned = camera in job.returned
        height, width = drawn.raw.words.shape
        size = height * width * BYTES_PER_PIXEL
        if region is not None and not (returned or sender.is_watched):
            message, pixels = None, region.reserve()[:size]
        else:
            message = np.empty(HEADER_BYTES + size, np.uint8).data
            pixels = message[HEADER_BYTES:]
        drawn.raw.write(pixels)
        self.buffers.put(drawn.buffer)
        self._frames[camera] += 1
        # After a reset while this was drawn, frames of the old timeline must not be sent.
        if job.streamed and int(self._memory.control[JobMemory.TIMELINE]) == (
            job.capture.timeline
        ):
            if message is not None and sender.is_watched:
                sender.send(message, self._frames[camera], job.capture)
            if region is not None:
                self._shown.add(camera)
                if message is not None:
                    region.reserve()[:size] = pixels
                region.commit(size, job.capture.stamp_ns, clock_of(job.capture.wall))
        if returned:
            self._returned[camera] = pixels
        if drawn.last and job.returned:
            self._return(job)

    def _return(self, job: Job) -> None:
        """Send the frames that a job returns to the server."""
        frames, self._returned = self._returned, {}
        fd = messages.to_file(*(frames[camera] for camera in job.returned))
        try:
            self._tell(messages.pack(messages.FRAMES, job.number), [fd])
        finally:
            os.close(fd)
