# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Twist controllers: a commanded twist of the base, limited and ramped, drives actuators."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Iterable
from collections.abc import Sequence
import math
from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.sim.specs import TwistSpec
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError


class BadTwist(UrlabError, ValueError):
    """A twist or its timeout is not finite, or the timeout is not positive."""


class TwistSetupError(UrlabError, ValueError):
    """The model or the geometry of a sidecar cannot produce the twists of its kind."""


class TwistController(ABC):
    """
    Makes the base follow a twist (vx, vy in m/s, yaw rate in rad/s, in the base frame).

    The target is clamped to the limits and to what the actuators' ctrlrange allows.  The value
    moves to it on a straight line in twist space, no faster than either acceleration limit
    permits, so a robot starts and stops along the arc that was asked for.  All times are sim
    seconds.  Subclasses only say how a twist becomes actuator setpoints.

    :ivar active: it owns its actuators: `apply` overwrites their setpoints.
    :ivar value: (vx, vy, yaw rate) commanded right now, after ramping.
    :ivar actions: bit field of the protocol's `actions` row; no twist controller here has any.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        spec: TwistSpec,
        actuator_names: Sequence[str],
        model: mujoco.MjModel,
        actuator_ids: np.ndarray,
    ) -> None:
        self.spec = spec
        self._names = list(actuator_names)
        self._model = model
        self._ids = np.asarray(actuator_ids, dtype=np.intp)
        limits = spec.limits
        self._bounds = (limits.linear, limits.lateral, limits.angular)
        self.actions = 0
        self._slots = self._find(self._used_actuators())
        self._gear = model.actuator_gear[self._addresses('actuator_outadr'), 0].copy()
        self._reach = self._control_reach()
        self._matrix = self._inverse_kinematics()
        """(n, 3): actuator velocities = matrix @ twist, before gear."""
        self.reset()

    @abstractmethod
    def _used_actuators(self) -> list[str]:
        """Return the local names of the actuators in the order of the rows of the matrix."""

    @abstractmethod
    def _inverse_kinematics(self) -> np.ndarray:
        """Return the (n, 3) matrix from a twist in the base frame to joint velocities."""

    def reset(self) -> None:
        """Forget command, ramp and timeout; the actuators are released as they are."""
        self.active = False
        self.value = (0.0, 0.0, 0.0)
        self._target = (0.0, 0.0, 0.0)
        self._deadline = math.inf
        self._time = -math.inf

    def resume(self, other: TwistController) -> None:
        """Go on with the command of the same robot in a world that this one takes the place of."""
        self.active, self.value, self.actions = other.active, other.value, other.actions
        self._target, self._deadline, self._time = other._target, other._deadline, other._time

    def set(
        self,
        linear: Sequence[float],
        angular: Sequence[float],
        now: float,
        timeout: float | None = None,
    ) -> tuple[float, float, float]:
        """
        Command a twist at sim time `now` and return what the limits leave of it.

        linear: m/s, the first two slots count; angular: rad/s, the third slot counts; missing
            slots are 0.
        timeout: sim seconds after which the target becomes zero unless a new twist came; None
            takes the sidecar's timeout, without one the twist holds.

        Raises
        ------
        BadTwist
            A value is not finite or the timeout is not a positive number; nothing changes.
        """
        wanted = [
            _slot('linear', linear, 0),
            _slot('linear', linear, 1),
            _slot('angular', angular, 2),
        ]
        timeout = self.spec.timeout if timeout is None else timeout
        if timeout is not None and not 0.0 < timeout < math.inf:
            raise BadTwist(f'timeout must be a positive number of seconds, not {timeout!r}')
        clamped = [
            min(max(part, -bound), bound) for part, bound in zip(wanted, self._bounds, strict=True)
        ]
        scale = self._within_reach(clamped)
        self._target = (clamped[0] * scale, clamped[1] * scale, clamped[2] * scale)
        self._deadline = math.inf if timeout is None else now + timeout
        self._activate(now)
        return self._target

    def stop(self, now: float) -> None:
        """Ramp down to rest from sim time `now` on."""
        self._target = (0.0, 0.0, 0.0)
        self._deadline = math.inf
        if self.active:
            self._activate(now)

    def apply(self, time: float, data: mujoco.MjData, setpoint: np.ndarray) -> None:
        """
        Write the setpoints (nu_local,) of its own actuators for the step that begins at `time`.

        Call it before every sub-step.  Once at rest it writes zeros, and releases the actuators.
        """
        if not self.active:
            return
        if time >= self._deadline:
            self._target = (0.0, 0.0, 0.0)
        self._ramp(max(time - self._time, 0.0))
        self._time = time
        setpoint[self._slots] = self._velocities(data) * self._gear
        if not any(self._target) and not any(self.value):
            self.active = False

    def limits(self) -> dict[str, float]:
        """Return the limits that exist, as the handshake tells them: m, s and rad."""
        limits = self.spec.limits
        named = {
            'linear': limits.linear,
            'lateral': limits.lateral,
            'angular': limits.angular,
            'linear_acceleration': limits.linear_acceleration,
            'angular_acceleration': limits.angular_acceleration,
        }
        return {name: value for name, value in named.items() if math.isfinite(value)}

    def _activate(self, now: float) -> None:
        if not self.active:
            self._time = now
            self.active = True

    def _ramp(self, elapsed: float) -> None:
        """Move the value towards the target by at most what `elapsed` seconds permit."""
        if self.value == self._target:
            return
        gap = [target - value for target, value in zip(self._target, self.value, strict=True)]
        limits = self.spec.limits
        fraction = min(
            _share(limits.linear_acceleration, elapsed, math.hypot(gap[0], gap[1])),
            _share(limits.angular_acceleration, elapsed, abs(gap[2])),
        )
        if fraction >= 1.0:
            self.value = self._target
        else:
            value = self.value
            self.value = (
                value[0] + fraction * gap[0],
                value[1] + fraction * gap[1],
                value[2] + fraction * gap[2],
            )

    def _velocities(self, data: mujoco.MjData) -> np.ndarray:
        return self._matrix @ self.value

    def _within_reach(self, twist: Sequence[float]) -> float:
        """Return the factor <= 1 that keeps every actuator inside its ctrlrange."""
        controls = np.abs(self._matrix @ twist) * np.abs(self._gear)
        worst = float(np.max(controls / self._reach))
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
            self._check_velocity_actuator(name, int(self._ids[slot]))
            slots.append(slot)
        return np.array(slots, dtype=np.intp)

    def _check_velocity_actuator(self, name: str, actuator: int) -> None:
        """Refuse what does not make force = kv (ctrl - gear qd), as <velocity> does."""
        model = self._model
        gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
        servo = (
            gain[0] > 0.0
            and bias[2] == -gain[0]
            and bias[0] == 0.0
            and bias[1] == 0.0
            and model.actuator_gaintype[actuator] == int(mujoco.mjtGain.mjGAIN_FIXED)
            and model.actuator_biastype[actuator] == int(mujoco.mjtBias.mjBIAS_AFFINE)
            and model.actuator_dyntype[actuator] == int(mujoco.mjtDyn.mjDYN_NONE)
        )
        on_joint = model.actuator_trntype[actuator] == int(mujoco.mjtTrn.mjTRN_JOINT)
        if not servo or not on_joint:
            raise TwistSetupError(
                f'the actuator {name!r} is no <velocity> actuator of a joint; '
                'a twist controller drives only those'
            )

    def _joint(self, slot: int, kind: mujoco.mjtJoint) -> int:
        """Return the joint id of an actuator, which must be of the given kind."""
        joint = int(self._model.actuator_trnid[self._ids[slot], 0])
        if self._model.jnt_type[joint] != int(kind):
            raise TwistSetupError(
                f'the actuator {self._names[slot]!r} must drive a {kind.name[6:].lower()} joint'
            )
        return joint


def _slot(field: str, values: Sequence[float], index: int) -> float:
    value = float(values[index]) if index < len(values) else 0.0
    if not math.isfinite(value):
        raise BadTwist(f'{field}[{index}] must be finite, not {value}')
    return value


def _share(acceleration: float, elapsed: float, distance: float) -> float:
    """Return which share of `distance` an acceleration covers in the time, 1 if all of it."""
    if distance == 0.0 or math.isinf(acceleration):
        return 1.0
    return min(1.0, acceleration * elapsed / distance)
