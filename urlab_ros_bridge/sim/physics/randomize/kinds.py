# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What domain randomisation can change: one table of kinds, and the elements that they change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

_FIXED = int(mujoco.mjtGain.mjGAIN_FIXED)
_AFFINE = int(mujoco.mjtGain.mjGAIN_AFFINE)
_BIASES = (int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE))


@dataclass(frozen=True, slots=True)
class Way:
    """
    How drawn numbers are used: as a factor, added, or in place of the compiled value.

    :ivar width: numbers drawn for one element.
    :ivar low: smallest number that a request may ask for; `high` likewise.
    """

    width: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RandomizableKind:
    """
    Something of the model that can be randomised.

    :ivar target: the elements it belongs to, also the request field that selects them.
    :ivar field: the array of the model that is reported.
    :ivar columns: how many of the first columns of that array are changed (0: it has none).
    :ivar scaled: further arrays that a scale multiplies too.
    :ivar visual: cameras show it.
    :ivar derived: constants of the model depend on it (mj_setConst).
    """

    target: str
    field: str
    ways: dict[str, Way]
    columns: int = 0
    scaled: tuple[str, ...] = ()
    visual: bool = False
    derived: bool = False


_FACTOR = Way(1, 0.0, 1e3)
_COLOUR = {'scale': Way(3, 0.0, 1e3), 'value': Way(3, 0.0, 1.0)}

KINDS: dict[str, RandomizableKind] = {
    'mass': RandomizableKind(
        'bodies', 'body_mass', {'scale': Way(1, 1e-3, 1e3)}, scaled=('body_inertia',), derived=True
    ),
    'friction': RandomizableKind(
        'geoms', 'geom_friction', {'scale': _FACTOR, 'value': Way(1, 0.0, 100.0)}, columns=3
    ),
    'damping': RandomizableKind(
        'joints',
        'dof_damping',
        {'scale': _FACTOR, 'value': Way(1, 0.0, 1e6)},
        scaled=('dof_dampingpoly',),
    ),
    'actuator_gain': RandomizableKind(
        'actuators',
        'actuator_gainprm',
        {'scale': _FACTOR},
        columns=3,
        scaled=('actuator_biasprm',),
    ),
    'gravity': RandomizableKind(
        'gravity', 'gravity', {'scale': _FACTOR, 'offset': Way(3, -1e3, 1e3)}, columns=3
    ),
    'color': RandomizableKind('geoms', 'geom_rgba', _COLOUR, columns=3, visual=True),
    'material_color': RandomizableKind('materials', 'mat_rgba', _COLOUR, columns=3, visual=True),
    'light_position': RandomizableKind(
        'lights',
        'light_pos',
        {'offset': Way(3, -1e3, 1e3)},
        columns=3,
        visual=True,
        derived=True,
    ),
    'light_diffuse': RandomizableKind(
        'lights',
        'light_diffuse',
        {'scale': _FACTOR, 'value': Way(3, 0.0, 10.0)},
        columns=3,
        visual=True,
    ),
}


class RandomizableElement(NamedTuple):
    """
    One thing that can be changed.

    :ivar label: its compiled name, or for a geom or light without one a name made from its body's.
    :ivar body: the body that it belongs to, -1 for none.
    :ivar rows: its rows in the kind's arrays.
    """

    label: str
    body: int
    rows: slice


def elements(model: mujoco.MjModel, kind: RandomizableKind) -> list[RandomizableElement]:
    """Return everything that a kind can change, in the order of the model."""
    return _LISTS[kind.target](model)


def _bodies(model: mujoco.MjModel) -> list[RandomizableElement]:
    """Return all bodies with mass; the world has none."""
    return [
        RandomizableElement(model.body(body).name, body, slice(body, body + 1))
        for body in range(1, model.nbody)
        if model.body_mass[body] > 0
    ]


def _geoms(model: mujoco.MjModel) -> list[RandomizableElement]:
    found = []
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        place = geom - int(model.body_geomadr[body])
        label = model.geom(geom).name or f'{model.body(body).name}/geom{place}'
        found.append(RandomizableElement(label, body, slice(geom, geom + 1)))
    return found


def _joints(model: mujoco.MjModel) -> list[RandomizableElement]:
    """Return all joints; a free or ball joint has several rows in the arrays of dofs."""
    starts = [*model.jnt_dofadr.tolist(), model.nv]
    return [
        RandomizableElement(
            model.joint(joint).name,
            int(model.jnt_bodyid[joint]),
            slice(starts[joint], starts[joint + 1]),
        )
        for joint in range(model.njnt)
    ]


def _actuators(model: mujoco.MjModel) -> list[RandomizableElement]:
    """Return the actuators with linear gain and bias, whose strength is one factor."""
    return [
        RandomizableElement(
            model.actuator(actuator).name, _driven(model, actuator), slice(actuator, actuator + 1)
        )
        for actuator in range(len(model.actuator_gaintype))
        if model.actuator_gaintype[actuator] in (_FIXED, _AFFINE)
        and model.actuator_biastype[actuator] in _BIASES
    ]


def _driven(model: mujoco.MjModel, actuator: int) -> int:
    kind = mujoco.mjtTrn(model.actuator_trntype[actuator])
    target = int(model.actuator_trnid[actuator, 0])
    if kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
        return int(model.jnt_bodyid[target])
    return target if kind == mujoco.mjtTrn.mjTRN_BODY else -1


def _lights(model: mujoco.MjModel) -> list[RandomizableElement]:
    return [
        RandomizableElement(
            model.light(light).name or f'light{light}',
            int(model.light_bodyid[light]),
            slice(light, light + 1),
        )
        for light in range(model.nlight)
    ]


def _materials(model: mujoco.MjModel) -> list[RandomizableElement]:
    return [
        RandomizableElement(model.material(material).name, -1, slice(material, material + 1))
        for material in range(model.nmat)
    ]


def _gravity(model: mujoco.MjModel) -> list[RandomizableElement]:
    return [RandomizableElement('gravity', -1, slice(0, 1))]


_LISTS = {
    'bodies': _bodies,
    'geoms': _geoms,
    'joints': _joints,
    'actuators': _actuators,
    'lights': _lights,
    'materials': _materials,
    'gravity': _gravity,
}


def array(model: mujoco.MjModel, field: str) -> np.ndarray:
    """
    Return a writable view of an array of the model, two-dimensional: a row per element.

    Empty when this MuJoCo does not have it.
    """
    if field == 'gravity':
        return model.opt.gravity.reshape(1, 3)
    values = getattr(model, field, None)
    return np.empty((0, 0)) if values is None else values.reshape(len(values), -1)
