# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Time as integer nanoseconds.

MuJoCo counts time in float64 seconds.  A stamp is that time rounded to the nearest nanosecond,
with carry into the seconds: truncating would lose a nanosecond for values like 0.1 + 0.2 and
could give two ticks the same stamp.
"""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.wire.errors import WireError

NANOSECONDS = 1_000_000_000
# The largest time that fits int64 nanoseconds; builtin_interfaces/Time ends earlier (int32 s).
MAX_SECONDS = 9.2e9

MAX_TIME = 1e9  # s; what a client may set the simulation time to


class BadTime(WireError):
    """A time is not finite, or does not fit 64 bits of nanoseconds."""

    def __init__(self, value: object) -> None:
        super().__init__(f'time {value!r} is not a finite number of seconds below {MAX_SECONDS:g}')


def seconds_to_ns(seconds: float) -> int:
    """
    Round seconds to integer nanoseconds.

    :raises BadTime: when the value is not finite or too large.

    >>> seconds_to_ns(0.1 + 0.2)
    300000000
    """
    if not -MAX_SECONDS <= seconds <= MAX_SECONDS:  # NaN compares false
        raise BadTime(seconds)
    return round(seconds * 1e9)


def ns_to_block(ns: int) -> dict[str, int]:
    """Return the wire's ``{sec, nsec}`` block of a time in nanoseconds."""
    sec, nsec = divmod(ns, NANOSECONDS)
    return {'sec': sec, 'nsec': nsec}


def block_to_ns(block: Any) -> int:
    """
    Read a ``{sec, nsec}`` block (stock servers send both as float64).

    :raises BadTime: when it is not such a block.
    """
    try:
        sec, nsec = block['sec'], block['nsec']
        if abs(sec) <= MAX_SECONDS and abs(nsec) <= MAX_SECONDS * 1e9:
            return int(sec) * NANOSECONDS + int(nsec)
    except (TypeError, KeyError, ValueError, IndexError, OverflowError):
        pass
    raise BadTime(block)
