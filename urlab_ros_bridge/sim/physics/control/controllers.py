# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Controllers: how the setpoints of an articulation become MuJoCo controls."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.model import as_index
from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.schema import Key
from urlab_ros_bridge.schema import Place
from urlab_ros_bridge.schema import SchemaError
from urlab_ros_bridge.schema.sections import read_value


class InvalidControllerParameters(SchemaError):
    """Parameters do not fit the schema of the controller; nothing was changed."""


class Controller(ABC):
    """
    The controller of one articulation; it runs before every physics step.

    Subclasses are built from the compiled model, the ids of the articulation's actuators in
    ascending order, their local names in the same order, and the sidecar's `controller` mapping.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        model: mujoco.MjModel,
        actuator_ids: np.ndarray,
        actuator_names: Sequence[str],
        config: dict | None = None,
    ) -> None:
        self.actuator_names = list(actuator_names)
        self.bound = np.zeros(len(self.actuator_names), dtype=bool)
        """(nu_local,) True for the actuators whose ctrl this controller writes."""
        given = {name: value for name, value in (config or {}).items() if name != 'kind'}
        wanted = given.pop('actuators', None)
        self._bind(model, np.asarray(actuator_ids, dtype=np.intp), wanted)
        self.configure(given)

    @abstractmethod
    def _bind(self, model: mujoco.MjModel, ids: np.ndarray, wanted: list[str] | None) -> None:
        """Choose the actuators that are `bound`, of the `wanted` names (None: all)."""

    @abstractmethod
    def params(self) -> dict:
        """Return the current parameters, as `hello` and `configure_controller` report them."""

    @abstractmethod
    def schema(self) -> dict:
        """Return {parameter: {type, dtype, min}}, as `hello` reports it."""

    @abstractmethod
    def configure(self, params: dict) -> None:
        """
        Change the given parameters and no others, all of them or none.

        Raises
        ------
        InvalidControllerParameters
            An unknown parameter or actuator, a value of the wrong type or out of range.
        """

    @abstractmethod
    def compute(
        self, model: mujoco.MjModel, data: mujoco.MjData, setpoint: np.ndarray, ctrl: np.ndarray
    ) -> None:
        """
        Write the controls of the `bound` actuators.

        setpoint and ctrl are (nu_local,) arrays in the order of the actuators; ctrl is a view of
        the articulation's part of ``data.ctrl``, or a copy that the caller writes back.
        """

    def position_gains(self) -> tuple[np.ndarray, np.ndarray] | None:
        """
        Return stiffness and damping of position setpoints, None if setpoints are not positions.

        Both are (nu_local,), N m/rad and N m s/rad (N/m and N s/m of slides); 0 where not bound.
        """
        return None


class PassthroughController(Controller):
    """Setpoints go to the actuators as they are; there is nothing to configure."""

    kind: ClassVar[str] = 'base'

    def _bind(self, model: mujoco.MjModel, ids: np.ndarray, wanted: list[str] | None) -> None:
        self.bound[:] = True

    def params(self) -> dict:
        return {}

    def schema(self) -> dict:
        return {}

    def configure(self, params: dict) -> None:
        for given in _place(params).mapping().values():
            raise given.fail('unknown parameter; there are none')

    def compute(
        self, model: mujoco.MjModel, data: mujoco.MjData, setpoint: np.ndarray, ctrl: np.ndarray
    ) -> None:
        ctrl[:] = setpoint


# Parameter -> default of the stock plugin (MjPDController.cpp), in rad, m, N and N m.
GAINS: dict[str, float] = {'kp': 100.0, 'kv': 5.0, 'torque_limit': 200.0}

_GAIN = Key(low=0.0, high=float(np.finfo(np.float32).max))
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

    def _bind(self, model: mujoco.MjModel, ids: np.ndarray, wanted: list[str] | None) -> None:
        joints = model.actuator_trnid[ids, 0]
        drives_joint = model.actuator_trntype[ids] == int(mujoco.mjtTrn.mjTRN_JOINT)
        for slot in np.flatnonzero(drives_joint):
            self.bound[slot] = model.jnt_type[joints[slot]] in _SCALAR_JOINTS
        if wanted is not None:
            able = [name for name, ok in zip(self.actuator_names, self.bound, strict=True) if ok]
            for name in wanted:
                if name not in able:
                    problem = f'{name!r} does not drive a hinge or slide joint'
                    raise InvalidControllerParameters(
                        '', 'actuators', f'{problem}; {hint(name, able)}'
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
        self._overrides: dict[str, dict[str, float]] = {gain: {} for gain in GAINS}
        self._defaults = dict(GAINS)
        n = len(slots)
        self._gains = {gain: np.empty(n) for gain in GAINS}
        self._limit_below, self._torque, self._buffer = np.empty((3, n))

    def params(self) -> dict:
        per_joint: dict[str, Any] = {gain: dict(self._overrides[gain]) for gain in GAINS}
        return per_joint | {f'default_{gain}': self._defaults[gain] for gain in GAINS}

    def schema(self) -> dict:
        limits = {'dtype': 'float32', 'min': 0}
        return {gain: {'type': 'per_joint', **limits} for gain in GAINS} | {
            f'default_{gain}': {'type': 'scalar', **limits} for gain in GAINS
        }

    def configure(self, params: dict) -> None:
        overrides = {gain: dict(values) for gain, values in self._overrides.items()}
        defaults = dict(self._defaults)
        for name, given in _place(params).mapping(*self.schema()).items():
            if name in GAINS:
                for actuator, value in given.mapping().items():
                    if actuator not in self._bound_names:
                        raise value.fail(f'is not bound; {hint(actuator, self._bound_names)}')
                    overrides[name][actuator] = read_value(_GAIN, float, value)
            else:
                defaults[name.removeprefix('default_')] = read_value(_GAIN, float, given)
        self._overrides, self._defaults = overrides, defaults
        for gain, values in self._gains.items():
            values[:] = [overrides[gain].get(name, defaults[gain]) for name in self._bound_names]
        np.negative(self._gains['torque_limit'], out=self._limit_below)

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


def _place(params: dict) -> Place:
    return Place(params, 'params', error=InvalidControllerParameters)


_CLASSES: dict[str, type[Controller]] = {
    cls.kind: cls for cls in (PdController, PassthroughController)
}


def make_controller(
    spec: dict | None,
    model: mujoco.MjModel,
    actuator_ids: np.ndarray,
    actuator_names: Sequence[str],
) -> Controller | None:
    """
    Return the controller that a sidecar asks for, or None if it asks for none.

    spec: {kind, and the parameters of that kind}; the names in it are local actuator names.

    Raises
    ------
    InvalidControllerParameters
        A parameter or an actuator is unknown, or a value is out of range.
    """
    if spec is None:
        return None
    return _CLASSES[spec['kind']](model, actuator_ids, actuator_names, spec)
