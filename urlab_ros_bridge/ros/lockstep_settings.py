# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of lockstep."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.ros.setting_row import parameter

GROUP = 'Lockstep'


@dataclass(frozen=True)
class LockstepSettings:
    """A part of `settings.Settings`."""

    lockstep_topics: tuple[str, ...] = parameter(
        ('',),
        'Begin in lockstep with the nodes that publish these topics: the simulation takes a step, '
        'waits until each topic has answered, and takes the next. [""]: off, until the service '
        'lockstep switches it on.',
        group=GROUP,
    )
    lockstep_period: float = parameter(
        0.02,
        'From one instant to the next (s of simulation time), a multiple of the timestep of the '
        'physics.',
        group=GROUP,
        low=1e-5,
        high=60.0,
    )
    lockstep_timeout: float = parameter(
        0.0,
        'Go on without an answer after this long (s of wall time), 0: wait for ever.',
        group=GROUP,
        low=0.0,
        high=3600.0,
    )
