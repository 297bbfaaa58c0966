# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How old the observation behind an action was when the action took effect."""

from __future__ import annotations

from collections.abc import Mapping
import math
import threading
from typing import Any

NANOSECONDS = 1e9


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
        """Forget everything."""
        with self._lock:
            self._count, self._sum, self._max, self._last = 0, 0.0, 0.0, math.nan

    def add(self, stamps: Mapping[str, float], now: float) -> None:
        """Count an action: the oldest picture behind it says how late it is."""
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

    def report(self) -> dict[str, Any]:
        """Return {last, mean, max, count}; {} before the first action with timestamps."""
        with self._lock:
            if not self._count:
                return {}
            return {
                'last': self._last,
                'mean': self._sum / self._count,
                'max': self._max,
                'count': self._count,
            }
