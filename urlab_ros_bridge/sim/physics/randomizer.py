# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Domain randomisation: seeded, reported, undoable changes of the compiled model.

Values are always drawn around what was compiled, never around an earlier draw, and the number for
an element depends on the seed, the kind and the element's place only: the same seed gives the same
values whatever was randomised before and whatever else is selected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from typing import NamedTuple
import zlib

import mujoco
import numpy as np

from urlab_ros_bridge.sim.errors import OpError

_FIXED = int(mujoco.mjtGain.mjGAIN_FIXED)
_AFFINE = int(mujoco.mjtGain.mjGAIN_AFFINE)
_BIASES = (int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE))


@dataclass(frozen=True, slots=True)
class DrawMode:
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
    modes: dict[str, DrawMode]
    columns: int = 0
    scaled: tuple[str, ...] = ()
    visual: bool = False
    derived: bool = False


_FACTOR = DrawMode(1, 0.0, 1e3)
_COLOUR = {'scale': DrawMode(3, 0.0, 1e3), 'value': DrawMode(3, 0.0, 1.0)}

KINDS: dict[str, RandomizableKind] = {
    'mass': RandomizableKind(
        'bodies',
        'body_mass',
        {'scale': DrawMode(1, 1e-3, 1e3)},
        scaled=('body_inertia',),
        derived=True,
    ),
    'friction': RandomizableKind(
        'geoms', 'geom_friction', {'scale': _FACTOR, 'value': DrawMode(1, 0.0, 100.0)}, columns=3
    ),
    'damping': RandomizableKind(
        'joints',
        'dof_damping',
        {'scale': _FACTOR, 'value': DrawMode(1, 0.0, 1e6)},
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
        'gravity', 'gravity', {'scale': _FACTOR, 'offset': DrawMode(3, -1e3, 1e3)}, columns=3
    ),
    'color': RandomizableKind('geoms', 'geom_rgba', _COLOUR, columns=3, visual=True),
    'material_color': RandomizableKind('materials', 'mat_rgba', _COLOUR, columns=3, visual=True),
    'light_position': RandomizableKind(
        'lights',
        'light_pos',
        {'offset': DrawMode(3, -1e3, 1e3)},
        columns=3,
        visual=True,
        derived=True,
    ),
    'light_diffuse': RandomizableKind(
        'lights',
        'light_diffuse',
        {'scale': _FACTOR, 'value': DrawMode(3, 0.0, 10.0)},
        columns=3,
        visual=True,
    ),
}


class RandomizableElement(NamedTuple):
    """
    One element that can be changed.

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


GRAVITY = 'gravity'  # the one array that is not the model's own but one of its options
# Arrays that nothing here changes and that may be large.
_ASSETS = ('mesh_', 'tex_', 'hfield_', 'skin_', 'flex_', 'text_', 'bvh_', 'oct_', 'name', 'paths')
# Name of an array -> the rows that two models have in common.
Rows = Callable[[str], tuple[np.ndarray, np.ndarray] | None]
_STATISTICS = ('meaninertia', 'meanmass', 'meansize', 'extent', 'center')


@dataclass(frozen=True, slots=True)
class RandomizationItem:
    """
    One item of a request, checked and resolved.

    :ivar mode: ``scale``, ``offset`` or ``value``.
    :ivar low: smallest number drawn, `high` the largest.
    :ivar logarithmic: spread evenly over the logarithm.
    :ivar together: one draw for all elements.
    """

    name: str
    kind: RandomizableKind
    mode: str
    low: float
    high: float
    logarithmic: bool
    together: bool
    chosen: tuple[RandomizableElement, ...]


class Randomizer:
    """Changes one model; callers hold the engine's lock."""

    def __init__(self) -> None:
        self._compiled: dict[str, np.ndarray] = {}
        self._gravity_set = np.zeros(3)

    @property
    def active(self) -> bool:
        """Return whether anything differs from what was compiled."""
        return bool(self._compiled)

    def apply(
        self, model: mujoco.MjModel, seed: int, draws: list[RandomizationItem]
    ) -> dict[str, dict[str, float | list[float]]]:
        """
        Draw and set; all of it or nothing.

        :return: kind -> {element: what it was set to}.
        :raises OpError: bad_value when a number becomes too large, or MuJoCo refuses the model.
        """
        before = _arrays(model)
        self._forget_gravity_of_others(model)
        try:
            report = {draw.name: self._set(model, seed, draw, before) for draw in draws}
            if any(draw.kind.derived for draw in draws):
                _derive(model)
            changed = [
                name
                for name, values in _arrays(model).items()
                if not np.array_equal(values, before[name], equal_nan=True)
            ]
            for name in changed:
                if not np.isfinite(_view(model, name)).all():
                    raise OpError('bad_value', f'items: {name} is no longer finite')
        except (OpError, mujoco.FatalError) as error:
            for name, values in before.items():
                _view(model, name)[:] = values
            if isinstance(error, OpError):
                raise
            raise OpError('bad_value', f'items: MuJoCo refuses the model: {error}') from error
        for name in changed:
            self._compiled.setdefault(name, before[name])
        if GRAVITY in self._compiled:
            self._gravity_set = model.opt.gravity.copy()
        return report

    def restore(self, model: mujoco.MjModel) -> None:
        """Put back every value that was compiled, bit for bit."""
        self._forget_gravity_of_others(model)
        for name, values in self._compiled.items():
            _view(model, name)[:] = values
        self._compiled.clear()

    def resume(
        self, other: Randomizer, old: mujoco.MjModel, new: mujoco.MjModel, rows: Rows
    ) -> None:
        """
        Give a model the values that another was given, where they have the same elements.

        Gravity is not touched: options are carried by the caller.

        :param rows: name of an array -> rows there and here; None for an array without elements.
        """
        if not other.active:
            return
        before = _arrays(new)
        for name in other._compiled:
            pair = rows(name)
            if pair is not None:
                there, here = pair
                _view(new, name)[here] = _view(old, name)[there]
        _derive(new)
        for name, values in _arrays(new).items():
            if not np.array_equal(values, before[name], equal_nan=True):
                self._compiled[name] = before[name]
        if GRAVITY in other._compiled:
            self._compiled[GRAVITY] = other._compiled[GRAVITY]
            self._gravity_set = other._gravity_set

    def _forget_gravity_of_others(self, model: mujoco.MjModel) -> None:
        """Gravity that was set since is what a reset returns to."""
        if GRAVITY in self._compiled and not np.array_equal(model.opt.gravity, self._gravity_set):
            del self._compiled[GRAVITY]

    def _set(
        self,
        model: mujoco.MjModel,
        seed: int,
        draw: RandomizationItem,
        before: dict[str, np.ndarray],
    ) -> dict[str, float | list[float]]:
        kind = draw.kind
        drawn = _numbers(model, seed, draw)
        report: dict[str, Any] = {}
        for element in draw.chosen:
            numbers = drawn[element.rows.start]
            for field in (kind.field, *kind.scaled):
                target = array(model, field)
                if not target.size:
                    continue
                columns = kind.columns if field == kind.field else 0
                part = slice(0, columns or target.shape[1])
                compiled = self._compiled[field] if field in self._compiled else before[field]
                base = compiled.reshape(target.shape)[element.rows, part]
                if draw.mode == 'scale':
                    target[element.rows, part] = base * numbers
                elif field == kind.field:
                    part = slice(0, len(numbers))
                    offset = base[:, part] if draw.mode == 'offset' else 0.0
                    target[element.rows, part] = offset + numbers
            report[element.label] = _shown(kind, array(model, kind.field)[element.rows])
        return report


def _shown(kind: RandomizableKind, rows: np.ndarray) -> float | list[float]:
    """Return the values of an element: a number, or a list of what changed."""
    if not kind.columns:
        return float(rows[0, 0])
    return rows[0, : kind.columns].tolist()


def _numbers(model: mujoco.MjModel, seed: int, draw: RandomizationItem) -> dict[int, np.ndarray]:
    """
    Draw for every element that the kind has, chosen or not; keyed by its first row.

    So the number of an element does not depend on which others are chosen.
    """
    everything = elements(model, draw.kind)
    key = zlib.crc32(f'{draw.name}/{draw.mode}'.encode())
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, key])))
    width = draw.kind.modes[draw.mode].width
    uniform = generator.random((max(len(everything), 1), width))
    if draw.together:
        uniform[:] = uniform[0]
    if draw.logarithmic:
        numbers = draw.low * (draw.high / draw.low) ** uniform
    else:
        numbers = draw.low + uniform * (draw.high - draw.low)
    starts = (element.rows.start for element in everything)
    return dict(zip(starts, numbers, strict=False))


def _derive(model: mujoco.MjModel) -> None:
    """
    Recompute the constants that depend on masses and lights.

    mj_setConst works in the data that it is given (qpos becomes qpos0), so it gets its own; and
    older versions of MuJoCo recompute the statistics, which a file may have set by hand.
    """
    kept = {name: np.array(getattr(model.stat, name)) for name in _STATISTICS}
    mujoco.mj_setConst(model, mujoco.MjData(model))
    for name, value in kept.items():
        if value.ndim:
            getattr(model.stat, name)[:] = value
        else:
            setattr(model.stat, name, float(value))


def _view(model: mujoco.MjModel, name: str) -> np.ndarray:
    return model.opt.gravity if name == GRAVITY else getattr(model, name)


def _arrays(model: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return copies of the real-valued arrays of the model that may be changed here."""
    found = {GRAVITY: model.opt.gravity.copy()}
    for name in dir(model):
        if not name.startswith(('_', *_ASSETS)):
            value = getattr(model, name)
            if isinstance(value, np.ndarray) and value.dtype.kind == 'f':
                found[name] = value.copy()
    return found
