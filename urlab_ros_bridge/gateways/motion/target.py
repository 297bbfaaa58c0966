# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Setpoints of actuators, and interpolation between two of them."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field

Twist = tuple[float, float, float]


@dataclass(slots=True)
class Target:
    """
    A setpoint of a robot.

    :ivar ctrl: actuator -> control, for those that the action layout drives.
    :ivar twist: vx, vy (m/s) and yaw rate (rad/s); None: no twist is commanded.
    """

    ctrl: dict[str, float] = field(default_factory=dict)
    twist: Twist | None = None

    def copy(self) -> Target:
        """Return an independent copy."""
        return Target(dict(self.ctrl), self.twist)


def between(start: Target, end: Target, share: float, smooth: frozenset[str]) -> Target:
    """
    Return the setpoint at `share` (0..1) of the way.

    :param smooth: actuators that are interpolated; the others, and the twist, change at once.
    """
    if share >= 1.0:
        return end
    ctrl = {
        name: start.ctrl[name] + (value - start.ctrl[name]) * share
        if name in smooth and name in start.ctrl
        else value
        for name, value in end.ctrl.items()
    }
    return Target(ctrl, end.twist)


__all__ = ['Target', 'Twist', 'between']
