# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Where the feet of a trotting quadruped are to be.

All places are in the heading frame: its origin is the trunk's, x points where the trunk points, z
up against gravity.  Legs are front left, front right, rear left, rear right; m, s and rad.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

GRAVITY = 9.81
_OFFSETS = np.array([0.0, 0.5, 0.5, 0.0])  # of the legs' phases: the diagonals swing together
_SMOOTHING = 0.03  # s, of the velocity
_CATCH = 0.85  # share of the capture point's distance, where a pendulum would come to rest
_GRIP = 0.2  # m/s, most that feet on the ground slow or drive the body by
_SHIFT = 0.2  # m, most that a foot is put elsewhere to catch the body


@dataclass(frozen=True, slots=True)
class GaitSettings:
    """
    Shape of the steps.

    :ivar height: of the trunk's origin above the centres of the feet (m).
    :ivar cycle_time: from one touch-down of a foot to the next (s).
    :ivar duty: share of the cycle in which a foot is on the ground.
    :ivar step_height: how far a foot is lifted (m).
    """

    height: float
    cycle_time: float = 0.34
    duty: float = 0.5
    step_height: float = 0.06


@dataclass(slots=True)
class TrunkMotion:
    """
    What the trunk does.

    :ivar velocity: (2,), m/s, in the heading frame.
    :ivar yaw_rate: rad/s.
    """

    velocity: np.ndarray
    yaw_rate: float


class TrotGait:
    """
    Leads the feet through a trot: two diagonal legs push while the other two swing.

    Feet on the ground move against the commanded twist.  A swinging foot goes to where it will be
    below the hip in the middle of its stance, further out when the body moves too fast (Raibert,
    Legged Robots That Balance, 1986).  What the twist still lacks after some steps is added
    slowly.

    :param rest: (4, 2), where the feet of a standing robot are.
    :ivar rest: (4, 3), the same with the height.
    :ivar feet: (4, 3), where the feet are to be.
    :ivar swinging: (4,), whether a foot is in the air.
    """

    def __init__(self, settings: GaitSettings, rest: np.ndarray) -> None:
        self.settings = settings
        self.rest = np.column_stack((rest, np.full(4, -settings.height)))
        self.place(self.rest)

    def place(self, feet: np.ndarray) -> None:
        """Begin with all feet on the ground, (4, 3)."""
        self.feet = feet.copy()
        self.swinging = np.zeros(4, dtype=bool)
        self._lifted = feet.copy()
        self._phase = 0.0
        self._velocity = np.zeros(2)
        self._yaw_rate = 0.0
        self._lack = np.zeros(3)

    @property
    def speed(self) -> float:
        """Return how fast the trunk moves over the ground (m/s)."""
        return math.hypot(*self._velocity)

    def sense(self, seconds: float, motion: TrunkMotion) -> None:
        """Take note of what the trunk does."""
        self._velocity += min(1.0, seconds / _SMOOTHING) * (motion.velocity - self._velocity)
        self._yaw_rate = motion.yaw_rate

    def stand(self, seconds: float) -> bool:
        """Put all feet to their places on the ground; return whether they are there."""
        self.swinging[:] = False
        gap = self.rest - self.feet
        distance = float(np.abs(gap).max())
        step = 0.25 * seconds  # m
        self.feet += gap * min(1.0, step / distance) if distance else gap
        return distance <= step

    def walk(self, seconds: float, twist: tuple[float, float, float]) -> bool:
        """
        Move the feet on by a time, at a commanded twist (m/s, m/s, rad/s).

        Return whether a pair of feet has just touched down.
        """
        shape = self.settings
        wanted = np.array(twist)
        # What is far off was pushed; that passes without being learned.
        lack = np.clip(wanted - (*self._velocity, self._yaw_rate), -0.1, 0.1)
        self._lack = np.clip(self._lack + seconds * lack, -0.2, 0.2)
        vx, vy, turn = wanted + self._lack
        self._phase = (self._phase + seconds / shape.cycle_time) % 1.0
        phases = (self._phase + _OFFSETS) % 1.0
        swinging = phases >= shape.duty
        lifted = swinging & ~self.swinging
        touched_down = bool((self.swinging & ~swinging).any())
        self._lifted[lifted] = self.feet[lifted]
        self.swinging = swinging

        # A body that is pushed is not held by its feet: it would tip over them.
        yielding = np.clip((vx, vy), self._velocity - _GRIP, self._velocity + _GRIP)
        ground = ~swinging
        feet = self.feet[ground]
        feet[:, 0] -= (yielding[0] - turn * feet[:, 1]) * seconds
        feet[:, 1] -= (yielding[1] + turn * self.feet[ground, 0]) * seconds
        feet[:, 2] = -shape.height
        self.feet[ground] = feet

        half = shape.duty * shape.cycle_time / 2.0
        cosine, sine = math.cos(turn * half), math.sin(turn * half)
        turned = self.rest[:, :2] @ np.array([[cosine, sine], [-sine, cosine]])
        catch = _CATCH * math.sqrt(shape.height / GRAVITY)
        shift = np.clip(catch * (self._velocity - wanted[:2]), -_SHIFT, _SHIFT)
        target = turned + np.array([vx, vy]) * half + shift
        share = ((phases - shape.duty) / (1.0 - shape.duty))[swinging]
        way = share * share * (3.0 - 2.0 * share)
        start = self._lifted[swinging]
        self.feet[swinging, :2] = start[:, :2] + (target[swinging] - start[:, :2]) * way[:, None]
        self.feet[swinging, 2] = (
            start[:, 2]
            + (-shape.height - start[:, 2]) * way
            + shape.step_height * 4.0 * share * (1.0 - share)
        )
        return touched_down
