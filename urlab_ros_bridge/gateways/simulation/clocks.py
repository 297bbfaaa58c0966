# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Timestamps of observations, and the latency until their actions take effect."""

from __future__ import annotations

from collections.abc import Mapping
import math
import threading
import time
from typing import TypedDict

from urlab_ros_bridge.client.replies.observations import StepResult

# Simulated seconds, monotonic seconds of this machine, unix nanoseconds.
CLOCKS = ('sim', 'monotonic', 'unix_ns')
NANOSECONDS = 1e9


def stamp(seen: StepResult, clock: str) -> float:
    """Return the timestamp of a reply just received, by one of `CLOCKS`."""
    if clock == 'sim':
        return seen.time
    return time.monotonic() if clock == 'monotonic' else seen.wall_time_ns or time.time_ns()


class LatencyReport(TypedDict, total=False):
    """Latencies in seconds; empty before the first one."""

    last: float
    mean: float
    max: float
    count: int


class LatencyMeter:
    """
    Latencies of one connection, in seconds of the clock of the timestamps.

    Thread-safe.  A negative latency (a clock that was set back by a reset) is not counted.
    """

    def __init__(self, clock: str) -> None:
        self._unit = 1 / NANOSECONDS if clock == 'unix_ns' else 1.0
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Discard all latencies."""
        with self._lock:
            self._count, self._sum, self._max, self._last = 0, 0.0, 0.0, math.nan

    def add(self, stamps: Mapping[str, float], now: float) -> None:
        """Count a command: the oldest observation behind it shows how late it is."""
        if not stamps:
            return
        latency = (now - min(stamps.values())) * self._unit
        if latency < 0:
            return
        with self._lock:
            self._count += 1
            self._sum += latency
            self._max = max(self._max, latency)
            self._last = latency

    def report(self) -> LatencyReport:
        """Return {last, mean, max, count}; {} before the first command with timestamps."""
        with self._lock:
            if not self._count:
                return {}
            return {
                'last': self._last,
                'mean': self._sum / self._count,
                'max': self._max,
                'count': self._count,
            }


__all__ = ['CLOCKS', 'LatencyMeter', 'LatencyReport', 'stamp']
