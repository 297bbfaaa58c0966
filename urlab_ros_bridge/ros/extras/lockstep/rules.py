# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters and pure rules of lockstep: how long a round is."""

from __future__ import annotations

from dataclasses import dataclass
import math

from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.errors import UrlabError

# Part of a timestep that a period may be off a multiple: 0.02 is none of 0.002 in floats.
_TOLERANCE = 1e-3


class LockstepEnded(UrlabError):
    """The lockstep cannot continue."""


class BadPeriod(UrlabError, ValueError):
    """The period is not a multiple of the timestep."""

    def __init__(self, period: float, timestep: float, nearest: float) -> None:
        super().__init__(
            f'the lockstep period is {period:g} s, must be a multiple of the timestep '
            f'({timestep:g} s); the nearest is {nearest:.9g} s'
        )
        self.nearest = nearest


@dataclass(frozen=True)
class Terms:
    """
    What a lockstep is to do.

    :ivar topics: as the user wrote them.
    :ivar period: s of simulation time.
    :ivar timeout: s of wall time, 0: wait forever.
    """

    topics: tuple[str, ...]
    period: float
    timeout: float = 0.0


def steps_of(period: float, timestep: float) -> int:
    """
    Return how many timesteps a period has.

    :raises BadPeriod: when it is not a multiple, with the nearest one.

    >>> steps_of(0.02, 0.002)
    10
    """
    count = max(1, round(period / timestep))
    if not math.isclose(period, count * timestep, rel_tol=0, abs_tol=_TOLERANCE * timestep):
        raise BadPeriod(period, timestep, count * timestep)
    return count


def _topics(value: tuple[str, ...]) -> str:
    empty = value != ('',) and not all(value)
    return 'contains an empty name; [""] alone: off' if empty else ''


@dataclass(frozen=True)
class LockstepParameters:
    """Whether and how the bridge begins in lockstep."""

    lockstep_topics: tuple[str, ...] = key(
        ('',),
        'Start in lockstep with the nodes that publish these topics: the simulation takes a step, '
        'waits for an answer on each topic, and takes the next step. [""]: off until the service '
        'lockstep enables it.',
        check=_topics,
    )
    lockstep_period: float = key(
        0.02,
        'Time between instants (s of simulation time), a multiple of the physics timestep.',
        low=1e-5,
        high=60.0,
    )
    lockstep_timeout: float = key(
        0.0,
        'Continue without an answer after this long (s of wall time), 0: wait forever.',
        low=0.0,
        high=3600.0,
    )
