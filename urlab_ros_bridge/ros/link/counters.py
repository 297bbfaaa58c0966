# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the stream thread counts, and the figures made of it once a second."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from dataclasses import field
import math

import numpy as np

_MAX_LATENCIES = 8192


@dataclass(slots=True)
class Counters:
    """
    Counts since the start; written by the stream thread alone.

    :ivar advanced_ns: simulation time that went by, without jumps.
    :ivar latencies: wall ns from the server's publish to after ours, of the last ticks.
    :ivar last_tick: `time.monotonic` of the last tick, None before the first.
    :ivar last_rows: likewise of the last tick that had rows.
    :ivar closed_by: what closed the last tick.
    :ivar wall_ns: the server's wall clock at the last tick, None when it did not say.
    """

    ticks: int = 0
    messages: int = 0
    decode_errors: int = 0
    last_error: str = ''
    advanced_ns: int = 0
    last_tick: float | None = None
    last_rows: float | None = None
    closed_by: str = ''
    wall_ns: int | None = None
    latencies: deque[int] = field(default_factory=lambda: deque(maxlen=_MAX_LATENCIES))


@dataclass(frozen=True, slots=True)
class Rates:
    """
    Figures of one period.

    :ivar tick_rate: ticks, and `message_rate` ROS messages, per wall second.
    :ivar latency_p50: s, and `latency_p99`, of the last period in which something was published;
        NaN before, and when the server does not send its wall time.
    """

    real_time_factor: float = 0.0
    tick_rate: float = 0.0
    message_rate: float = 0.0
    latency_p50: float = math.nan
    latency_p99: float = math.nan


class RateMeter:
    """Turns counters into rates, from one call to the next."""

    def __init__(self) -> None:
        self._before: tuple[float, int, int, int] | None = None
        self._latency = math.nan, math.nan

    def measure(self, counters: Counters, now: float) -> Rates:
        """
        Return the figures since the last call and empty the list of latencies.

        :param now: `time.monotonic`.
        """
        latest = (now, counters.ticks, counters.messages, counters.advanced_ns)
        before, self._before = self._before or latest, latest
        seconds = latest[0] - before[0]
        if seconds <= 0:
            return Rates()
        latencies = np.array(counters.latencies, np.float64) * 1e-9
        counters.latencies.clear()
        if len(latencies):
            p50, p99 = np.percentile(latencies, (50, 99))
            self._latency = float(p50), float(p99)
        ticks, messages, advanced = (b - a for a, b in zip(before[1:], latest[1:], strict=True))
        return Rates(
            advanced * 1e-9 / seconds, ticks / seconds, messages / seconds, *self._latency
        )
