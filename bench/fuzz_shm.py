# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What bench/fuzz.py writes into shared memory: odd requests, odd sizes, odd headers."""

from __future__ import annotations

import os
from pathlib import Path
import time

from fuzz_frames import Fuzz

from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.files import reply_file
from urlab_ros_bridge.transport.shm.files import request_file
from urlab_ros_bridge.transport.shm.region import HEADER_BYTES
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.transport.shm.region import SEQUENCE
from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable

SCRIBBLES, LIES = 0.02, 0.08  # share of frames with a broken header, and with a wrong size
PATIENCE = 0.5  # s for an answer after a broken header, before the next try
_MASK = 2**64 - 1


class NoAnswer(Exception):
    """The server did not answer a request that it owes an answer to."""


class ShmAttack:
    """
    One pair of request regions and whoever abuses it.

    :ivar counts: frames by kind: ``sound`` header, ``size``, ``header``.
    """

    def __init__(self, directory: str, channel: str, fuzz: Fuzz, hang: float) -> None:
        """
        Open the pair.

        :param channel: '' for the pair of stock clients.
        :param hang: seconds after which an answer is missed.
        """
        self._paths = request_file(Path(directory), channel), reply_file(Path(directory), channel)
        self._fuzz, self._hang = fuzz, hang
        self.counts = dict.fromkeys(('sound', 'size', 'header'), 0)
        # A pair of one client goes when nobody has it open for a moment.
        self._held = os.open(self._paths[0], os.O_RDONLY)
        self._open()

    def send_one(self, session_id: str) -> bytes | None:
        """
        Send something, and return the answer; None when none is owed.

        :raises NoAnswer: when there is none although one is owed.
        """
        frame, chance = self._fuzz.frame(session_id), self._fuzz.random
        pick = chance.random()
        if pick < SCRIBBLES:
            self.counts['header'] += 1
            self._put(frame, len(frame))
            self._scribble()
            self._recover(session_id)
            return None
        if pick < SCRIBBLES + LIES:
            self.counts['size'] += 1
            capacity = self._writer.capacity
            size = chance.choice((0, 1, len(frame) + 9, capacity, capacity + 1, 2**31, 2**32 - 1))
            self._put(frame, size)
            return self._answer(self._hang) if size else None
        self.counts['sound'] += 1
        self._put(frame, len(frame))
        return self._answer(self._hang) if frame else None

    def close(self) -> None:
        """Unmap."""
        os.close(self._held)
        self._unmap()

    def _unmap(self) -> None:
        self._writer.close()
        self._reader.close()

    def _open(self) -> None:
        self._writer = RegionWriter(Region.open(self._paths[0], writable=True))
        try:
            self._reader = RegionReader(Region.open(self._paths[1], writable=True))
        except Exception:
            self._writer.close()
            raise

    def _put(self, frame: bytes, size: int) -> None:
        """Publish a request that claims to have `size` bytes."""
        writer = self._writer
        self._reader.skip()
        frame = frame[: writer.capacity]
        writer.reserve()[: len(frame)] = frame
        tag = (writer.sequence + 1) & _MASK
        honest = min(size, writer.capacity)
        if honest != size:
            # `commit` would refuse: publish by hand what it would have published.
            region = writer.region
            slot = (writer._latest + 1) % region.slots
            region.sizes[slot][0] = size
            region.longs[4 + slot] = tag
            region.words[6] = writer._latest = slot
            region.longs[SEQUENCE] = writer.sequence = tag
            region.bell.wake()
        else:
            writer.commit(size, tag)

    def _answer(self, timeout: float) -> bytes:
        reader, number = self._reader, self._writer.sequence
        deadline = time.monotonic() + timeout
        while True:
            reply = reader.read()
            if reply is not None and reader.tag == number:
                return reply
            left = deadline - time.monotonic()
            if left <= 0:
                raise NoAnswer(f'no answer in {self._paths[1].name} for {timeout:g} s')
            reader.sleep(min(left, 0.1))

    def _scribble(self) -> None:
        """Write nonsense over the headers and the sizes, and ring."""
        chance = self._fuzz.random
        for region in (self._writer.region, self._reader.region):
            for _ in range(chance.randrange(4)):
                place = chance.randrange(HEADER_BYTES + 4)
                junk = chance.choice((b'\0', b'\xff', chance.randbytes(1))) * chance.randrange(9)
                region._map[place : place + len(junk)] = junk
        counts = (1, 2, 2**32 + 7, 2**63, chance.getrandbits(64))
        region = self._writer.region
        region.longs[SEQUENCE] = (region.longs[SEQUENCE] + chance.choice(counts)) & _MASK
        region.bell.wake()

    def _recover(self, session_id: str) -> None:
        """See that the pair serves a sound client again."""
        request = codec.pack({'op': 'status', 'session_id': session_id})
        deadline = time.monotonic() + self._hang
        while True:
            try:
                self._unmap()
                self._open()
                self._put(request, len(request))
                self._answer(PATIENCE)
                return
            except (MalformedRegion, RegionUnavailable, NoAnswer) as error:
                if time.monotonic() > deadline:
                    raise NoAnswer(f'a pair stays broken: {error}') from error
                time.sleep(0.002)


__all__ = ['NoAnswer', 'ShmAttack']
