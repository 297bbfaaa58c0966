# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Maps the pose of a hand to the pose of a tip: clutch, smoothing, limits."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrController
from urlab_ros_bridge.gateways.virtual_field.scene.axes import z_up
from urlab_ros_bridge.gateways.virtual_field.scene.axes import z_up_quaternion
from urlab_ros_bridge.geometry import conjugate
from urlab_ros_bridge.geometry import multiply
from urlab_ros_bridge.geometry import Quaternion
from urlab_ros_bridge.geometry import quaternion_of_rotation_vector
from urlab_ros_bridge.geometry import rotation_vector

# The grip engages at the first value, as in the original server, and releases at the second one.
GRIP, GRIP_RELEASE = 0.4, 0.3
# Largest displacement of a hand since it gripped, per axis (m), as in the original server.
MAX_DISPLACEMENT = 2.0
# Half-life of the error after a sudden step (s); a steady motion is followed without lag.
_SETTLE = 0.035
# Without a sample for this time, the hand is assumed to rest (s).
_FORGET = 0.1


@dataclass(frozen=True, slots=True)
class TipPose:
    """A pose in MuJoCo's world: metres, z up, rotation x y z w."""

    position: np.ndarray
    rotation: Quaternion


class Smoother:
    """
    A filter of position and velocity (alpha-beta, critically damped).

    It follows a hand that moves steadily without lag, which an average would not, and takes off
    most of the tremor and of the jumps between samples that come at 30 Hz.
    """

    def __init__(self, value: np.ndarray) -> None:
        self._size = len(value)
        self.value = value.astype(float)
        self._velocity = np.zeros(self._size)
        self._at: float | None = None

    def add(self, value: np.ndarray, now: float) -> None:
        """Add a sample; `now` in seconds."""
        if self._at is None:
            self.value, self._at = value.astype(float), now
            return
        step = now - self._at
        if step <= 0.0:
            return
        keep = 0.5 ** (step / _SETTLE)
        if step > _FORGET:
            self._velocity = np.zeros(self._size)
        ahead = self.value + self._velocity * step
        error = value - ahead
        self.value = ahead + (1.0 - keep**2) * error
        self._velocity = self._velocity + (1.0 - keep) ** 2 * error / step
        self._at = now

    def at(self, now: float) -> np.ndarray:
        """Return the extrapolated value."""
        if self._at is None or now - self._at > _FORGET:
            return self.value
        ahead: np.ndarray = self.value + self._velocity * max(0.0, now - self._at)
        return ahead


class Hand:
    """
    One hand on one tip.

    While the grip is held, the tip follows the displacement of the hand (a clutch).  Between two
    grips the hand moves back without the tip.
    """

    def __init__(self) -> None:
        self.is_gripping = False
        self._hand_start: tuple[np.ndarray, Quaternion] | None = None
        self._tip_start: TipPose | None = None
        self._offset = Smoother(np.zeros(6))

    def move(self, controller: XrController, tip: TipPose, now: float) -> None:
        """
        Add a sample.

        :param tip: current target of the tip.
        :param now: seconds.
        """
        was_held = self.is_gripping
        self.is_gripping = controller.grip >= (GRIP_RELEASE if was_held else GRIP)
        if controller.pressed('primary'):
            self.is_gripping = False
        if not self.is_gripping:
            return
        position = np.array(z_up(controller.pose.translation))
        rotation = z_up_quaternion(controller.pose.rotation)
        if not was_held or self._hand_start is None:
            self._hand_start, self._tip_start = (position, rotation), tip
            self._offset = Smoother(np.zeros(6))
        start, start_rotation = self._hand_start
        way = np.clip(position - start, -MAX_DISPLACEMENT, MAX_DISPLACEMENT)
        turn = np.array(rotation_vector(multiply(rotation, conjugate(start_rotation))))
        self._offset.add(np.concatenate((way, _nearest(turn, self._offset.value[3:]))), now)

    def release(self) -> None:
        """Open the clutch."""
        self.is_gripping = False

    def target(self, now: float) -> TipPose | None:
        """Return the target of the tip, None while the clutch is open."""
        if not self.is_gripping or self._tip_start is None:
            return None
        offset = self._offset.at(now)
        turn = quaternion_of_rotation_vector(offset[3:].tolist())
        return TipPose(
            self._tip_start.position + offset[:3], multiply(turn, self._tip_start.rotation)
        )


def _nearest(turn: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return the equivalent rotation vector that is nearest to the previous one."""
    angle = float(np.linalg.norm(turn))
    if angle < 1e-9:
        return turn
    other = turn * (1.0 - 2.0 * math.pi / angle)
    return min(turn, other, key=lambda way: float(np.linalg.norm(way - before)))


__all__ = ['GRIP', 'Hand', 'Smoother', 'TipPose']
