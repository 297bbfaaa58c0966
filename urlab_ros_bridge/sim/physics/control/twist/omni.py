# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Omnidirectional drive: three or more omni or mecanum wheels."""

from __future__ import annotations

import math
from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.sim.physics.control.twist.drive import DriveTwist
from urlab_ros_bridge.sim.physics.control.twist.drive import TwistSetupError


class OmniTwist(DriveTwist):
    """
    Every wheel forbids slip along the axis of the roller that touches the ground.

    A wheel at `position` (m, base frame) spins about `axis`: the angle of its hinge axis in the
    base frame, pi/2 for a wheel that rolls forward.  Positive speed drives it along
    d = (sin axis, -cos axis).  `roller` is the angle from d to the axis of the lowest roller: 0
    for omni wheels, +-pi/4 for mecanum wheels (-pi/4 at the front left and rear right).
    """

    kind: ClassVar[str] = 'omni'

    def _used_actuators(self) -> list[str]:
        return list(self.spec.actuators['wheels'])

    def _inverse_kinematics(self) -> np.ndarray:
        rows = []
        for slot, wheel in zip(self._slots, self.spec.geometry['wheels'], strict=True):
            self._joint(slot, mujoco.mjtJoint.mjJNT_HINGE)
            x, y = wheel['position']
            along = wheel['axis'] - math.pi / 2 + wheel['roller']
            roller_x, roller_y = math.cos(along), math.sin(along)
            # The wheel centre moves with (vx - yaw y, vy + yaw x); see Siegwart et al.,
            # Introduction to Autonomous Mobile Robots, 3.2.3, for the Swedish wheel.
            rows.append(
                np.array([roller_x, roller_y, x * roller_y - y * roller_x])
                / (wheel['radius'] * math.cos(wheel['roller']))
            )
        matrix = np.array(rows).reshape(-1, 3)
        if np.linalg.matrix_rank(matrix, tol=1e-6 * (np.abs(matrix).max(initial=0.0) or 1.0)) < 3:
            raise TwistSetupError(
                f'the {len(rows)} wheels cannot produce every planar twist: '
                'check position, axis and roller'
            )
        return matrix
