# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The memory that server and renderer share: states one way, frames the other.

An anonymous file (memfd) that both map: nothing is left behind, whichever dies.  One writer for
each part.  States wait in a ring; messages between the two name the slots.  Each camera
has a few frame slots with a sequence number that is odd while the renderer writes.
"""

from __future__ import annotations

from collections.abc import Container
from collections.abc import Sequence
import mmap
import os
import struct
from typing import NamedTuple

import numpy as np

STATE_SLOTS = 16
# One is the latest, one is written, the others may be on their way to slow subscribers.  Memory
# that is never touched costs nothing.
FRAME_SLOTS = 8
HEADER_BYTES = 40  # of UCM1, version 2
_PAGE = 128
_CONTROL = 64
_WORD = 8
_HEAD = np.dtype(
    [
        ('sequence', '<u8'),
        ('frame_id', '<u8'),
        ('stamp_ns', '<i8'),
        ('step', '<i8'),
        ('timeline', '<u8'),
        ('wall', '<f8'),
        ('state_id', '<u8'),
    ]
)
# What follows the sequence number.
_CONTENT = struct.Struct('<QqqQdQ')


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


class StoredFrame(NamedTuple):
    """A copy of a finished frame: pixels, its running number, and the state it shows."""

    pixels: bytes
    frame_id: int
    capture: Capture


def _aligned(size: int) -> int:
    return -(-size // _PAGE) * _PAGE


class FrameMemory:
    """
    The mapped memory of one renderer process.

    :ivar control: uint64 (4,): the current timeline (written by the server); written by the
        renderer: how many jobs are done, how many were begun, and when the last one that was begun
        is expected to be done, in ns of the monotonic clock.
    """

    TIMELINE, DONE, BEGUN, EXPECTED = range(4)

    def __init__(self, state_size: int, frame_sizes: Sequence[int], fd: int | None = None) -> None:
        """
        Map the memory.

        :param frame_sizes: bytes of one frame of each camera.
        :param fd: of memory that was made elsewhere with the same sizes; None makes new one.
        """
        self._state_stride = _aligned(state_size)
        self._state_size = state_size
        self._frame_sizes = list(frame_sizes)
        self._frames = []
        self._starts: list[list[int]] = []  # of the heads of slots
        size = _CONTROL + STATE_SLOTS * self._state_stride
        for frame in frame_sizes:
            self._frames.append(size)
            stride = _PAGE + _aligned(frame)
            self._starts.append([size + _PAGE + slot * stride for slot in range(FRAME_SLOTS)])
            size += _PAGE + FRAME_SLOTS * stride
        self.fd = os.memfd_create('urlab-cameras') if fd is None else fd
        if fd is None:
            os.ftruncate(self.fd, size)
        self._map = mmap.mmap(self.fd, size)
        self._view = memoryview(self._map)
        # NumPy takes ten times as long for one word.
        self._words = self._view.cast('Q')
        self.control = np.frombuffer(self._map, np.uint64, 4)

    def close(self) -> None:
        """Give the file back; the mapping goes with the last view into it."""
        os.close(self.fd)

    def state(self, slot: int) -> memoryview:
        """Return the memory of a state slot."""
        start = _CONTROL + slot * self._state_stride
        return self._view[start : start + self._state_size]

    def begin(self, camera: int, taken: Container[int] = ()) -> int:
        """
        Choose a slot for the next frame of a camera; its content counts as broken from now on.

        :param taken: slots that must stay as they are; at least two are to be left.
        """
        latest = self._words[self._frames[camera] // _WORD] - 1
        slot = next(slot for slot in range(FRAME_SLOTS) if slot != latest and slot not in taken)
        sequence = self._starts[camera][slot] // _WORD
        if self._words[sequence] % 2 == 0:  # still odd after a frame that broke off
            self._words[sequence] += 1
        return slot

    def pixels(self, camera: int, slot: int) -> memoryview:
        """Return the pixels of a frame."""
        start = self._starts[camera][slot] + _PAGE
        return self._view[start : start + self._frame_sizes[camera]]

    def framed(self, camera: int, slot: int) -> memoryview:
        """Return `HEADER_BYTES` for a header and the pixels behind it, in one piece."""
        start = self._starts[camera][slot] + _PAGE
        return self._view[start - HEADER_BYTES : start + self._frame_sizes[camera]]

    def commit(self, camera: int, slot: int, frame_id: int, capture: Capture) -> None:
        """Make the frame in a slot the latest one."""
        start = self._starts[camera][slot]
        _CONTENT.pack_into(self._view, start + _WORD, frame_id, *capture)
        self._words[start // _WORD] += 1
        self._words[self._frames[camera] // _WORD] = slot + 1

    def latest(self, camera: int) -> Capture | None:
        """Return what the latest frame of a camera shows, None before the first."""
        slot = int(self._latest(camera)[0])
        if not slot:
            return None
        return _capture(self._head(camera, slot - 1))

    def read(self, camera: int, slot: int | None = None) -> StoredFrame | None:
        """
        Copy a frame out.

        :param slot: None = the latest one.
        :return: None when there is none, or when it has been overwritten.
        """
        for _ in range(3):
            number = int(self._latest(camera)[0]) - 1 if slot is None else slot
            if number < 0:
                return None
            head = self._head(camera, number)
            before = int(head['sequence'][0])
            pixels = bytes(self.pixels(camera, number))
            frame = StoredFrame(pixels, int(head['frame_id'][0]), _capture(head))
            if before % 2 == 0 and int(head['sequence'][0]) == before:
                return frame
        return None

    def _latest(self, camera: int) -> np.ndarray:
        return np.frombuffer(self._map, np.uint64, 1, self._frames[camera])

    def _head(self, camera: int, slot: int) -> np.ndarray:
        return np.frombuffer(self._map, _HEAD, 1, self._starts[camera][slot])


def _capture(head: np.ndarray) -> Capture:
    return Capture(
        int(head['stamp_ns'][0]),
        int(head['step'][0]),
        int(head['timeline'][0]),
        float(head['wall'][0]),
        int(head['state_id'][0]),
    )


__all__ = ['FRAME_SLOTS', 'HEADER_BYTES', 'STATE_SLOTS', 'Capture', 'FrameMemory', 'StoredFrame']
