# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Differential drive: wheels on a left and a right track."""

from __future__ import annotations

from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.sim.physics.control.twist.drive import DriveTwist


class DifferentialTwist(DriveTwist):
    """
    Wheel speed = (vx -+ yaw rate * track_width / 2) / wheel_radius, minus on the left.

    A positive wheel speed must roll the robot forward: hinge axis to the left (0 1 0).
    """

    kind: ClassVar[str] = 'differential'

    def _used_actuators(self) -> list[str]:
        return [*self.spec.actuators['left'], *self.spec.actuators['right']]

    def _inverse_kinematics(self) -> np.ndarray:
        for slot in self._slots:
            self._joint(slot, mujoco.mjtJoint.mjJNT_HINGE)
        radius = self.spec.geometry['wheel_radius']
        half = self.spec.geometry['track_width'] / 2
        sides = [-half] * len(self.spec.actuators['left'])
        sides += [half] * len(self.spec.actuators['right'])
        return np.array([(1.0, 0.0, side) for side in sides]) / radius
