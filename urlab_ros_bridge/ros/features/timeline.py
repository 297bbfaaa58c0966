# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Simulation time as published, and its jumps.

Within an epoch time never goes back.  Services wait here until the stream has published the time
of their response.
"""

from __future__ import annotations

from enum import Enum
import threading
import time
from typing import NamedTuple


class Step(Enum):
    """How a tick relates to the previous one."""

    FORWARD = 'forward'
    SAME = 'same'
    JUMP = 'jump'


class Mark(NamedTuple):
    """Epoch and last published time at one moment."""

    epoch: int
    stamp_ns: int | None


class Timeline:
    """
    The stamps of the ticks that were published.

    Written by the stream thread, read by all.

    :ivar epoch: of the last tick; grows with every jump back.
    :ivar stamp_ns: of the last tick, None before the first.
    :ivar tick_ns: of the tick that is being published, else of the last one.
    :ivar resets: number of resets before the last tick, as the server counts; None: not known.
    :ivar last_advance: when `stamp_ns` changed last (s by time.monotonic).
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.stamp_ns: int | None = None
        self.tick_ns: int | None = None
        self.resets: int | None = None
        self.last_advance = time.monotonic()
        self._jump = self._begins = False
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._waiting = 0

    def request_jump(self) -> None:
        """Begin a new epoch with the next tick, for another server or world."""
        self._jump = True

    def step(self, stamp_ns: int) -> Step:
        """Return how a tick with this time continues the timeline; nothing is stored."""
        if self.stamp_ns is None or stamp_ns < self.stamp_ns or self._jump:
            return Step.JUMP
        return Step.SAME if stamp_ns == self.stamp_ns else Step.FORWARD

    def begin_epoch(self) -> None:
        """Begin a new timeline with the tick that is published next."""
        self._begins, self._jump = True, False

    def published(self, stamp_ns: int) -> None:
        """Record that everything of this time was published."""
        with self._lock:
            if stamp_ns != self.stamp_ns:
                self.last_advance = time.monotonic()
            self.epoch += self._begins
            self.stamp_ns, self._begins = stamp_ns, False
            if self._waiting:
                self._changed.notify_all()

    def mark(self) -> Mark:
        """Return epoch and time; call it before a request that may move time."""
        with self._lock:
            return Mark(self.epoch, self.stamp_ns)

    def wait_for(self, stamp_ns: int, mark: Mark, timeout: float) -> bool:
        """
        Wait until the time of a reply was published.

        :param stamp_ns: simulation time in the reply; before that of `mark` it is a jump back.
        :param mark: taken before the request was sent.
        :param timeout: s.
        :return: False after the timeout.
        """
        jumps = mark.stamp_ns is not None and mark.stamp_ns > stamp_ns

        def reached() -> bool:
            if self.stamp_ns is None or (jumps and self.epoch == mark.epoch):
                return False
            return self.stamp_ns >= stamp_ns

        with self._lock:
            self._waiting += 1
            try:
                return self._changed.wait_for(reached, timeout)
            finally:
                self._waiting -= 1
