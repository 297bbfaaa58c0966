# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Spinning for a moment until the next write, before going to sleep.

Being woken costs more than most requests do, so whoever expects a write at once spins for it.
That takes a processor, and a peer that never comes in time makes it a waste: each spin in vain
doubles the number of writes that are then waited for asleep, each success begins anew.
"""

from __future__ import annotations

import os
import time

from urlab_ros_bridge.wire.shm.access import RegionReader
from urlab_ros_bridge.wire.shm.region import SEQUENCE

_MOST_SKIPPED = 64
_LOOKS = 24  # between two looks at the clock, about 1 us


class SpinWait:
    """Spins on one region for one thread."""

    def __init__(self, reader: RegionReader, seconds: float) -> None:
        """
        Prepare to spin.

        :param seconds: how long a spin takes at most; none at all where there is one processor.
        """
        self._reader = reader
        self._sequence = reader.region.longs
        self._seconds = seconds if processors() > 1 else 0.0
        self._penalty = 1
        self._skip = 0

    def spin(self) -> bool:
        """Say whether something was written since the last read, after spinning if that pays."""
        reader = self._reader
        if reader.pending or not self._seconds:
            return reader.pending
        if self._skip:
            self._skip -= 1
            return False
        sequence, seen, clock = self._sequence, reader.sequence, time.perf_counter
        give_way = getattr(os, 'sched_yield', _nothing)
        deadline = clock() + self._seconds
        while clock() < deadline:
            for _ in range(_LOOKS):
                if sequence[SEQUENCE] != seen:
                    self._penalty = 1
                    return True
            give_way()
        self._skip = self._penalty
        self._penalty = min(2 * self._penalty, _MOST_SKIPPED)
        return False


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _nothing() -> None:
    pass


__all__ = ['SpinWait']
