# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Converts, stores and sends one frame while the next one is drawn.

Drawing leaves the processor idle here and there (a card or the rasteriser's threads work), and
NumPy and ZeroMQ let go of Python's lock, so this costs the drawing thread nothing.  Where drawing
and this share one processor, nothing is gained by doing both at once, and both lose what they have
in its caches: there the thread that draws finishes each frame itself.
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
import os
import queue
import socket
import threading
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.sim.cameras.link import messages as link
from urlab_ros_bridge.sim.cameras.link.frame_memory import FrameMemory
from urlab_ros_bridge.sim.cameras.renderer.drawing import RawFrame
from urlab_ros_bridge.sim.cameras.renderer.frame_sender import FrameSender
from urlab_ros_bridge.transport.publisher import SubscriptionPoller
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.region import clock_of

_BUFFERS = 3
_LOG = logging.getLogger(__name__)


class DrawnFrame(NamedTuple):
    """A picture to finish; `last` of its job."""

    raw: RawFrame
    buffer: np.ndarray
    camera: int
    job: link.Job
    last: bool


class FrameEncoder:
    """
    Owns the sockets of all cameras, with a thread of its own or in the thread that draws.

    :ivar buffers: for drawing into; waiting for one holds the drawing back.
    :ivar threaded: frames are finished in a thread of its own; else `submit` finishes them, and
        its caller uses `attend` too.
    """

    def __init__(
        self,
        memory: FrameMemory,
        senders: Sequence[FrameSender],
        regions: Mapping[int, RegionWriter],
        words: int,
        tell: Callable[[bytes], None],
        *,
        threaded: bool,
    ) -> None:
        """
        Prepare.

        :param regions: where frames of cameras go besides, while they are read.
        :param words: pixels of the largest camera.
        :param tell: sends a message to the server.
        :param threaded: whether to finish frames in a thread of its own.
        """
        self._memory, self._senders, self._tell = memory, list(senders), tell
        self._regions, self._readers = regions, frozenset[int]()
        self._shown: set[int] = set()
        self._frames = [0] * len(senders)
        self._slots: dict[str, int] = {}
        self._drawn: deque[DrawnFrame] = deque()
        # The last one given back is still in the processor's cache.
        self.buffers: queue.LifoQueue[np.ndarray] = queue.LifoQueue()
        for _ in range(_BUFFERS if threaded else 1):
            self.buffers.put(np.empty(words, np.uint32))
        self._wake = os.eventfd(0, os.EFD_NONBLOCK)
        self._link: int | None = None  # once it is polled
        self._poller = SubscriptionPoller()
        self._poller.add(self._wake)
        for publisher in {sender.publisher for sender in self._senders}:
            self._poller.add(publisher)
        self.threaded = threaded

    def start(self) -> None:
        """Begin to tell the server who is watching; starts the thread, if there is to be one."""
        if self.threaded:
            threading.Thread(target=self._run, name='frame-encoder', daemon=True).start()

    def submit(self, drawn: DrawnFrame) -> None:
        """Hand a picture over."""
        if not self.threaded:
            self._finish(drawn)
            return
        self._drawn.append(drawn)
        os.eventfd_write(self._wake, 1)

    def set_readers(self, cameras: Iterable[int]) -> None:
        """Note which cameras' regions have readers; thread-safe."""
        self._readers = frozenset(cameras)
        os.eventfd_write(self._wake, 1)

    def attend(self, link_socket: socket.socket) -> bool:
        """
        Sleep until there is something to do here, or to receive; not beside a thread.

        :return: whether there is something to receive.
        """
        if self._link is None:
            self._link = link_socket.fileno()
            self._poller.add(self._link)
        ready = self._poller.poll()
        # Mostly it is a job, and nothing else.
        if ready != {self._link}:
            self._turn(ready)
        return self._link in ready

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
        Take in subscriptions and readers, and finish what was handed over.

        :param ready: what the poller has found.
        """
        if self._wake in ready:
            with suppress(BlockingIOError):
                os.eventfd_read(self._wake)
        self._report_watched(ready)
        for camera in self._shown - self._readers:
            # The next reader must not take the last frame for a new one.
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
            self._tell(link.pack(link.WATCHED, {'watched': watched, 'new': new}))

    def _finish(self, drawn: DrawnFrame) -> None:
        memory, camera, job = self._memory, drawn.camera, drawn.job
        sender = self._senders[camera]
        slot = memory.begin(camera, sender.slots_in_flight)
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
            sender.send(memory, slot, self._frames[camera], job.capture)
            if camera in self._readers and camera in self._regions:
                self._shown.add(camera)
                stamp_ns, wall = job.capture.stamp_ns, clock_of(job.capture.wall)
                self._regions[camera].write(memory.pixels(camera, slot), stamp_ns, wall)


__all__ = ['DrawnFrame', 'FrameEncoder']
