# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A commanded velocity, as `set_twist` and `step` (extension) have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.ops.wall_timeout import read_wall_timeout
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl
from urlab_ros_bridge.sim.physics.wall_timeout import WallTimeout
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.stage import Context


class TwistCommand(NamedTuple):
    """
    A checked twist for one controller: m/s and rad/s in the base frame.

    :ivar resets: of the state that it was chosen for, as snapshots count; None: of any.
    """

    controller: Any
    linear: Sequence[float]
    angular: Sequence[float]
    timeout: float | None
    wall: WallTimeout | None
    resets: int | None

    def apply(self, now: float) -> tuple[float, float, float]:
        """Give it to the controller at a simulated time (s); return what the limits leave."""
        vx, vy, yaw = self.controller.set(self.linear, self.angular, now, self.timeout, self.wall)
        return vx, vy, yaw


def read_twist(context: Context, control: ArticulationControl, fields: Fields) -> TwistCommand:
    """
    Check the fields of a twist.

    The extension `resets` tells for which state it was chosen, as snapshots count: one that moves
    the robot is refused when the world was reset since.

    :raises OpError: no_twist_controller, stale_command, or what is wrong with a field.
    """
    if control.twist is None:
        prefix = control.articulation.prefix
        raise OpError('no_twist_controller', f'{prefix} has no twist controller')
    linear = fields.vector('linear', np.zeros(3))
    angular = fields.vector('angular', np.zeros(3))
    timeout = fields.number('timeout', low=0.0) or None
    moves = bool(linear.any() or angular.any())
    wall = read_wall_timeout(fields, moves)
    chosen_for = fields.integer('resets', 0) if 'resets' in fields else None
    _check_resets(chosen_for, context.engine.clock.resets, moves)
    return TwistCommand(control.twist, list(linear), list(angular), timeout, wall, chosen_for)


def _check_resets(chosen_for: int | None, resets: int, moves: bool) -> None:
    if moves and chosen_for is not None and chosen_for != resets:
        raise OpError('stale_command', 'the world was reset after this twist was chosen')


__all__ = ['TwistCommand', 'read_twist']
