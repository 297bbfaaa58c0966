# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Spinning for a moment until the next message, before going to sleep.

Being woken costs more than most requests do, so a thread that expects a message at once spins for
it. That takes a processor.  Two things make it a waste: a peer that does not come in time, and
other programs that want the processor, because a scheduler prefers threads that slept over threads
that spun. After either one, messages are waited for asleep, twice as many each time.
"""

from __future__ import annotations

from collections.abc import Callable
import os
import time

_MOST_SKIPPED = 64
# Spinning saves some 50 us of a message, and costs milliseconds when a program that computes gets
# the processor: Linux checks again with the next tick. So a single trial costs as much as a
# hundred messages gain, and must be rare.
_SKIPPED_BUSY = 512  # at least
_MOST_SKIPPED_BUSY = 8192
# s between two readings of the clock from which on another program had the processor.  The other
# threads of a quick exchange take less, and so do most interruptions of a virtual machine, which
# no caller gains from by sleeping.
_PREEMPTED_SECONDS = 3e-4
_yield_processor = getattr(os, 'sched_yield', lambda: None)


class SpinWait:
    """Spins for one thread at a time."""

    def __init__(self, is_ready: Callable[[], bool], seconds: float, polls: int = 1) -> None:
        """
        Prepare to spin.

        :param is_ready: returns whether the message is there.
        :param seconds: how long a spin takes at most; none at all where there is one processor.
        :param polls: of the message between two readings of the clock: about 1 us in all.
        """
        self._is_ready = is_ready
        self._seconds = seconds if processors() > 1 else 0.0
        self._polls = range(polls)
        self._penalty = 1
        self._skip = 0

    def spin(self) -> bool:
        """Return whether the message is there, after spinning if that pays."""
        is_ready = self._is_ready
        if is_ready():
            return True
        if self._skip or not self._seconds:
            self._skip -= self._skip > 0
            return False
        clock = time.perf_counter
        now = clock()
        deadline = now + self._seconds
        while now < deadline:
            for _ in self._polls:
                if is_ready():
                    self._penalty = max(self._penalty // 2, 1)
                    return True
            _yield_processor()
            before, now = now, clock()
            if now - before > _PREEMPTED_SECONDS:
                self._skip = self._penalty = min(
                    max(2 * self._penalty, _SKIPPED_BUSY), _MOST_SKIPPED_BUSY
                )
                return is_ready()
        self._skip = self._penalty
        self._penalty = min(2 * self._penalty, _MOST_SKIPPED)
        return False


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
