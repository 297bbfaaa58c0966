# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Shared memory as a stock server has it, written from its description, before a dispatcher."""

from collections.abc import Callable
import mmap
from pathlib import Path
import struct
import threading
import time

MAGIC, VERSION, SLOTS = 0x424C5255, 1, 2
STRIDES = {'req.shm': 1 << 20, 'rep.shm': 1 << 20, 'state.shm': 16384}


class ShmServer(threading.Thread):
    """
    Answers requests that come through req.shm.

    :param header: changes the first header words (a list) of a region, for servers with a fault.
    :param too_large: what is answered instead of a reply that does not fit; None drops it.
    """

    def __init__(
        self,
        folder: Path,
        exchange: Callable[[bytes], bytes],
        header: Callable[[str, list[int]], None] = lambda *_: None,
        too_large: bytes | None = None,
    ) -> None:
        super().__init__(daemon=True)
        self._exchange = exchange
        self._too_large = too_large
        self._ending = threading.Event()
        self._maps = {name: self._make(folder / name, header) for name in STRIDES}

    def _make(self, path: Path, header: Callable[[str, list[int]], None]) -> mmap.mmap:
        stride = STRIDES[path.name]
        fields = [MAGIC, VERSION, stride, SLOTS]
        header(path.name, fields)
        path.write_bytes(struct.pack('<4I', *fields) + bytes(48 + SLOTS * stride))
        with path.open('r+b') as file:
            return mmap.mmap(file.fileno(), 0)

    def __enter__(self) -> 'ShmServer':
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self.join()
        for region in self._maps.values():
            region.close()

    def run(self) -> None:
        requests, seen = self._maps['req.shm'], 0
        while not self._ending.is_set():
            sequence, latest = struct.unpack_from('<QI', requests, 16)
            if sequence == seen:
                time.sleep(1e-4)
                continue
            seen = sequence
            start = 64 + latest * STRIDES['req.shm']
            (size,) = struct.unpack_from('<I', requests, start)
            self._write('rep.shm', self._exchange(requests[start + 4 : start + 4 + size]))

    def _write(self, name: str, payload: bytes) -> None:
        region, stride = self._maps[name], STRIDES[name]
        if len(payload) > stride - 4:
            if self._too_large is None:
                return
            payload = self._too_large
        sequence, latest = struct.unpack_from('<QI', region, 16)
        target = (latest + 1) % SLOTS
        start = 64 + target * stride
        struct.pack_into('<I', region, start, len(payload))
        region[start + 4 : start + 4 + len(payload)] = payload
        struct.pack_into('<I', region, 24, target)
        struct.pack_into('<Q', region, 16, sequence + 1)
