# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The second half of a frame: convert, store, send, while the first half of the next one is drawn.

Drawing leaves the processor idle here and there (a card or the rasteriser's threads work), and
NumPy and ZeroMQ let go of Python's lock, so this costs the drawing thread nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
import logging
import os
import queue
import threading
from typing import NamedTuple

import numpy as np
import zmq

from urlab_ros_bridge.sim.cameras.link import messages as link
from urlab_ros_bridge.sim.cameras.link.frame_memory import FrameMemory
from urlab_ros_bridge.sim.cameras.renderer.drawing import RawFrame
from urlab_ros_bridge.sim.cameras.renderer.publisher import CameraPublisher
from urlab_ros_bridge.wire.shm import RegionWriter
from urlab_ros_bridge.wire.shm.region import clock_of

_BUFFERS = 3
_LOG = logging.getLogger(__name__)


class DrawnFrame(NamedTuple):
    """A picture to finish; `last` of its job."""

    raw: RawFrame
    buffer: np.ndarray
    camera: int
    job: link.Job
    last: bool


class FrameEncoder(threading.Thread):
    """
    Owns the sockets of all cameras.

    :ivar buffers: for drawing into; waiting for one holds the drawing back.
    """

    def __init__(
        self,
        memory: FrameMemory,
        publishers: Sequence[CameraPublisher],
        regions: Mapping[int, RegionWriter],
        words: int,
        tell: Callable[[bytes], None],
    ) -> None:
        """
        Prepare the thread.

        :param regions: where frames of cameras go besides, while they are read.
        :param words: pixels of the largest camera.
        :param tell: sends a message to the server.
        """
        super().__init__(name='frame-encoder', daemon=True)
        self._memory, self._publishers, self._tell = memory, list(publishers), tell
        self._regions, self._readers = regions, frozenset[int]()
        self._shown: set[int] = set()
        self._frames = [0] * len(publishers)
        self._slots: dict[str, int] = {}
        self._drawn: deque[DrawnFrame] = deque()
        # The last one given back is still in the processor's cache.
        self.buffers: queue.LifoQueue[np.ndarray] = queue.LifoQueue()
        for _ in range(_BUFFERS):
            self.buffers.put(np.empty(words, np.uint32))
        self._wake = os.eventfd(0, os.EFD_NONBLOCK)
        self._poller = zmq.Poller()
        self._poller.register(self._wake, zmq.POLLIN)
        for publisher in self._publishers:
            self._poller.register(publisher.socket, zmq.POLLIN)

    def submit(self, drawn: DrawnFrame) -> None:
        """Hand a picture over."""
        self._drawn.append(drawn)
        os.eventfd_write(self._wake, 1)

    def set_readers(self, cameras: Iterable[int]) -> None:
        """Note which cameras' regions have readers; thread-safe."""
        self._readers = frozenset(cameras)
        os.eventfd_write(self._wake, 1)

    def run(self) -> None:
        """Run forever; an error ends the process, and the server starts another one."""
        try:
            while True:
                self._poller.poll()
                self._turn()
        except Exception:
            _LOG.exception('the renderer aborted')
            os._exit(1)

    def _turn(self) -> None:
        with suppress(BlockingIOError):
            os.eventfd_read(self._wake)
        self._report_watched()
        for camera in self._shown - self._readers:
            # The next reader must not take the last frame for a new one.
            self._shown.discard(camera)
            self._regions[camera].forget()
        while self._drawn:
            self._finish(self._drawn.popleft())

    def _report_watched(self) -> None:
        changed = [publisher.read() for publisher in self._publishers]
        if any(changed):
            watched = [
                index for index, publisher in enumerate(self._publishers) if publisher.watched
            ]
            new = [index for index in watched if changed[index]]
            self._tell(link.pack(link.WATCHED, {'watched': watched, 'new': new}))

    def _finish(self, drawn: DrawnFrame) -> None:
        memory, camera, job = self._memory, drawn.camera, drawn.job
        publisher = self._publishers[camera]
        slot = memory.begin(camera, publisher.on_the_way)
        drawn.raw.write(memory.pixels(camera, slot))
        self.buffers.put(drawn.buffer)
        self._frames[camera] += 1
        memory.commit(camera, slot, self._frames[camera], job.capture)
        if job.reply:
            self._slots[str(camera)] = slot
            if drawn.last:
                slots, self._slots = self._slots, {}
                self._tell(link.pack(link.DONE, {'number': job.number, 'slots': slots}))
        # A reset while this was drawn: the old timeline must not be shown any more.
        elif int(memory.control[memory.TIMELINE]) == job.capture.timeline:
            publisher.send(memory, slot, self._frames[camera], job.capture)
            if camera in self._readers and camera in self._regions:
                self._shown.add(camera)
                stamp_ns, wall = job.capture.stamp_ns, clock_of(job.capture.wall)
                self._regions[camera].write(memory.pixels(camera, slot), stamp_ns, wall)


__all__ = ['DrawnFrame', 'FrameEncoder']
