# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Arms moved by dragging their tips with a mouse, by the same control as with controllers."""

from __future__ import annotations

from collections.abc import Sequence
import threading
import time
from typing import Any

import numpy as np

from urlab_ros_bridge.gateways.simulation.robot import ActuatedRobot
from urlab_ros_bridge.gateways.virtual_field.protocol.fields import IDENTITY
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up_pose
from urlab_ros_bridge.gateways.virtual_field.scene.chains import ArmChain
from urlab_ros_bridge.gateways.virtual_field.scene.live_scene import LiveScene
from urlab_ros_bridge.gateways.virtual_field.steering.hand import TipPose
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import can_turn
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import grippers_of
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import is_steerable
from urlab_ros_bridge.gateways.virtual_field.steering.tip_control import TipControl
from urlab_ros_bridge.geometry import multiply
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import Quaternion
from urlab_ros_bridge.geometry import Vector

# A page sends about 30 requests per second; after a pause an arm does not catch up (s).
_LONGEST_PERIOD = 0.1
# Radius of a handle relative to the reach of its arm, and its limits (m).
_OF_REACH, _SMALLEST, _LARGEST = 0.03, 0.0025, 0.022


def find_tips(scene: LiveScene) -> tuple[ArmChain, ...]:
    """Return the arms whose tips can be moved; the index of each is its number."""
    return tuple(arm for arm in scene.arms if is_steerable(scene.robots[arm.prefix], arm))


def describe_tips(scene: LiveScene, tips: Sequence[ArmChain]) -> list[dict[str, Any]]:
    """Return the descriptions of tips for a page; lengths in m, y up."""
    return [
        {
            'id': number,
            'robot': tip.prefix,
            'name': tip.name,
            'body': tip.nodes[-1].body,
            'offset': y_up_pose(Pose(tip.nodes[-1].place))[:3],
            'radius': round(handle_radius(tip), 5),
            'turns': can_turn(tip),
            'grips': bool(grippers_of(scene.robots[tip.prefix], tip)),
        }
        for number, tip in enumerate(tips)
    ]


def handle_radius(arm: ArmChain) -> float:
    """Return the radius of the handle of an arm (m), in proportion to its reach."""
    return min(max(_OF_REACH * arm.reach, _SMALLEST), _LARGEST)


class LedTip:
    """One tip that a mouse moves; it keeps its initial orientation.  Thread-safe."""

    def __init__(self, model: Any, robot: ActuatedRobot, arm: ArmChain) -> None:
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
        """Grab the tip at its current pose; `qpos` is of the whole model."""
        with self._lock:
            self._held = self._control.begin(qpos)
            self._led_at = time.monotonic()

    def lead(
        self, qpos: np.ndarray, position: Vector, turn: Quaternion = IDENTITY
    ) -> dict[str, float]:
        """
        Return setpoints, actuator -> control, that bring the tip nearer to a pose.

        :param qpos: of the whole model, shape (nq,).
        :param position: of the tip in the world, m.
        :param turn: rotation since the tip was taken, about the axes of the world, x y z w.
        """
        now = time.monotonic()
        with self._lock:
            if self._held is None:
                self._held = self._control.begin(qpos)
            period = min(max(now - self._led_at, 1e-3), _LONGEST_PERIOD)
            self._led_at = now
            rotation = multiply(turn, self._held.rotation)
            target = TipPose(np.array(position), rotation)
            return self._control.lead(qpos, target, period)

    def grip(self, closed: float) -> dict[str, float]:
        """Return setpoints of the gripper; 0 opens it, 1 closes it."""
        with self._lock:
            return self._control.grip(closed)


__all__ = ['LedTip', 'describe_tips', 'find_tips', 'handle_radius']
