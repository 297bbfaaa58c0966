# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of an action vector: each converts some of its numbers into setpoints."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from urlab_ros_bridge.gateways.chiral.errors import BadAction
from urlab_ros_bridge.gateways.chiral.profile.rotations import ROTATIONS
from urlab_ros_bridge.gateways.chiral.profile.rotations import to_matrix
from urlab_ros_bridge.gateways.motion.ik import PoseSolver
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simulation.scene import MirroredScene
from urlab_ros_bridge.model import Actuator


@dataclass(eq=False)
class ActionPart(ABC):
    """
    A slice of the action vector.

    :ivar label: what they are, for the metadata.
    :ivar actuators: those that it sets.
    :cvar smooth: whether their setpoints are interpolated.
    """

    smooth: ClassVar[bool] = True
    label: str
    actuators: Sequence[Actuator]

    @property
    def size(self) -> int:
        """Return the number of its values."""
        return len(self.actuators)

    @property
    def takes(self) -> Sequence[str]:
        """Return the names of further actuators that the server moves as a consequence."""
        return ()

    @abstractmethod
    def apply(self, values: np.ndarray, target: Target, scene: MirroredScene) -> None:
        """
        Change `target`, which holds the previous setpoint.

        :raises BadAction: for invalid values.
        """


@dataclass(eq=False)
class JointPart(ActionPart):
    """
    Joints of actuators that hold a position.

    :ivar relative: whether the numbers are added to the previous target.
    :ivar clip: whether a jump beyond `max_jump` is limited, not rejected.
    :ivar scale: factor of the numbers (a velocity times the control period).
    """

    relative: bool
    max_jump: float | None
    clip: bool
    scale: float

    def apply(self, values: np.ndarray, target: Target, scene: MirroredScene) -> None:
        for actuator, value in zip(self.actuators, values.tolist(), strict=True):
            before = target.ctrl[actuator.name]
            step = value * self.scale if self.relative else value * actuator.gear - before
            target.ctrl[actuator.name] = before + self._limited(actuator.name, step)

    def _limited(self, name: str, step: float) -> float:
        limit = self.max_jump
        if limit is None or abs(step) <= limit:
            return step
        if self.clip:
            return limit if step > 0 else -limit
        raise BadAction(f'{name} jumps by {step:.3f}, allowed is {limit:g}')


class DirectPart(ActionPart):
    """Controls that are written as they are: velocities, torques, anything."""

    smooth = False

    def apply(self, values: np.ndarray, target: Target, scene: MirroredScene) -> None:
        for actuator, value in zip(self.actuators, values.tolist(), strict=True):
            target.ctrl[actuator.name] = min(max(value, actuator.low), actuator.high)


@dataclass(eq=False)
class ForcePart(DirectPart):
    """
    Velocities or torques of joints, through the gear of the actuators.

    :ivar factors: control per number: a velocity actuator follows gear * joint velocity, a motor
        gives gear * control.
    """

    factors: Sequence[float]

    def apply(self, values: np.ndarray, target: Target, scene: MirroredScene) -> None:
        super().apply(values * self.factors, target, scene)


@dataclass(eq=False)
class GripperPart(ActionPart):
    """
    One number from 0 (closed) to 1 (open) for all actuators of a gripper.

    :ivar ends: controls of each actuator, closed and open.
    """

    ends: Sequence[tuple[float, float]]

    @property
    def size(self) -> int:
        return 1

    def apply(self, values: np.ndarray, target: Target, scene: MirroredScene) -> None:
        share = min(max(float(values[0]), 0.0), 1.0)
        for actuator, (closed, opened) in zip(self.actuators, self.ends, strict=True):
            target.ctrl[actuator.name] = closed + share * (opened - closed)


@dataclass(eq=False)
class PosePart(ActionPart):
    """
    Pose of an end effector, x y z and a rotation, reached by inverse kinematics.

    :ivar rotation: representation, a key of `ROTATIONS`.
    :ivar reference: frame that the numbers are relative to.
    :ivar relative: whether the numbers are a displacement and a turn from the previous target.
    :ivar limits: sets the joints, and limits their jumps.
    """

    solver: PoseSolver
    rotation: str
    reference: tuple[str, str]
    relative: bool
    limits: JointPart

    @property
    def size(self) -> int:
        return 3 + ROTATIONS[self.rotation]

    def apply(self, values: np.ndarray, target: Target, scene: MirroredScene) -> None:
        try:
            turn = to_matrix(values[3:], self.rotation)
        except ValueError as error:
            raise BadAction(f'{self.label}: {error}') from error
        seed = np.array([target.ctrl[a.name] / a.gear for a in self.actuators])
        origin, axes = scene.pose(*self.reference)
        position, rotation = origin + axes @ values[:3], axes @ turn
        if self.relative:
            there, attitude = self.solver.forward(scene.qpos, seed)
            position, rotation = there + axes @ values[:3], axes @ turn @ axes.T @ attitude
        self.limits.apply(self.solver.solve(scene.qpos, seed, position, rotation), target, scene)


@dataclass(eq=False)
class TwistPart(ActionPart):
    """
    Velocity of a mobile base, in its own frame.

    :ivar lateral: whether the numbers are vx, vy, yaw rate, or vx, yaw rate.
    :ivar driven: names of the actuators that the server moves by it.
    """

    smooth = False
    lateral: bool
    driven: Sequence[str]

    @property
    def size(self) -> int:
        return 3 if self.lateral else 2

    @property
    def takes(self) -> Sequence[str]:
        return self.driven

    def apply(self, values: np.ndarray, target: Target, scene: MirroredScene) -> None:
        vx, *vy, yaw = values.tolist()
        target.twist = (vx, vy[0] if self.lateral else 0.0, yaw)
