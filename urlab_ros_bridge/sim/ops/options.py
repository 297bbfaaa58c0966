# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""set_sim_options: overrides of the live model options, in MuJoCo's own SI units."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.client_models import ClientModels
from urlab_ros_bridge.sim.model.client_models import integration_state
from urlab_ros_bridge.sim.model.client_models.limits import ITERATIONS
from urlab_ros_bridge.sim.model.client_models.limits import LINE_SEARCHES
from urlab_ros_bridge.sim.requests.background import abandonable
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import SimulationHost
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


def _members(enumeration: Any) -> dict[str, int]:
    """Return the members of one of MuJoCo's enumerations, ``mjINT_EULER`` as ``euler``."""
    members = enumeration.__members__.items()
    return {name.partition('_')[2].lower(): int(value) for name, value in members}


_ENUMS = {
    'integrator': _members(mujoco.mjtIntegrator),
    'cone': _members(mujoco.mjtCone),
    'solver': _members(mujoco.mjtSolver),
}
# Threads of the constraint solver are not offered by the Python bindings: 0 is the only value.
_MAX_WORKERS = 0
_SECONDS = 0.1  # estimate, with a trial
# What makes no step longer.
_HARMLESS = {'gravity', 'wind', 'magnetic', 'density', 'viscosity', 'timestep'}
# Field -> (mask of MuJoCo, its bit, whether the bit is set when the field is true).
_FLAGS = {
    'enable_multiccd': ('disableflags', int(mujoco.mjtDisableBit.mjDSBL_MULTICCD), False),
    'enable_sleep': ('enableflags', int(mujoco.mjtEnableBit.mjENBL_SLEEP), True),
}
# The first number beyond all bits that MuJoCo knows.
_MASK_LIMITS = {
    'disableflags': 1 << int(mujoco.mjtDisableBit.mjNDISABLE),
    'enableflags': 1 << int(mujoco.mjtEnableBit.mjNENABLE),
}
READ_ONLY = 'max_worker_threads'
_STORED = (*_NUMBERS, *_COUNTS, *_MASKS, *_VECTORS, *_ENUMS)
FIELDS = (
    *_STORED,
    'enable_multiccd',
    'enable_sleep',
    'num_worker_threads',
)


def set_sim_options(host: SimulationHost, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Check every listed field, then apply them all; the reply echoes the resulting options.

    A step cannot be interrupted.  So options that may make it longer, or that MuJoCo may refuse
    together, are tried in another process first, with the present state.
    """
    fields.need('options')
    given = fields.mapping('options')
    part = Fields(given, 'options.')
    with host.changing:
        simulation = host.running()
        world = simulation.world
        with simulation.engine.lock:
            before = _stored(world.model.opt)
            after = _read(part, given, before)
            state = integration_state(world.model, world.data)
        changed = {name: value for name, value in after.items() if value != before[name]}
        _check_product(after)
        if not changed.keys() <= _HARMLESS:
            abandonable(
                lambda: _try_options(host.client_models, world.model, state, changed),
                lambda: host.draining,
            )
        simulation = host.running()
        options = simulation.world.model.opt
        with simulation.engine.lock:
            for name, value in changed.items():
                _store(options, name, value)
            simulation.engine.revision += 1
            simulation.engine.invalidate()
            return {'options': describe(options)}


def _try_options(
    models: ClientModels, model: mujoco.MjModel, state: np.ndarray, changed: dict[str, Any]
) -> None:
    try:
        models.check_steps(model, state, changed, may_diverge=True)
    except OpError as error:
        if error.code != 'import_failed':
            raise
        raise OpError('bad_value', f'options: {", ".join(changed)}: {error}') from error


def _check_product(options: dict[str, Any]) -> None:
    """
    Bound what a step of the solver can cost at most.

    :raises OpError: bad_value.
    """
    searches = options['iterations'] * options['ls_iterations']
    if searches > LINE_SEARCHES:
        raise bad_value(
            'options: iterations x ls_iterations', searches, f'at most {LINE_SEARCHES}'
        )


def _stored(options: Any) -> dict[str, Any]:
    """Return the fields of MuJoCo's own structure, as numbers and lists."""
    return {name: np.asarray(getattr(options, name)).tolist() for name in _STORED}


def _read(part: Fields, given: Iterable[str], before: dict[str, Any]) -> dict[str, Any]:
    """
    Return the fields of MuJoCo's structure after a request.

    :raises OpError: bad_value, naming the field.
    """
    after = dict(before)
    for name in given:
        if name in (READ_ONLY, 'num_worker_threads') and part.given(name) is not None:
            part.number(name)
            continue  # so that a whole echo can be sent back
        if name not in FIELDS:
            raise OpError('bad_value', f'options.{name:.60} ({list_names("option", FIELDS, 40)})')
        if part.given(name) is None:
            continue
        if name in _FLAGS:
            field, bit, set_when = _FLAGS[name]
            enabled = part.boolean(name) is set_when
            after[field] = after[field] | bit if enabled else after[field] & ~bit
        else:
            after[name] = _value(part, name)
    return after


def describe(options: Any) -> dict[str, Any]:
    """Return all accepted fields with their present values."""
    out = _stored(options)
    for name, values in _ENUMS.items():
        out[name] = next((word for word, number in values.items() if number == out[name]), '')
    out['enable_multiccd'] = not options.disableflags & int(mujoco.mjtDisableBit.mjDSBL_MULTICCD)
    out['enable_sleep'] = bool(options.enableflags & int(mujoco.mjtEnableBit.mjENBL_SLEEP))
    out['num_worker_threads'] = 0
    out['max_worker_threads'] = _MAX_WORKERS
    return out


def _value(part: Fields, name: str) -> Any:
    if name in _VECTORS:
        return part.need_vector(name, 3).tolist()
    if name in _ENUMS:
        return _ENUMS[name][part.choice(name, _ENUMS[name])]
    if name in _NUMBERS:
        low, high = _NUMBERS[name]
        return part.need_number(name, low=low, high=high)
    value = part.integer(name, 0)
    limit = _MASK_LIMITS.get(name, ITERATIONS + 1)
    if not 0 <= value < limit:
        raise bad_value(f'options.{name}', value, f'a whole number from 0 to {limit - 1}')
    return value


def _store(options: Any, name: str, value: Any) -> None:
    if name in _VECTORS:
        getattr(options, name)[:] = value
    else:
        setattr(options, name, value)


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(set_sim_options, changes_world=True, seconds=lambda *_: _SECONDS)
