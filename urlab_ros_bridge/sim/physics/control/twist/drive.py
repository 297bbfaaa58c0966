# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Twist controllers that drive velocity actuators."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Iterable
from collections.abc import Sequence
import math
from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.sim.model.sidecar.twists import AckermannSection
from urlab_ros_bridge.sim.model.sidecar.twists import DifferentialSection
from urlab_ros_bridge.sim.model.sidecar.twists import OmniSection
from urlab_ros_bridge.sim.model.sidecar.twists import PlanarSection
from urlab_ros_bridge.sim.model.sidecar.twists import TwistSection
from urlab_ros_bridge.sim.physics.control.twist.controller import TwistController
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError


class TwistSetupError(UrlabError, ValueError):
    """The model or the geometry of a sidecar cannot produce the twists of its kind."""


class DriveTwist(TwistController, ABC):
    """
    Makes the base follow the twist: while it is active it owns its actuators' setpoints.

    The target is also clamped to what the actuators' ctrlrange allows.  Subclasses only define how
    a twist becomes actuator setpoints.
    """

    drives: ClassVar[bool] = True

    def __init__(
        self,
        spec: TwistSection,
        actuator_names: Sequence[str],
        model: mujoco.MjModel,
        actuator_ids: np.ndarray,
    ) -> None:
        super().__init__(spec)
        self._names = list(actuator_names)
        self._model = model
        self._ids = np.asarray(actuator_ids, dtype=np.intp)
        self._slots = self._find(self._used_actuators())
        self._gear = model.actuator_gear[self._addresses('actuator_outadr'), 0].copy()
        self._gear_size = np.abs(self._gear)
        self._reach = self._control_reach()
        self._matrix = self._inverse_kinematics()
        """(n, 3): actuator velocities = matrix @ twist, before gear."""

    @property
    def wheel_matrix(self) -> list[list[float]]:
        """
        Return the wheels' kinematics: joint velocities = matrix @ twist, rows as `actuators`.

        Rows of joints that are no wheels are zero; empty for a drive without wheels.
        """
        return self._matrix.tolist()

    @property
    def actuators(self) -> list[str]:
        return [self._names[slot] for slot in self._slots]

    @abstractmethod
    def _used_actuators(self) -> list[str]:
        """Return the local names of the actuators in the order of the rows of the matrix."""

    @abstractmethod
    def _inverse_kinematics(self) -> np.ndarray:
        """Return the (n, 3) matrix from a twist in the base frame to joint velocities."""

    def apply(self, time: float, data: mujoco.MjData, setpoint: np.ndarray) -> None:
        """
        Write the setpoints of its own actuators for the step that begins at `time`.

        Once at rest it writes zeros, and releases the actuators.
        """
        if not self.active:
            return
        self.advance(time)
        setpoint[self._slots] = self._joint_targets(data) * self._gear

    def _joint_targets(self, data: mujoco.MjData) -> np.ndarray:
        return self._matrix @ self.value

    def _within_reach(self, twist: Sequence[float]) -> float:
        """Return the factor <= 1 that keeps every actuator inside its ctrlrange."""
        worst = float((np.abs(self._matrix @ twist) * self._gear_size / self._reach).max())
        return 1.0 / worst if worst > 1.0 else 1.0

    def _control_reach(self) -> np.ndarray:
        """Return the largest |ctrl| that every actuator takes in both directions."""
        controls = self._addresses('actuator_ctrladr')
        ranges = self._model.actuator_ctrlrange[controls]
        limited = self._model.actuator_ctrllimited[controls].astype(bool)
        reach = np.where(limited, np.minimum(-ranges[:, 0], ranges[:, 1]), np.inf)
        for slot, free in zip(self._slots, reach, strict=True):
            if free <= 0.0:
                raise TwistSetupError(
                    f'the ctrlrange of actuator {self._names[slot]!r} does not '
                    'allow both directions'
                )
        return reach

    def _addresses(self, table: str) -> np.ndarray:
        """Return where its actuators begin in arrays of controls or outputs."""
        ids = self._ids[self._slots]
        # Since MuJoCo 4 an actuator may have several; before, the actuator id was the address.
        return getattr(self._model, table)[ids] if hasattr(self._model, table) else ids

    def _find(self, names: Iterable[str]) -> np.ndarray:
        """Return the local slots of velocity actuators."""
        slots: list[int] = []
        for name in names:
            if name not in self._names:
                raise UnknownName('actuator', name, self._names)
            slot = self._names.index(name)
            if slot in slots:
                raise TwistSetupError(f'the actuator {name!r} is used twice')
            self._check_actuator(name, int(self._ids[slot]))
            slots.append(slot)
        return np.array(slots, dtype=np.intp)

    def _check_actuator(self, name: str, actuator: int) -> None:
        self._check_servo(name, actuator, 'velocity')

    def _check_servo(self, name: str, actuator: int, kind: str) -> None:
        """
        Refuse what is not a <velocity> or <position> actuator of a joint.

        The force of the first is kv (ctrl - gear qd), of the second kp (ctrl - gear q) - kv qd.
        """
        model = self._model
        gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
        position, velocity = (0.0, -gain[0]) if kind == 'velocity' else (-gain[0], bias[2])
        servo = (
            gain[0] > 0.0
            and bias[0] == 0.0
            and bias[1] == position
            and bias[2] == velocity
            and model.actuator_gaintype[actuator] == int(mujoco.mjtGain.mjGAIN_FIXED)
            and model.actuator_biastype[actuator] == int(mujoco.mjtBias.mjBIAS_AFFINE)
            and model.actuator_dyntype[actuator] == int(mujoco.mjtDyn.mjDYN_NONE)
        )
        on_joint = model.actuator_trntype[actuator] == int(mujoco.mjtTrn.mjTRN_JOINT)
        if not servo or not on_joint:
            raise TwistSetupError(
                f'the actuator {name!r} is not a <{kind}> actuator of a joint, '
                'which the twist controller needs there'
            )

    def _joint(self, slot: int, kind: mujoco.mjtJoint) -> int:
        """Return the joint id of an actuator, which must be of the given kind."""
        joint = int(self._model.actuator_trnid[self._ids[slot], 0])
        if self._model.jnt_type[joint] != int(kind):
            raise TwistSetupError(
                f'the actuator {self._names[slot]!r} must drive a {kind.name[6:].lower()} joint'
            )
        return joint


class DifferentialTwist(DriveTwist):
    """
    Wheel speed = (vx -+ yaw rate * track_width / 2) / wheel_radius, minus on the left.

    A positive wheel speed must roll the robot forward: hinge axis to the left (0 1 0).
    """

    spec: DifferentialSection | AckermannSection

    def _used_actuators(self) -> list[str]:
        return [*self.spec.left, *self.spec.right]

    def _inverse_kinematics(self) -> np.ndarray:
        for slot in self._slots:
            self._joint(slot, mujoco.mjtJoint.mjJNT_HINGE)
        spec = self.spec
        half = spec.track_width / 2
        sides = [-half] * len(spec.left) + [half] * len(spec.right)
        return np.array([(1.0, 0.0, side) for side in sides]) / spec.wheel_radius


class AckermannTwist(DifferentialTwist):
    """
    Driven wheels as those of a differential drive, and steered wheels that roll without slip.

    The mean steering angle is atan(wheelbase * yaw rate / vx), within the limit: beyond it the
    robot turns less than commanded, and never in place.  At rest the wheels stay steered.
    """

    spec: AckermannSection

    def _used_actuators(self) -> list[str]:
        self._steering = [self.spec.left_steering, self.spec.right_steering]
        return [*super()._used_actuators(), *self._steering]

    def _check_actuator(self, name: str, actuator: int) -> None:
        self._check_servo(name, actuator, 'position' if name in self._steering else 'velocity')

    def _inverse_kinematics(self) -> np.ndarray:
        spec = self.spec
        sharpest = math.tan(spec.steering_limit) / spec.wheelbase
        if sharpest * spec.track_width / 2 >= 1.0:
            raise TwistSetupError(
                f'with a steering_limit of {spec.steering_limit:g} rad the centre of the '
                'curve lies between the wheels: steering_limit, track_width or wheelbase is wrong'
            )
        return np.vstack([super()._inverse_kinematics(), np.zeros((2, 3))])

    def reset(self) -> None:
        super().reset()
        self._angle = 0.0

    def _joint_targets(self, data: mujoco.MjData) -> np.ndarray:
        base, half = self.spec.wheelbase, self.spec.track_width / 2
        vx, _, rate = self.value
        if vx or rate:
            limit = self.spec.steering_limit
            angle = math.atan2(base * rate * math.copysign(1.0, vx), abs(vx))
            self._angle = min(max(angle, -limit), limit)
        curvature = math.tan(self._angle) / base
        targets = self._matrix @ (vx, 0.0, vx * curvature)
        for index, side in ((-2, half), (-1, -half)):
            targets[index] = math.atan(base * curvature / (1.0 - side * curvature))
        return targets


class OmniTwist(DriveTwist):
    """
    Every wheel forbids slip along the axis of the roller that touches the ground.

    A wheel at `position` (m, base frame) spins about `axis`: the angle of its hinge axis in the
    base frame, pi/2 for a wheel that rolls forward.  Positive speed drives it along
    d = (sin axis, -cos axis).  `roller` is the angle from d to the axis of the lowest roller: 0
    for omni wheels, +-pi/4 for mecanum wheels (-pi/4 at the front left and rear right).
    """

    spec: OmniSection

    def _used_actuators(self) -> list[str]:
        return [wheel.actuator for wheel in self.spec.wheels]

    def _inverse_kinematics(self) -> np.ndarray:
        rows = []
        for slot, wheel in zip(self._slots, self.spec.wheels, strict=True):
            self._joint(slot, mujoco.mjtJoint.mjJNT_HINGE)
            x, y = wheel.position
            along = wheel.axis - math.pi / 2 + wheel.roller
            roller_x, roller_y = math.cos(along), math.sin(along)
            # The wheel centre moves with (vx - yaw y, vy + yaw x); see Siegwart et al.,
            # Introduction to Autonomous Mobile Robots, 3.2.3, for the Swedish wheel.
            rows.append(
                np.array([roller_x, roller_y, x * roller_y - y * roller_x])
                / (wheel.radius * math.cos(wheel.roller))
            )
        matrix = np.array(rows).reshape(-1, 3)
        if np.linalg.matrix_rank(matrix, tol=1e-6 * (np.abs(matrix).max(initial=0.0) or 1.0)) < 3:
            raise TwistSetupError(
                f'the {len(rows)} wheels cannot produce every planar twist: '
                'check position, axis and roller'
            )
        return matrix


_AXES = {'x': (1.0, 0.0, 0.0), 'y': (0.0, 1.0, 0.0), 'yaw': (0.0, 0.0, 1.0)}


class PlanarTwist(DriveTwist):
    """
    Slides along x and y below a hinge about z: the twist is turned by the yaw joint's angle.

    The hinge must come after the slides (later in the same body, or in a body below), as they
    would turn with it otherwise.
    """

    spec: PlanarSection

    def _used_actuators(self) -> list[str]:
        return [self.spec.x, self.spec.y, self.spec.yaw]

    @property
    def wheel_matrix(self) -> list[list[float]]:
        return []

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

    def _joint_targets(self, data: mujoco.MjData) -> np.ndarray:
        vx, vy, rate = self.value
        yaw = data.qpos[self._yaw] - self._yaw_zero
        cos, sin = math.cos(yaw), math.sin(yaw)
        return np.array([cos * vx - sin * vy, sin * vx + cos * vy, rate])

    def _within_reach(self, twist: Sequence[float]) -> float:
        # The base may turn while it drives: each slide must manage the whole speed.
        speed = math.hypot(twist[0], twist[1])
        return super()._within_reach((speed, speed, twist[2]))
