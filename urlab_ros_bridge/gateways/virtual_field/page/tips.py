# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Arms that a mouse leads by their tips: the same arms, led in the same way, as by controllers."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from urlab_ros_bridge.gateways.simulation.robot import ServedRobot
from urlab_ros_bridge.gateways.virtual_field.scene.chains import ArmChain
from urlab_ros_bridge.gateways.virtual_field.scene.served import ServedScene
from urlab_ros_bridge.gateways.virtual_field.steering.hand import TipPose
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import is_steerable
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import TipControl
from urlab_ros_bridge.geometry import Vector

# A page asks about 30 times a second; after a pause an arm does not make good all of it (s).
_LONGEST_PERIOD = 0.1
# Radius of a handle beside the reach of its arm, and within which limits (m).
_OF_REACH, _SMALLEST, _LARGEST = 0.03, 0.0025, 0.022


def find_tips(served: ServedScene) -> tuple[ArmChain, ...]:
    """Return the arms whose tips can be led: the place of each is its number."""
    return tuple(arm for arm in served.arms if is_steerable(served.robots[arm.prefix], arm))


def handle_radius(arm: ArmChain) -> float:
    """Return the radius of the handle of an arm, in m: a finger has a smaller one than a crane."""
    return min(max(_OF_REACH * arm.reach, _SMALLEST), _LARGEST)


class LedTip:
    """One tip that a mouse leads, with the orientation that it had at first.  Thread-safe."""

    def __init__(self, model: Any, robot: ServedRobot, arm: ArmChain) -> None:
        """
        Prepare the inverse kinematics.

        :param model: mujoco.MjModel.
        :raises RobotError: when mink is not installed.
        """
        self.prefix = arm.prefix
        self._control = TipControl(model, robot, arm)
        self._lock = threading.Lock()
        self._held: TipPose | None = None
        self._led_at = 0.0

    def begin(self, qpos: np.ndarray) -> None:
        """Take hold of the tip where it is; `qpos` is of the whole model."""
        with self._lock:
            self._held = self._control.begin(qpos)
            self._led_at = time.monotonic()

    def lead(self, qpos: np.ndarray, position: Vector) -> dict[str, float]:
        """
        Return setpoints, actuator -> control, that bring the tip nearer to a place.

        :param qpos: of the whole model, shape (nq,).
        :param position: of the tip in the world, m.
        """
        now = time.monotonic()
        with self._lock:
            if self._held is None:
                self._held = self._control.begin(qpos)
            period = min(max(now - self._led_at, 1e-3), _LONGEST_PERIOD)
            self._led_at = now
            target = TipPose(np.array(position), self._held.rotation)
            return self._control.lead(qpos, target, period)


__all__ = ['LedTip', 'find_tips', 'handle_radius']
