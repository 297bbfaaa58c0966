# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Jobs of the renderer, and the memory that it shares with the server.

A job is a message of a fixed layout, because jobs are frequent; its state is in the shared memory.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.sim.cameras.messages import JOB

STATE_SLOTS = 16
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
