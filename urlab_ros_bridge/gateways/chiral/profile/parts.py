# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of an action vector: each converts some of its numbers into setpoints."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from urlab_ros_bridge.gateways.chiral.errors import BadAction
from urlab_ros_bridge.gateways.chiral.profile.rotations import ROTATIONS
from urlab_ros_bridge.gateways.chiral.profile.rotations import to_matrix
from urlab_ros_bridge.gateways.motion.ik import PoseSolver
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.model import Actuator


class Scene(Protocol):
    """The poses that actions need."""

    @property
    def qpos(self) -> np.ndarray:
        """Positions of the whole model."""

    def pose(self, kind: str, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return world position, shape (3,), and rotation matrix of a body or site."""


class ActionPart(ABC):
    """
    Some consecutive numbers of the action.

    :ivar size: how many; `label` is what they are, for the metadata.
    :ivar actuators: those that it sets; `smooth`: whether they move there gradually.
    :ivar takes: names of others that the server moves because of it.
    """

    size: int
    label: str
    smooth = True
    actuators: Sequence[Actuator] = ()
    takes: Sequence[str] = ()

    @abstractmethod
    def apply(self, values: np.ndarray, target: Target, scene: Scene) -> None:
        """
        Change `target`, which holds the previous setpoint.

        :raises BadAction: for invalid values.
        """


class JointPart(ActionPart):
    """
    Joints of actuators that hold a position.

    :param relative: the numbers are added to the previous target.
    :param scale: factor of the numbers (a velocity times the control period).
    """

    def __init__(
        self,
        actuators: Sequence[Actuator],
        label: str,
        relative: bool,
        max_jump: float | None,
        clip: bool,
        scale: float = 1.0,
    ) -> None:
        self.size = len(actuators)
        self.label = label
        self.actuators = actuators
        self._relative = relative
        self._max_jump = max_jump
        self._clip = clip
        self._scale = scale

    def apply(self, values: np.ndarray, target: Target, scene: Scene) -> None:
        for actuator, value in zip(self.actuators, values.tolist(), strict=True):
            before = target.ctrl[actuator.name]
            step = value * self._scale if self._relative else value * actuator.gear - before
            target.ctrl[actuator.name] = before + self._limited(actuator.name, step)

    def _limited(self, name: str, step: float) -> float:
        limit = self._max_jump
        if limit is None or abs(step) <= limit:
            return step
        if self._clip:
            return limit if step > 0 else -limit
        raise BadAction(f'{name} jumps by {step:.3f}, allowed is {limit:g}')


class DirectPart(ActionPart):
    """Controls that are written as they are: velocities, torques, anything."""

    smooth = False

    def __init__(self, actuators: Sequence[Actuator], label: str) -> None:
        self.size = len(actuators)
        self.label = label
        self.actuators = actuators

    def apply(self, values: np.ndarray, target: Target, scene: Scene) -> None:
        for actuator, value in zip(self.actuators, values.tolist(), strict=True):
            target.ctrl[actuator.name] = min(max(value, actuator.low), actuator.high)


class ForcePart(DirectPart):
    """Velocities or torques of joints: what the actuator gets is seen through its gear."""

    def __init__(self, actuators: Sequence[Actuator], label: str, inverse: bool) -> None:
        super().__init__(actuators, label)
        # A velocity actuator follows gear * joint velocity; a motor gives gear * control.
        self._factors = np.array([1 / a.gear if inverse else a.gear for a in actuators])

    def apply(self, values: np.ndarray, target: Target, scene: Scene) -> None:
        super().apply(values * self._factors, target, scene)


class GripperPart(ActionPart):
    """One number from 0 (closed) to 1 (open) for all actuators of a gripper."""

    size = 1

    def __init__(self, ends: Sequence[tuple[Actuator, float, float]], label: str) -> None:
        self.label = label
        self.actuators = [actuator for actuator, _, _ in ends]
        self._ends = ends

    def apply(self, values: np.ndarray, target: Target, scene: Scene) -> None:
        share = min(max(float(values[0]), 0.0), 1.0)
        for actuator, closed, opened in self._ends:
            target.ctrl[actuator.name] = closed + share * (opened - closed)


class PosePart(ActionPart):
    """
    Pose of an end effector, x y z and a rotation, reached by inverse kinematics.

    :param relative: the numbers are a displacement and a turn from the previous target.
    """

    def __init__(
        self,
        solver: PoseSolver,
        actuators: Sequence[Actuator],
        rotation: str,
        reference: tuple[str, str],
        label: str,
        relative: bool,
        limits: JointPart,
    ) -> None:
        self.size = 3 + ROTATIONS[rotation]
        self.label = label
        self.actuators = actuators
        self._solver = solver
        self._rotation = rotation
        self._reference = reference
        self._relative = relative
        self._limits = limits

    def apply(self, values: np.ndarray, target: Target, scene: Scene) -> None:
        try:
            turn = to_matrix(values[3:], self._rotation)
        except ValueError as error:
            raise BadAction(f'{self.label}: {error}') from error
        seed = np.array([target.ctrl[a.name] / a.gear for a in self.actuators])
        origin, axes = scene.pose(*self._reference)
        position, rotation = origin + axes @ values[:3], axes @ turn
        if self._relative:
            there, attitude = self._solver.forward(scene.qpos, seed)
            position, rotation = there + axes @ values[:3], axes @ turn @ axes.T @ attitude
        self._limits.apply(self._solver.solve(scene.qpos, seed, position, rotation), target, scene)


class TwistPart(ActionPart):
    """
    Velocity of a mobile base, in its own frame.

    :param lateral: whether the numbers are vx, vy, yaw rate, or vx, yaw rate.
    :param takes: actuators that the server moves by it.
    """

    smooth = False

    def __init__(self, lateral: bool, label: str, takes: tuple[str, ...] = ()) -> None:
        self.size = 3 if lateral else 2
        self.label = label
        self.takes = takes
        self._lateral = lateral

    def apply(self, values: np.ndarray, target: Target, scene: Scene) -> None:
        vx, *vy, yaw = values.tolist()
        target.twist = (vx, vy[0] if self._lateral else 0.0, yaw)
