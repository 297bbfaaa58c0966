# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The block `divergence` of replies and snapshots (extension): the simulation became unstable."""

from __future__ import annotations

from dataclasses import asdict
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Divergence:
    """
    The last time that the simulation became unstable.

    :ivar count: divergences since the world began; resets do not lower it.
    :ivar time: simulated time (s) at the beginning of the step in which it happened.
    :ivar quantity: what was not finite or too large: qpos, qvel, qacc or ctrl.
    :ivar element: compiled name of the joint, or actuator, at which MuJoCo noticed it.
    :ivar world_reset: MuJoCo reset the world, its time included.
    """

    count: int
    time: float
    quantity: str
    element: str
    world_reset: bool

    def report(self) -> dict[str, Any]:
        """Return the block `divergence` of replies, snapshots and `status`."""
        return asdict(self)

    def __str__(self) -> str:
        """Return a sentence for logs."""
        what = 'actuator' if self.quantity == 'ctrl' else 'joint'
        return (
            f'the simulation became unstable at {self.time:g} s ({self.quantity} of {what} '
            f'{self.element})'
            + (', and MuJoCo reset the world' if self.world_reset else '')
            + '; check gains, timestep and commands'
        )
