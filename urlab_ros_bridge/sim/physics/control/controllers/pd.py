# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The PD controller of the protocol: position setpoints become limited joint torques."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.sim.model.articulation import as_index
from urlab_ros_bridge.sim.physics.control.controllers.base import Controller
from urlab_ros_bridge.sim.physics.control.controllers.base import InvalidControllerParameters

# Parameter -> default of the stock plugin (MjPDController.cpp), in rad, m, N and N m.
GAINS: dict[str, float] = {'kp': 100.0, 'kv': 5.0, 'torque_limit': 200.0}

_FLOAT32_MAX = float(np.finfo(np.float32).max)
_SCALAR_JOINTS = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


class PdController(Controller):
    """
    torque = kp (target - q) - kv qd, clamped to +-torque_limit and written to ``ctrl``.

    The target is the setpoint, clamped to the joint's range if it is limited.  Bound are the
    actuators that drive a hinge or a slide joint, or only those named by the config key
    `actuators`; every other actuator is left as it is.  The per-joint parameters are keyed by
    the local name of the actuator, and an actuator without an entry takes the default.
    """

    kind: ClassVar[str] = 'pd'

    def __init__(
        self,
        model: mujoco.MjModel,
        actuator_ids: np.ndarray,
        actuator_names: Sequence[str],
        config: dict | None = None,
    ) -> None:
        super().__init__(model, actuator_ids, actuator_names, config)
        config = dict(config or {})
        config.pop('kind', None)
        self._bind(model, np.asarray(actuator_ids, dtype=np.intp), config.pop('actuators', None))
        self._overrides: dict[str, dict[str, float]] = {gain: {} for gain in GAINS}
        self._defaults = dict(GAINS)
        n = len(self._bound_names)
        self._gains = {gain: np.empty(n) for gain in GAINS}
        self._limit_below = np.empty(n)
        self._torque = np.empty(n)
        self._buffer = np.empty(n)
        self.configure(config)

    def _bind(self, model: mujoco.MjModel, ids: np.ndarray, wanted: list[str] | None) -> None:
        joints = model.actuator_trnid[ids, 0]
        drives_joint = model.actuator_trntype[ids] == int(mujoco.mjtTrn.mjTRN_JOINT)
        for slot in np.flatnonzero(drives_joint):
            self.bound[slot] = model.jnt_type[joints[slot]] in _SCALAR_JOINTS
        if wanted is not None:
            able = [name for name, ok in zip(self.actuator_names, self.bound, strict=True) if ok]
            for name in wanted:
                if name not in able:
                    raise InvalidControllerParameters(
                        'actuators',
                        f'{name!r} does not drive a hinge or slide joint',
                        'actuator',
                        able,
                    )
            self.bound &= np.isin(self.actuator_names, wanted)
        slots = np.flatnonzero(self.bound)
        joints = joints[slots]
        self._bound_names = [self.actuator_names[slot] for slot in slots]
        # Slices where the model allows: they are views, index arrays copy.
        self._slots = as_index(slots.tolist())
        self._qpos = as_index(model.jnt_qposadr[joints].tolist())
        self._qvel = as_index(model.jnt_dofadr[joints].tolist())
        limited = model.jnt_limited[joints].astype(bool)
        self._low = np.where(limited, model.jnt_range[joints, 0], -np.inf)
        self._high = np.where(limited, model.jnt_range[joints, 1], np.inf)

    def params(self) -> dict:
        per_joint: dict[str, Any] = {gain: dict(self._overrides[gain]) for gain in GAINS}
        return per_joint | {f'default_{gain}': self._defaults[gain] for gain in GAINS}

    def schema(self) -> dict:
        limits = {'dtype': 'float32', 'min': 0}
        return {gain: {'type': 'per_joint', **limits} for gain in GAINS} | {
            f'default_{gain}': {'type': 'scalar', **limits} for gain in GAINS
        }

    def configure(self, params: dict) -> None:
        if not isinstance(params, Mapping):
            raise InvalidControllerParameters('params', f'must be a map, not {shown(params)}')
        names = [*GAINS, *(f'default_{gain}' for gain in GAINS)]
        overrides = {gain: dict(values) for gain, values in self._overrides.items()}
        defaults = dict(self._defaults)
        for key, value in params.items():
            field = f'params.{key!s:.80}'
            if key in GAINS:
                overrides[key].update(self._per_joint(field, value))
            elif key in names:
                defaults[key.removeprefix('default_')] = _gain(field, value)
            else:
                raise InvalidControllerParameters(field, 'unknown parameter', 'parameter', names)
        self._overrides, self._defaults = overrides, defaults
        for gain, values in self._gains.items():
            values[:] = [overrides[gain].get(name, defaults[gain]) for name in self._bound_names]
        np.negative(self._gains['torque_limit'], out=self._limit_below)

    def _per_joint(self, field: str, values: object) -> dict[str, float]:
        if not isinstance(values, Mapping):
            raise InvalidControllerParameters(
                field, f'must be a map of actuator names to numbers, not {shown(values)}'
            )
        bound = self._bound_names
        for name in values:
            if name not in bound:
                raise InvalidControllerParameters(
                    f'{field}.{name!s:.80}',
                    'not an actuator of this controller',
                    'actuator',
                    bound,
                )
        return {name: _gain(f'{field}.{name}', value) for name, value in values.items()}

    def position_gains(self) -> tuple[np.ndarray, np.ndarray]:
        stiffness, damping = np.zeros((2, len(self.actuator_names)))
        stiffness[self._slots], damping[self._slots] = self._gains['kp'], self._gains['kv']
        return stiffness, damping

    def compute(
        self, model: mujoco.MjModel, data: mujoco.MjData, setpoint: np.ndarray, ctrl: np.ndarray
    ) -> None:
        torque, buffer = self._torque, self._buffer
        np.maximum(setpoint[self._slots], self._low, out=torque)
        np.minimum(torque, self._high, out=torque)
        torque -= data.qpos[self._qpos]
        torque *= self._gains['kp']
        np.multiply(data.qvel[self._qvel], self._gains['kv'], out=buffer)
        torque -= buffer
        np.maximum(torque, self._limit_below, out=torque)
        np.minimum(torque, self._gains['torque_limit'], out=torque)
        ctrl[self._slots] = torque


def _gain(field: str, value: object) -> float:
    """Return a number that fits in a float32 and is not negative; bool is not a number."""
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and (0 <= value <= _FLOAT32_MAX)
    ):
        return float(value)
    raise InvalidControllerParameters(field, f'must be a finite number >= 0, not {shown(value)}')
