# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Writing and reading shared-memory regions: one writer, any number of readers, no lock.

A writer fills the slot after the last one, stores its number, then counts the sequence up.  So
the slot of write `s` is touched again by write `s + slots`, which begins when the sequence stands
at `s + slots - 1`.  A copy made after the sequence was read as `s` is whole if the sequence is at
most `s + slots - 2` after it: with two slots, if it has not moved.  (Stock readers allow `slots`
more and can return a torn payload when they are lapped once.)

The order of loads and stores is kept by `make_fence`: x86 keeps it except for streaming stores,
other machines do not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import platform
import threading
import time
from typing import Any
from typing import TypeVar

import numpy as np

from urlab_ros_bridge.scheduling.spin_wait import SpinWait
from urlab_ros_bridge.transport.shm.region import ASLEEP
from urlab_ros_bridge.transport.shm.region import CLOCKS
from urlab_ros_bridge.transport.shm.region import LATEST
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.transport.shm.region import SEQUENCE
from urlab_ros_bridge.transport.shm.region import SLOTS
from urlab_ros_bridge.transport.shm.region import TAGS
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import MalformedRegion

T = TypeVar('T')
_MASK = 2**64 - 1
_ATTEMPTS = 16
# s after which a smaller sequence is accepted.  Peers that write it byte by byte show a smaller
# number for a moment: `struct.pack_into` clears all eight bytes first.
_SEQUENCE_REGRESSION_TIMEOUT = 0.005


def make_fence() -> Callable[[], None]:
    """
    Return a function that is a full memory barrier for loads and stores of this thread.

    Lock operations are the only memory barriers in Python.  On x86 their atomic instruction is a
    full barrier.  Elsewhere `acquire` and `release` let accesses move into the critical section
    from both sides; a release followed by an acquire stays in order, so two rounds are a full
    barrier.
    """
    lock = threading.Lock()
    take, give_back = lock.acquire, lock.release

    def once() -> None:
        take()
        give_back()

    def twice() -> None:
        take()
        give_back()
        take()
        give_back()

    return once if platform.machine().lower() in ('x86_64', 'amd64', 'i686') else twice


class RegionWriter:
    """
    The one writer of a region; one thread at a time.

    It trusts only its own count, so a peer that damages the header does no lasting harm.
    """

    def __init__(self, region: Region) -> None:
        """
        Continue where the last writer of a region stopped.

        :raises MalformedRegion: when the header names a slot that does not exist; the region is
            closed then.
        """
        self.region = region
        self.capacity = region.capacity
        self.sequence = region.longs[SEQUENCE]
        self._latest = region.words[LATEST]
        if self._latest >= region.slots:
            region.close()
            raise MalformedRegion(region.path, f'it names slot {self._latest} of {region.slots}')
        self._fence = make_fence()

    @classmethod
    def create(cls, path: Path, stride: int, slots: int = SLOTS) -> RegionWriter:
        """Create the file and its writer, see `Region.create`."""
        return cls(Region.create(path, stride, slots))

    def reserve(self) -> memoryview:
        """Return the slot to fill, `capacity` bytes; it is not read before `commit`."""
        return self.region.payloads[(self._latest + 1) % self.region.slots]

    def commit(self, size: int, tag: int = 0, clock: int = 0) -> None:
        """
        Publish the first `size` bytes of the slot returned by `reserve`, and wake readers.

        :param tag: 64-bit number sent with the payload, if the region has tags.
        :param clock: 32 bits sent with it, see `region.clock_of`.
        :raises FrameTooLarge: nothing is published.
        """
        if not 0 <= size <= self.capacity:
            raise FrameTooLarge(size, self.capacity)
        region, fence = self.region, self._fence
        slot = (self._latest + 1) % region.slots
        region.sizes[slot][0] = size
        if region.tagged:
            region.longs[TAGS + slot] = tag & _MASK
            region.words[CLOCKS + slot] = clock
        fence()
        region.words[LATEST] = self._latest = slot
        fence()
        region.longs[SEQUENCE] = self.sequence = (self.sequence + 1) & _MASK
        # What is written next must not be seen before this.
        fence()
        if region.tagged and region.words[ASLEEP]:
            region.futex.wake()

    def write(self, payload: bytes | memoryview, tag: int = 0, clock: int = 0) -> None:
        """Copy a payload into the next slot and publish it, see `commit`."""
        size = len(payload)
        if size > self.capacity:
            raise FrameTooLarge(size, self.capacity)
        self.reserve()[:size] = payload
        self.commit(size, tag, clock)

    def forget(self) -> None:
        """Hide the last payload from future readers."""
        self.commit(0)
        if self.region.tagged:
            self.region.words[ASLEEP] = 0

    def close(self, unlink: bool = False) -> None:
        """Unmap; with `unlink` remove the file, by which readers see that the stream has ended."""
        if unlink:
            self.region.path.unlink(missing_ok=True)
            if self.region.fd >= 0:
                self.region.futex.wake()
        self.region.close()


class RegionReader:
    """
    A reader of a region: always the newest payload, each at most once, never torn.

    :ivar sequence: of the last payload read; 0 before the first.
    :ivar tag: of that payload; 0 in a region without tags.
    :ivar clock: of that payload, see `region.time_of`; 0 in a region without tags.
    :ivar torn: copies that were discarded because the writer had lapped them.
    """

    def __init__(self, region: Region) -> None:
        self.region = region
        self.sequence = 0
        self.tag = self.clock = 0
        self.torn = 0
        self._slot = -1
        self._back_since: float | None = None
        # Value that a smaller sequence may still become: its writer was interrupted for long.
        self._unfinished: int | None = None
        self._fence = make_fence()

    @classmethod
    def open(cls, path: Path) -> RegionReader:
        """Map a file for reading, see `Region.open`."""
        return cls(Region.open(path))

    @property
    def pending(self) -> bool:
        """Whether a payload was written since the last one read."""
        return self.region.longs[SEQUENCE] != self.sequence

    def spin_wait(self, seconds: float) -> SpinWait:
        """Return an object that spins for the next write, for `seconds` at most."""
        longs = self.region.longs
        return SpinWait(lambda: longs[SEQUENCE] != self.sequence, seconds, polls=8)

    def skip(self) -> None:
        """Mark the current content as read."""
        self.sequence = self.region.longs[SEQUENCE]
        self._slot = self.region.words[LATEST]

    def sleep(self, timeout: float, alone: bool = False) -> None:
        """
        Sleep until a write or a wake-up, at most `timeout` seconds; the region must be writable.

        It may end early.  If the writer does not wake readers, or without futex, only the timeout
        ends it, see `is_woken`.

        :param alone: no other reader sleeps on this region, so one wake-up is enough.
        """
        region = self.region
        if region.tagged:
            region.words[ASLEEP] = 1
            # The writer counts first and then reads this word; here it is the other way round.
            self._fence()
        region.futex.wait(self.sequence & 0xFFFFFFFF, timeout)
        if alone and region.tagged:
            region.words[ASLEEP] = 0

    @property
    def is_woken(self) -> bool:
        """Whether a write ends `sleep`: the peer has the extension, and there are futexes."""
        return self.region.tagged and self.region.futex.supported

    def read(self) -> bytes | None:
        """
        Return the newest payload, None when there is nothing new.

        Also None when a fast writer laps every attempt; the next call tries again.

        :raises MalformedRegion: when the header makes no sense; that write counts as read.
        """
        return self._read_slot(bytes)

    def read_into(self, buffer: memoryview | bytearray | np.ndarray) -> int | None:
        """
        Copy the newest payload to the beginning of `buffer` and return its size, see `read`.

        :raises FrameTooLarge: when the buffer is too small; that payload counts as read.
        """
        whole: Any = buffer
        target = memoryview(whole).cast('B')

        def copy(payload: memoryview) -> int:
            size = len(payload)
            if size <= len(target):
                target[:size] = payload
            return size

        size = self._read_slot(copy)
        if size is not None and size > len(target):
            raise FrameTooLarge(size, len(target))
        return size

    def close(self) -> None:
        """Unmap."""
        self.region.close()

    def _lapped(self, sequence: int) -> bool:
        """Return whether the slot of a write may have been written to since."""
        region = self.region
        return (region.longs[SEQUENCE] - sequence) & _MASK > region.slots - 2

    def _read_slot(self, copy: Callable[[memoryview], T]) -> T | None:
        region, fence = self.region, self._fence
        longs = region.longs
        for _ in range(_ATTEMPTS):
            sequence = longs[SEQUENCE]
            if sequence == self.sequence:
                return None
            advance = (sequence - self.sequence) & _MASK
            back = advance > _MASK >> 1
            if back and not self._has_regressed():
                return None
            fence()
            slot = region.words[LATEST]
            if slot == self._slot and advance == 1:
                # Two writes in a row never share a slot: either this one was read already, when
                # its slot was named and not yet counted, or the next is just being counted.
                return None
            if slot == self._slot and sequence == self._unfinished:
                # The same write again: by now its number is complete.
                self.sequence, self._unfinished = sequence, None
                return None
            size = region.sizes[slot][0] if slot < region.slots else -1
            sound = 0 <= size <= region.capacity
            result = copy(region.payloads[slot][:size]) if sound and size else None
            tag = clock = 0
            if region.tagged and sound:
                tag, clock = longs[TAGS + slot], region.words[CLOCKS + slot]
            fence()
            if self._lapped(sequence):
                self.torn += 1
                continue
            self._unfinished = (self.sequence + 1) & _MASK if back else None
            self.sequence, self._slot, self.tag, self.clock = sequence, slot, tag, clock
            self._back_since = None
            if not sound:
                raise MalformedRegion(region.path, f'slot {slot} claims {size} bytes')
            return result
        return None

    def _has_regressed(self) -> bool:
        """Return whether the sequence has been smaller than before for long enough."""
        now = time.monotonic()
        if self._back_since is None:
            self._back_since = now
        return now - self._back_since > _SEQUENCE_REGRESSION_TIMEOUT
