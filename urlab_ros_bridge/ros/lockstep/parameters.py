# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of lockstep."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.schema import key


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
