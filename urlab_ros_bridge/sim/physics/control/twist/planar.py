# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Planar base: two slides and a hinge carry the robot, as in many arm-on-a-base models."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.sim.physics.control.twist.drive import DriveTwist
from urlab_ros_bridge.sim.physics.control.twist.drive import TwistSetupError

_AXES = {'x': (1.0, 0.0, 0.0), 'y': (0.0, 1.0, 0.0), 'yaw': (0.0, 0.0, 1.0)}


class PlanarTwist(DriveTwist):
    """
    Slides along x and y below a hinge about z: the twist is turned by the yaw joint's angle.

    The hinge must come after the slides (later in the same body, or in a body below), as they
    would turn with it otherwise.
    """

    kind: ClassVar[str] = 'planar'

    def _used_actuators(self) -> list[str]:
        return [self.spec.actuators[axis] for axis in _AXES]

    def _inverse_kinematics(self) -> np.ndarray:
        slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
        joints = [
            self._joint(slot, kind)
            for slot, kind in zip(self._slots, (slide, slide, hinge), strict=True)
        ]
        for (name, axis), joint in zip(_AXES.items(), joints, strict=True):
            if not np.allclose(self._model.jnt_axis[joint], axis, atol=1e-6):
                raise TwistSetupError(
                    f'the joint of {name!r} must have the axis {axis}, '
                    f'not {tuple(self._model.jnt_axis[joint].tolist())}'
                )
        # Joint ids follow the tree depth first, so a joint below another one has a greater id.
        if joints[2] < max(joints[:2]):
            raise TwistSetupError('the yaw joint must come after the x and y joints')
        self._yaw = int(self._model.jnt_qposadr[joints[2]])
        self._yaw_zero = float(self._model.qpos0[self._yaw])
        return np.eye(3)

    def _velocities(self, data: mujoco.MjData) -> np.ndarray:
        vx, vy, rate = self.value
        yaw = data.qpos[self._yaw] - self._yaw_zero
        cos, sin = math.cos(yaw), math.sin(yaw)
        return np.array([cos * vx - sin * vy, sin * vx + cos * vy, rate])

    def _within_reach(self, twist: Sequence[float]) -> float:
        # The base may turn while it drives: each slide must manage the whole speed.
        speed = math.hypot(twist[0], twist[1])
        return super()._within_reach((speed, speed, twist[2]))
