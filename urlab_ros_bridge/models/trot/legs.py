# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of legs with three hinges: hip (roll), thigh and calf (pitch)."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np


@dataclass(frozen=True, slots=True)
class Legs:
    """
    The legs of a robot in the frame of its trunk: x forward, y left, z up; m and rad.

    Hips turn about x, thighs and calves about y.  Joint coordinates are those of the model: `zero`
    and `sign` lead to them from the angles used inside, where a leg that points straight down has
    thigh = calf = 0 and a positive pitch swings the leg backwards.

    :ivar hip: (n, 3), a point on the axis of each hip.
    :ivar offset: (n, 3), from there to the thigh's axis, where the plane of the leg crosses it.
    :ivar thigh: (n,), distance from the thigh's axis to that of the calf.
    :ivar calf: (n,), distance from the calf's axis to the centre of the foot.
    :ivar knee: (n,), -1 if the knee bends to negative angles of the calf, else 1.
    :ivar zero: (n, 3), angles used inside at joint coordinates of zero.
    :ivar sign: (n, 3), directions of the joints' axes.
    """

    hip: np.ndarray
    offset: np.ndarray
    thigh: np.ndarray
    calf: np.ndarray
    knee: np.ndarray
    zero: np.ndarray
    sign: np.ndarray

    def joints(self, feet: np.ndarray) -> np.ndarray:
        """
        Return the joint coordinates (n, 3) that bring the feet (n, 3) to their places.

        Out of reach, a leg points there; it is never stretched or folded as far as it could be.
        """
        x, y, z = (feet - self.hip).T
        along, side, above = self.offset.T
        x = x - along
        # Seen from the front, the foot is beside the hip's axis by `side`, below it by `down`.
        down = np.sqrt(np.maximum(y * y + z * z - side * side, 1e-8))
        roll = np.arctan2(z, y) - np.arctan2(-down, side)
        roll = (roll + math.pi) % (2.0 * math.pi) - math.pi
        down += above
        longest, shortest = self.thigh + self.calf, np.abs(self.thigh - self.calf)
        low, high = shortest + 0.25 * (longest - shortest), 0.99 * longest
        span = np.minimum(np.maximum(np.hypot(x, down), low), high)
        both = 2.0 * self.thigh * self.calf
        cosine = (span * span - self.thigh * self.thigh - self.calf * self.calf) / both
        bend = self.knee * np.arccos(cosine)
        pitch = np.arctan2(-x, down)
        pitch -= np.arctan2(self.calf * np.sin(bend), self.thigh + self.calf * cosine)
        return (np.stack((roll, pitch, bend), axis=1) - self.zero) * self.sign

    def feet(self, joints: np.ndarray) -> np.ndarray:
        """Return the places (n, 3) of the feet at joint coordinates (n, 3)."""
        roll, pitch, bend = (joints * self.sign + self.zero).T
        along, side, above = self.offset.T
        x = along - self.thigh * np.sin(pitch) - self.calf * np.sin(pitch + bend)
        down = self.thigh * np.cos(pitch) + self.calf * np.cos(pitch + bend) - above
        cosine, sine = np.cos(roll), np.sin(roll)
        return self.hip + np.stack(
            (x, side * cosine + down * sine, side * sine - down * cosine), axis=1
        )

    def jacobian(self, joints: np.ndarray) -> np.ndarray:
        """Return d feet / d joints, (n, 3, 3)."""
        roll, pitch, bend = (joints * self.sign + self.zero).T
        side, above = self.offset[:, 1], self.offset[:, 2]
        lower_x, lower_z = -self.calf * np.sin(pitch + bend), self.calf * np.cos(pitch + bend)
        x, z = lower_x - self.thigh * np.sin(pitch), lower_z + self.thigh * np.cos(pitch)
        down = z - above
        cosine, sine = np.cos(roll), np.sin(roll)
        matrix = np.empty((len(joints), 3, 3))
        matrix[:, 0, 0], matrix[:, 0, 1], matrix[:, 0, 2] = 0.0, -z, -lower_z
        matrix[:, 1, 0] = down * cosine - side * sine
        matrix[:, 1, 1], matrix[:, 1, 2] = x * sine, lower_x * sine
        matrix[:, 2, 0] = down * sine + side * cosine
        matrix[:, 2, 1], matrix[:, 2, 2] = -x * cosine, -lower_x * cosine
        return matrix * self.sign[:, None, :]
