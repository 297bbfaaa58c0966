# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a stock Python client does with the files of shm_session_dir, and nothing that it does not.

It opens existing files, maps them, packs its words with `struct` and polls; no doorbell, no tags.
"""

import mmap
from pathlib import Path
import struct
import time

from urlab_ros_bridge.wire.encoding import codec

HEADER = struct.Struct('<IIIIQI')


class StockRegion:
    """One file, mapped for reading and writing."""

    def __init__(self, path, wait=20.0):
        deadline = time.monotonic() + wait
        while not Path(path).exists():
            assert time.monotonic() < deadline, f'{path} never came'
            time.sleep(0.02)
        with open(path, 'r+b') as file:
            self.map = mmap.mmap(file.fileno(), 0)
        magic, version, self.stride, self.slots, self.seen, _ = self.header()
        assert (magic, version, self.slots) == (0x424C5255, 1, 2)
        assert len(self.map) == 64 + self.slots * self.stride

    def header(self):
        return HEADER.unpack_from(self.map)

    def write(self, payload, interrupted=0.0):
        """Write; for so many s only the first half of `pack_into` is done to the count."""
        *_, sequence, latest = self.header()
        assert len(payload) <= self.stride - 4
        target = (latest + 1) % self.slots
        at = 64 + target * self.stride
        self.map[at : at + 4] = struct.pack('<I', len(payload))
        self.map[at + 4 : at + 4 + len(payload)] = payload
        struct.pack_into('<I', self.map, 24, target)
        if interrupted:
            self.map[16:24] = bytes(8)
            time.sleep(interrupted)
        struct.pack_into('<Q', self.map, 16, sequence + 1)

    def read(self):
        *_, sequence, latest = self.header()
        if sequence == self.seen:
            return None
        at = 64 + latest * self.stride
        (size,) = struct.unpack_from('<I', self.map, at)
        if not 0 < size <= self.stride - 4:
            return None
        payload = self.map[at + 4 : at + 4 + size]
        if self.header()[4] - sequence > self.slots:
            return None
        self.seen = sequence
        return payload

    def wait(self, timeout=20.0):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            payload = self.read()
            if payload is not None:
                return payload
            time.sleep(5e-5)
        raise TimeoutError('no payload')

    def close(self):
        self.map.close()


class StockShmRpc:
    """Requests as the stock client sends them after its hello over ZMQ."""

    def __init__(self, directory, session_id=None):
        self.session_id = session_id
        self.requests = StockRegion(Path(directory) / 'req.shm')
        self.replies = StockRegion(Path(directory) / 'rep.shm')

    def exchange(self, frame, timeout=20.0, interrupted=0.0):
        self.replies.seen = self.replies.header()[4]
        self.requests.write(frame, interrupted)
        return self.replies.wait(timeout)

    def ask(self, op, **fields):
        message = {'op': op, 'session_id': self.session_id, **fields}
        return codec.unpack(self.exchange(codec.pack(message)), 1 << 24)

    def close(self):
        self.requests.close()
        self.replies.close()
