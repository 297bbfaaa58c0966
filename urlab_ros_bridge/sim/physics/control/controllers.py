# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Controllers: how the setpoints of an articulation become MuJoCo controls."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.model import as_index
from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.errors import UrlabError


class InvalidControllerParameters(UrlabError, ValueError):
    """Parameters do not fit the schema of the controller; nothing was changed."""

    def __init__(
        self, field: str, problem: str, kind: str = '', valid: Iterable[str] | None = None
    ) -> None:
        self.field = field
        listed = '' if valid is None else '; ' + list_names(kind, valid)
        super().__init__(f'{field}: {problem}{listed}')


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

    def __init__(
        self,
        model: mujoco.MjModel,
        actuator_ids: np.ndarray,
        actuator_names: Sequence[str],
        config: dict | None = None,
    ) -> None:
        super().__init__(model, actuator_ids, actuator_names, config)
        self.bound[:] = True
        self.configure({key: value for key, value in (config or {}).items() if key != 'kind'})

    def params(self) -> dict:
        return {}

    def schema(self) -> dict:
        return {}

    def configure(self, params: dict) -> None:
        if not isinstance(params, dict):
            raise InvalidControllerParameters('params', f'must be a map, not {shown(params)}')
        if params:
            raise InvalidControllerParameters(
                f'params.{next(iter(params))!s:.80}', 'unknown parameter', 'parameter', ()
            )

    def compute(
        self, model: mujoco.MjModel, data: mujoco.MjData, setpoint: np.ndarray, ctrl: np.ndarray
    ) -> None:
        ctrl[:] = setpoint


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


_CLASSES: tuple[type[Controller], ...] = (PdController, PassthroughController)


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
        The kind or a parameter is unknown, or a value is out of range.
    """
    if spec is None:
        return None
    classes = {cls.kind: cls for cls in _CLASSES}
    kind = spec.get('kind')
    if kind not in classes:
        raise InvalidControllerParameters('kind', f'{kind!r} is unknown', 'kind', classes)
    return classes[kind](model, actuator_ids, actuator_names, spec)


__all__ = [
    'Controller',
    'InvalidControllerParameters',
    'PassthroughController',
    'PdController',
    'make_controller',
]
