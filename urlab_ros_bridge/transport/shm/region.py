# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A shared-memory region: a file of two (or more) slots; `access` writes and reads it.

Layout, little-endian, as the stock plugin has it::

    0  u32 magic "URLB"     16  u64 sequence: finished writes      64          slot 0
    4  u32 version          24  u32 slot written last              64 + stride slot 1
    8  u32 stride           28  u32 extension (0 in stock files)   slot = u32 size, payload
   12  u32 slots

With the extension, u64 tags of slots 0 and 1 follow at 32; at 48 a u32 that a reader sets before
it goes to sleep on the low half of the sequence (futex): then the writer rings; at 56 the u32
clocks of slots 0 and 1, the low half of microseconds of Unix time, 0 for no time.

Words are read and written as one machine word each, by memoryviews cast to 32 and 64 bits; the
`struct` module would write a little-endian word byte by byte.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from pathlib import Path
import signal
import stat
import sys
import time

import numpy as np

from urlab_ros_bridge.transport.shm.futex import Futex
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable

MAGIC = 0x424C5255
VERSION = 1
EXTENSION = 1
HEADER_BYTES = 64
SIZE_BYTES = 4
SLOTS = 2
MAX_SLOTS = 64
MAX_TAGS = 2
REQUEST_STRIDE = 1 << 20
REPLY_STRIDE = (
    16 << 20
)  # as the newest stock servers have it; what is never written takes no memory
STATE_STRIDE = 16384
# Indices of words of the header: 32-bit ones, then 64-bit ones.
LATEST, _EXTENSION, ASLEEP, CLOCKS = 6, 7, 12, 14
SEQUENCE, TAGS = 2, 4
_OPEN_ATTEMPTS = 10


class Region:
    """
    A mapped file; `RegionWriter` and `RegionReader` work on it.

    Stride and slots are read once, when it is opened: a peer that damages the header cannot move
    this side's accesses out of the file.

    :ivar capacity: bytes that a payload may have.
    :ivar name: of the file, without its folder.
    :ivar filled: bytes of each payload whose memory this side has reserved.
    :ivar tagged: the extension is in use: slots have tags, and the writer wakes readers.
    """

    def __init__(self, path: Path, fd: int, stride: int, slots: int, writable: bool) -> None:
        """Map an open file; the descriptor belongs to the region from now on."""
        if sys.byteorder != 'little':
            os.close(fd)
            raise RegionUnavailable(path, 'shared memory needs a little-endian machine')
        self.path = path
        self.name = path.name
        self.fd = fd
        self.stride = stride
        self.slots = slots
        self.capacity = stride - SIZE_BYTES
        self.bytes = HEADER_BYTES + slots * stride
        self.filled = 0
        access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
        try:
            self._map = mmap.mmap(fd, self.bytes, access=access)
        except (OSError, ValueError) as error:
            os.close(fd)
            raise RegionUnavailable(path, str(error)) from error
        whole = memoryview(self._map)
        header = whole[:HEADER_BYTES]
        self.words, self.longs = header.cast('I'), header.cast('Q')
        starts = [HEADER_BYTES + slot * stride for slot in range(slots)]
        self.sizes = [whole[start : start + SIZE_BYTES].cast('I') for start in starts]
        self.payloads = [whole[start + SIZE_BYTES : start + stride] for start in starts]
        self._views = [whole, header, self.words, self.longs, *self.sizes, *self.payloads]
        self.tagged = self.words[_EXTENSION] == EXTENSION and slots <= MAX_TAGS
        # The low half of the sequence; a read-only mapping has an address through numpy only.
        self.futex = Futex(np.frombuffer(self._map, np.uint8, 1).ctypes.data + 8 * SEQUENCE)

    @classmethod
    def create(
        cls, path: Path, stride: int, slots: int = SLOTS, reserve: int | None = None
    ) -> Region:
        """
        Create a region of zeros that appears under its name when it is complete.

        A file of that name is replaced, never truncated: a reader that has it mapped would be
        killed.  The memory is reserved, because a write to memory that the system does not have
        would kill this process (SIGBUS).

        :param reserve: bytes of each payload to reserve now, None for all of them; `fill` reserves
            more.
        :raises RegionUnavailable: when there is no room, or the folder cannot be written.
        """
        new = path.with_name(f'.{path.name}.new')
        try:
            new.unlink(missing_ok=True)
            fd = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise RegionUnavailable(path, str(error.strerror)) from error
        try:
            os.posix_fallocate(fd, 0, HEADER_BYTES)
            os.ftruncate(fd, HEADER_BYTES + slots * stride)
        except OSError as error:
            os.close(fd)
            new.unlink(missing_ok=True)
            raise RegionUnavailable(path, str(error.strerror)) from error
        region = cls(path, fd, stride, slots, writable=True)
        try:
            region.fill(reserve)
        except RegionUnavailable:
            region.close()
            new.unlink(missing_ok=True)
            raise
        region.tagged = slots <= MAX_TAGS
        region.repair()
        os.replace(new, path)
        return region

    @classmethod
    def open(cls, path: Path, writable: bool = False) -> Region:
        """
        Map a region that another process made.

        :raises RegionUnavailable: when it cannot be opened.
        :raises MalformedRegion: when it is no region, or shorter than its header states.
        """
        # Without O_NONBLOCK, opening a pipe of that name would wait forever.
        flags = os.O_CLOEXEC | os.O_NONBLOCK | (os.O_RDWR if writable else os.O_RDONLY)
        fd = _open_existing(path, flags)
        try:
            stride, slots = _check_header(path, fd)
        except Exception:
            os.close(fd)
            raise
        return cls(path, fd, stride, slots, writable)

    @classmethod
    def adopt(cls, path: Path, fd: int) -> Region:
        """
        Map a region whose descriptor another process has handed over, see `open`.

        Unlike `open`, this does not count as sharing it.
        """
        try:
            stride, slots = _check_header(path, fd)
        except Exception:
            os.close(fd)
            raise
        return cls(path, fd, stride, slots, writable=True)

    def fill(self, size: int | None = None) -> None:
        """
        Reserve memory, so that writing to it cannot fail.

        :param size: bytes of each payload; None, or more than the capacity, for all of them.
        :raises RegionUnavailable: when there is no room.
        """
        size = self.capacity if size is None else min(size, self.capacity)
        try:
            for slot in range(self.slots):
                start = HEADER_BYTES + slot * self.stride
                os.posix_fallocate(self.fd, start, SIZE_BYTES + size)
        except OSError as error:
            raise RegionUnavailable(self.path, str(error.strerror)) from error
        self.filled = size

    @property
    def reserved(self) -> bool:
        """Return whether the file system has all memory of the region."""
        return os.fstat(self.fd).st_blocks * 512 >= self.bytes

    def repair(self) -> None:
        """Restore a header that a peer may have damaged."""
        self.words[0], self.words[1] = MAGIC, VERSION
        self.words[2], self.words[3] = self.stride, self.slots
        self.words[_EXTENSION] = EXTENSION if self.tagged else 0
        if self.words[LATEST] >= self.slots:
            self.words[LATEST] = 0

    def stale(self) -> bool:
        """Return whether the file was removed, replaced or truncated: its writer has ended."""
        status = os.fstat(self.fd)
        return status.st_nlink == 0 or status.st_size < self.bytes

    def shared(self) -> bool:
        """
        Return whether another process has the file open or mapped; only its owner may call this.

        The kernel grants a write lease only to the sole opener of a file.  It is returned at once;
        a harmless signal would report an opening in between.
        """
        if self.fd < 0:
            return False
        try:
            fcntl.fcntl(self.fd, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(self.fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            fcntl.fcntl(self.fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except (OSError, AttributeError, ValueError):  # it is, or leases are unknown here
            return True
        return False

    def close(self) -> None:
        """Unmap; a view that is still referenced keeps the memory until it goes."""
        # Cleared first, so that two threads cannot close it twice: by then the number may be that
        # of another file.
        fd, self.fd = self.fd, -1
        if fd < 0:
            return
        os.close(fd)
        try:
            while self._views:
                self._views.pop().release()
            self._map.close()
        except BufferError:
            pass


def clock_of(seconds: float) -> int:
    """Return Unix time as the 32 bits sent with a payload; never 0."""
    return int(seconds * 1e6) & 0xFFFFFFFF or 1


def time_of(clock: int, now: float) -> float | None:
    """
    Return the Unix time of a clock, None for 0.

    :param now: less than 71 minutes later.

    >>> time_of(clock_of(1e9 + 0.25), 1e9 + 100)
    1000000000.25
    """
    microseconds = int(now * 1e6)
    return (microseconds - ((microseconds - clock) & 0xFFFFFFFF)) / 1e6 if clock else None


def _open_existing(path: Path, flags: int) -> int:
    """Open a file, again if its owner is just checking it (`shared`)."""
    for attempt in range(_OPEN_ATTEMPTS):
        try:
            return os.open(path, flags)
        except BlockingIOError:
            time.sleep(0.001 * attempt)
        except OSError as error:
            raise RegionUnavailable(path, str(error.strerror)) from error
    raise RegionUnavailable(path, 'its owner has locked it')


def _check_header(path: Path, fd: int) -> tuple[int, int]:
    """Return stride and slots of an open file."""
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        raise MalformedRegion(path, 'it is not a regular file')
    header = os.pread(fd, HEADER_BYTES, 0)
    if len(header) < HEADER_BYTES:
        raise MalformedRegion(path, f'it has {len(header)} bytes, a header has {HEADER_BYTES}')
    magic, version, stride, slots = np.frombuffer(header, '<u4', 4).tolist()
    if magic != MAGIC:
        raise MalformedRegion(path, f'its magic is {magic:#010x}, expected {MAGIC:#010x}')
    if version != VERSION:
        raise MalformedRegion(path, f'its version is {version}, expected {VERSION}')
    if stride <= SIZE_BYTES or not 2 <= slots <= MAX_SLOTS:
        raise MalformedRegion(path, f'it has {slots} slots of {stride} bytes')
    if status.st_size < HEADER_BYTES + slots * stride:
        raise MalformedRegion(
            path, f'it has {status.st_size} bytes, {slots} slots of {stride} bytes need more'
        )
    return stride, slots
