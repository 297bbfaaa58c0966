# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Time that advances only by the steps of one gateway, in control periods of equal length."""

from __future__ import annotations

import math

from urlab_ros_bridge.gateways.simulation.link import SimulationLink


class SteppedTime:
    """
    A server in direct mode, stepped by one gateway: equal commands give equal worlds.

    :ivar period: number of control periods so far.
    """

    def __init__(self, link: SimulationLink, rate: float) -> None:
        """
        Switch the server to direct mode.

        :param rate: control periods per simulated second.
        :raises RobotError: when the mode is pinned to another.
        """
        self._link = link
        self._rate = rate
        self._mode_before = link.use_mode('direct')
        self.period = 0

    def restart(self) -> None:
        """
        Count periods from 0 again, in direct mode: another client may have changed it.

        :raises RobotError: when the mode is pinned to another.
        """
        self._link.use_mode('direct')
        self.period = 0

    def next_steps(self) -> int:
        """Begin a control period; return its simulation steps."""
        steps = steps_at(self.period, self._rate, self._link.timestep)
        self.period += 1
        return steps

    def restore(self) -> None:
        """Switch the server back to the mode that it had before."""
        if self._mode_before != 'direct' and not self._link.is_lost:
            self._link.use_mode(self._mode_before)


def steps_at(period: int, rate: float, timestep: float) -> int:
    """
    Return the simulation steps of control period number `period`, at least one.

    The sum over periods never drifts from the rate, whatever the timestep (s).

    >>> [steps_at(period, 30.0, 0.002) for period in range(6)]
    [17, 16, 17, 17, 16, 17]
    """
    per_period = 1.0 / rate / timestep
    return max(
        1, math.floor((period + 1) * per_period + 0.5) - math.floor(period * per_period + 0.5)
    )


__all__ = ['SteppedTime', 'steps_at']
