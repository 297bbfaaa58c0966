# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""set_sim_options: overrides of the live model options, in MuJoCo's own SI units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.stage import Context
from urlab_ros_bridge.wire.errors import list_names

# Field -> (lowest, highest) value.
_NUMBERS = {
    'timestep': (1e-6, 1.0),
    'density': (0.0, 1e9),
    'viscosity': (0.0, 1e9),
    'impratio': (1e-9, 1e9),
    'tolerance': (0.0, 1e9),
    'noslip_tolerance': (0.0, 1e9),
    'ccd_tolerance': (0.0, 1e9),
    'sleep_tolerance': (0.0, 1e9),
}
_COUNTS = ('iterations', 'ls_iterations', 'noslip_iterations', 'ccd_iterations')
_VECTORS = ('gravity', 'wind', 'magnetic')
_MASKS = ('disableflags', 'enableflags')
_ENUMS: dict[str, dict[str, int]] = {
    'integrator': {
        'euler': int(mujoco.mjtIntegrator.mjINT_EULER),
        'rk4': int(mujoco.mjtIntegrator.mjINT_RK4),
        'implicit': int(mujoco.mjtIntegrator.mjINT_IMPLICIT),
        'implicitfast': int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST),
    },
    'cone': {
        'pyramidal': int(mujoco.mjtCone.mjCONE_PYRAMIDAL),
        'elliptic': int(mujoco.mjtCone.mjCONE_ELLIPTIC),
    },
    'solver': {
        'pgs': int(mujoco.mjtSolver.mjSOL_PGS),
        'cg': int(mujoco.mjtSolver.mjSOL_CG),
        'newton': int(mujoco.mjtSolver.mjSOL_NEWTON),
    },
}
# Threads of the constraint solver are not offered by the Python bindings: 0 is the only value.
_MAX_WORKERS = 0
_COUNT_LIMIT = 100_000  # a step of the solver must end, or the server cannot be stopped
# The first number beyond all bits that MuJoCo knows.
_MASK_LIMITS = {
    'disableflags': 1 << int(mujoco.mjtDisableBit.mjNDISABLE),
    'enableflags': 1 << int(mujoco.mjtEnableBit.mjNENABLE),
}
READ_ONLY = 'max_worker_threads'
_STORED = (*_NUMBERS, *_COUNTS, *_VECTORS, *_MASKS, *_ENUMS)
FIELDS = (
    *_STORED,
    'enable_multiccd',
    'enable_sleep',
    'num_worker_threads',
)


def set_sim_options(context: Context, session: ServerSession, fields: Fields) -> dict[str, Any]:
    """
    Check every listed field, then apply them all; the reply echoes the resulting options.

    Options that MuJoCo refuses together are undone and answered with its own message.
    """
    fields.need('options')
    given = fields.mapping('options')
    model = context.world.model
    options = model.opt
    part = Fields(given, 'options.')
    changes: list[Callable[[], None]] = []
    for name, value in given.items():
        if name == READ_ONLY:
            continue  # so that a whole echo can be sent back
        if name not in FIELDS:
            raise OpError('bad_value', f'options.{name} ({list_names("option", FIELDS, 40)})')
        if value is not None:
            changes.append(_change(options, part, name))
    before = {name: np.array(getattr(options, name)) for name in _STORED}
    for apply in changes:
        apply()
    try:
        mujoco.mj_step(model, mujoco.MjData(model))
    except mujoco.FatalError as error:
        for name, value in before.items():
            _store(options, name, value)
        raise OpError('bad_value', f'options: MuJoCo refuses them together: {error}') from error
    context.engine.revision += 1
    context.engine.invalidate()
    return {'options': describe(options)}


def describe(options: Any) -> dict[str, Any]:
    """Return all accepted fields with their present values."""
    out: dict[str, Any] = {name: float(getattr(options, name)) for name in _NUMBERS}
    out.update({name: int(getattr(options, name)) for name in (*_COUNTS, *_MASKS)})
    out.update({name: getattr(options, name).tolist() for name in _VECTORS})
    for name, values in _ENUMS.items():
        present = int(getattr(options, name))
        out[name] = next((word for word, number in values.items() if number == present), '')
    out['enable_multiccd'] = not options.disableflags & int(mujoco.mjtDisableBit.mjDSBL_MULTICCD)
    out['enable_sleep'] = bool(options.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP))
    out['num_worker_threads'] = 0
    out['max_worker_threads'] = _MAX_WORKERS
    return out


def _change(options: Any, part: Fields, name: str) -> Callable[[], None]:
    """Check one field and return what sets it."""
    if name in _VECTORS:
        values = part.need_vector(name)
        if len(values) != 3:
            raise bad_value(f'options.{name}', values.tolist(), 'a vector of 3')
        return lambda: _store(options, name, values)
    if name in ('enable_multiccd', 'enable_sleep'):
        return _flag(options, name, part.boolean(name))
    value = _scalar(part, name)
    if name == 'num_worker_threads':
        return lambda: None
    return lambda: setattr(options, name, value)


def _scalar(part: Fields, name: str) -> float | int:
    if name in _ENUMS:
        return _ENUMS[name][part.choice(name, _ENUMS[name])]
    if name in _NUMBERS:
        low, high = _NUMBERS[name]
        return part.need_number(name, low=low, high=high)
    value = part.integer(name, 0)
    limit = _MASK_LIMITS.get(name, _COUNT_LIMIT + 1)
    if not 0 <= value < limit:
        raise bad_value(f'options.{name}', value, f'a whole number from 0 to {limit - 1}')
    return value


def _store(options: Any, name: str, value: np.ndarray) -> None:
    if name in _VECTORS:
        getattr(options, name)[:] = value
    else:
        setattr(options, name, value.item())


def _flag(options: Any, name: str, enabled: bool) -> Callable[[], None]:
    """Multi-CCD is a disable bit in today's MuJoCo, sleeping an enable bit."""
    field, bit, on = {
        'enable_multiccd': ('disableflags', int(mujoco.mjtDisableBit.mjDSBL_MULTICCD), False),
        'enable_sleep': ('enableflags', int(mujoco.mjtEnableBit.mjENBL_SLEEP), True),
    }[name]

    def apply() -> None:
        mask = getattr(options, field)
        setattr(options, field, mask | bit if enabled is on else mask & ~bit)

    return apply


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register('set_sim_options', set_sim_options)
