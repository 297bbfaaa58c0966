# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Shared-memory regions read and written byte by byte, apart from the project's own code for them.

Layout (stock plugin): 64 bytes of header, little-endian: u32 magic, u32 version, u32 stride, u32
buffers, u64 sequence at 16, u32 latest index at 24; then `buffers` slots of `stride` bytes, each
u32 size and payload.  A write fills slot (latest + 1) mod buffers, sets latest, then sequence.
"""

from __future__ import annotations

import mmap
from pathlib import Path
import struct
import time

from urlab_ros_bridge.conformance.channels.zmq_raw import NoAnswer
from urlab_ros_bridge.conformance.channels.zmq_raw import REPLY_SECONDS
from urlab_ros_bridge.conformance.verdict import Failed
from urlab_ros_bridge.conformance.verdict import skip

MAGIC = 0x424C5255
HEADER_BYTES = 64
_HEADER = struct.Struct('<IIIIQI')
_POLL = 5e-5  # s


class RawRegion:
    """One region, mapped."""

    def __init__(self, path: Path, writable: bool = False) -> None:
        self.path = path
        with path.open('r+b' if writable else 'rb') as file:
            access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
            self._map = mmap.mmap(file.fileno(), 0, access=access)

    @property
    def header(self) -> tuple[int, int, int, int, int, int]:
        """Return magic, version, stride, buffers, sequence and latest index."""
        if len(self._map) < HEADER_BYTES:
            raise Failed(f'{self.path.name} of at least {HEADER_BYTES} bytes', len(self._map))
        return _HEADER.unpack_from(self._map)

    @property
    def size(self) -> int:
        """Return the bytes of the whole file."""
        return len(self._map)

    def read(self, newer_than: int = -1) -> tuple[int, bytes] | None:
        """Return (sequence, payload) of the latest whole message that is newer."""
        for _ in range(100):
            *_, stride, buffers, before, latest = self.header
            if before == newer_than or before == 0 or not buffers:
                return None
            start = HEADER_BYTES + (latest % buffers) * stride
            (size,) = struct.unpack_from('<I', self._map, start)
            if 0 < size <= stride - 4:
                payload = self._map[start + 4 : start + 4 + size]
                if self.header[4] == before:
                    return before, payload
        return None

    def wait(self, newer_than: int, timeout: float) -> bytes | None:
        """Return the first payload that is newer, None when none comes in time."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            found = self.read(newer_than)
            if found is not None:
                return found[1]
            time.sleep(_POLL)
        return None

    def write(self, payload: bytes) -> None:
        """Write a message as a client does."""
        *_, stride, buffers, sequence, latest = self.header
        if len(payload) > stride - 4:
            raise skip(f'a request of {len(payload)} bytes does not fit {self.path.name}')
        target = (latest + 1) % buffers
        start = HEADER_BYTES + target * stride
        struct.pack_into('<I', self._map, start, len(payload))
        self._map[start + 4 : start + 4 + len(payload)] = payload
        struct.pack_into('<I', self._map, 24, target)
        struct.pack_into('<Q', self._map, 16, sequence + 1)

    def close(self) -> None:
        """Unmap."""
        self._map.close()


class ShmChannel:
    """Requests through req.shm and rep.shm of a session directory."""

    name = 'shm'

    def __init__(self, directory: Path) -> None:
        self._requests = RawRegion(directory / 'req.shm', writable=True)
        self._replies = RawRegion(directory / 'rep.shm')

    def exchange(self, frame: bytes, timeout: float = REPLY_SECONDS) -> bytes:
        """
        Write one request and return the reply.

        :raises NoAnswer: when none comes in time.
        """
        before = self._replies.header[4]
        self._requests.write(frame)
        reply = self._replies.wait(before, timeout)
        if reply is None:
            raise NoAnswer(timeout, str(self._replies.path))
        return reply

    def close(self) -> None:
        """Unmap both regions."""
        self._requests.close()
        self._replies.close()
