# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Pure rules of lockstep: how long a round is, and which time a message speaks of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
import struct
from typing import Any

from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.stamp import NANOSECONDS

HEADER = 'std_msgs/Header'
# Part of a timestep that a period may be off a multiple: 0.02 is none of 0.002 in floats.
_TOLERANCE = 1e-3

# Returns the stamp of a message in ns, 0 for none.
Stamp = Callable[[Any], int]


class Ended(UrlabError):
    """The lockstep cannot go on."""


class BadPeriod(UrlabError, ValueError):
    """The period is no multiple of the timestep."""

    def __init__(self, period: float, timestep: float, nearest: float) -> None:
        super().__init__(
            f'the period of a lockstep is {period:g} s, must be a multiple of the timestep, '
            f'{timestep:g} s; the nearest is {nearest:.9g}'
        )
        self.nearest = nearest


@dataclass(frozen=True)
class Terms:
    """
    What a lockstep is to do.

    :ivar topics: as the user wrote them.
    :ivar period: s of simulation time.
    :ivar timeout: s of wall time, 0: wait for ever.
    """

    topics: tuple[str, ...]
    period: float
    timeout: float = 0.0


def steps_of(period: float, timestep: float) -> int:
    """
    Return how many timesteps a period has.

    :raises BadPeriod: when it is no multiple, with the nearest one.

    >>> steps_of(0.02, 0.002)
    10
    """
    count = max(1, round(period / timestep))
    if not math.isclose(period, count * timestep, rel_tol=0, abs_tol=_TOLERANCE * timestep):
        raise BadPeriod(period, timestep, count * timestep)
    return count


def has_stamp(kind: type) -> bool:
    """Tell whether a message type begins with a stamp: a std_msgs/Header, or it is one."""
    fields = list(kind.get_fields_and_field_types().items())
    return bool(fields) and (
        fields[0][1] == HEADER or fields[0] == ('stamp', 'builtin_interfaces/Time')
    )


def raw_stamp(data: bytes) -> int:
    """
    Read the stamp at the beginning of a serialised message.

    The encapsulation has 4 bytes; the second tells the order of bytes (CDR, little endian: odd).
    """
    if len(data) < 12:
        return 0
    sec, nanosec = struct.unpack_from('<iI' if data[1] & 1 else '>iI', data, 4)
    return sec * NANOSECONDS + nanosec


def message_stamp(message: Any) -> int:
    """Return the stamp of a message with a header, or of a header."""
    stamp = getattr(message, 'header', message).stamp
    return stamp.sec * NANOSECONDS + stamp.nanosec


def unstamped(message: Any) -> int:
    """Return 0: the message tells no time."""
    return 0


__all__ = [
    'HEADER',
    'BadPeriod',
    'Ended',
    'Stamp',
    'Terms',
    'has_stamp',
    'message_stamp',
    'raw_stamp',
    'steps_of',
    'unstamped',
]
