# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
How long a command outlives its sender, in wall time (extension `wall_timeout`).

Frozen simulated time cannot show that the sender of a command has disconnected.  A command with a
`wall_timeout` is dropped when time resumes after it was frozen for longer than that since
the command was received.  Pauses between the steps of a slow simulation do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
import threading
import time

# s of wall time between two steps from which on time counts as frozen.
FROZEN_SECONDS = 0.1
_PROCESSOR_SECONDS = 0.02  # between readings of the processor time


@dataclass(slots=True)
class WallTimeout:
    """
    How long one command may be frozen together with simulated time.

    :ivar limit: s.
    :ivar received: when the command was received, s by time.monotonic.
    :ivar frozen: for how long time has been frozen since then, s.
    """

    limit: float
    received: float
    frozen: float = 0.0

    def is_exceeded(self, since: float, until: float) -> bool:
        """Count a stretch of frozen time (s by time.monotonic); return whether it is too long."""
        self.frozen += max(0.0, until - max(since, self.received))
        return self.frozen > self.limit


class LastStepClock:
    """
    Measures when the last step was done, by the wall clock.

    A process that is stopped in the middle of a step, by SIGSTOP or with its whole machine, does
    nothing from there on.  The thread's processor time distinguishes it from one that computes for
    long; that clock is slow to read, so it is not read in every step.

    :ivar last_step: when the last step was done, s by time.monotonic.
    """

    def __init__(self) -> None:
        self.last_step = self._began = self._read = time.monotonic()
        self._thread, self._processor = 0, 0.0

    def begin(self, now: float) -> None:
        """Begin one step or several (s by time.monotonic)."""
        self._began = now
        if now - self._read > _PROCESSOR_SECONDS or threading.get_ident() != self._thread:
            self._thread = threading.get_ident()
            self._read, self._processor = now, time.thread_time()

    def end(self, now: float) -> None:
        """End it, in the same thread."""
        self.last_step = now
        if now - self._began > FROZEN_SECONDS:
            # At most this much was computed: some of it maybe before the beginning.
            computed = time.thread_time() - self._processor
            self.last_step = min(now, self._began + computed)
