# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Domain randomisation: seeded, reported, undoable changes of the compiled model.

Values are always drawn around what was compiled, never around an earlier draw, and the number
for an element depends on the seed, the kind and the element's place only: the same seed gives the
same values whatever was randomised before and whatever else is selected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
import zlib

import mujoco
import numpy as np

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.physics.randomize.kinds import array
from urlab_ros_bridge.sim.physics.randomize.kinds import elements
from urlab_ros_bridge.sim.physics.randomize.kinds import RandomizableElement
from urlab_ros_bridge.sim.physics.randomize.kinds import RandomizableKind

GRAVITY = 'gravity'  # the one array that is not the model's own but one of its options
# Arrays that nothing here changes and that may be large.
_ASSETS = ('mesh_', 'tex_', 'hfield_', 'skin_', 'flex_', 'text_', 'bvh_', 'oct_', 'name', 'paths')
# Name of an array -> the rows that two models have in common.
Rows = Callable[[str], tuple[np.ndarray, np.ndarray] | None]
_STATISTICS = ('meaninertia', 'meanmass', 'meansize', 'extent', 'center')


@dataclass(frozen=True, slots=True)
class Draw:
    """
    One item of a request, checked and resolved.

    :ivar way: ``scale``, ``offset`` or ``value``.
    :ivar low: smallest number drawn, `high` the largest.
    :ivar logarithmic: spread evenly over the logarithm.
    :ivar together: one draw for all elements.
    """

    name: str
    kind: RandomizableKind
    way: str
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
        self, model: mujoco.MjModel, seed: int, draws: list[Draw]
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
        self, model: mujoco.MjModel, seed: int, draw: Draw, before: dict[str, np.ndarray]
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
                if draw.way == 'scale':
                    target[element.rows, part] = base * numbers
                elif field == kind.field:
                    part = slice(0, len(numbers))
                    offset = base[:, part] if draw.way == 'offset' else 0.0
                    target[element.rows, part] = offset + numbers
            report[element.label] = _shown(kind, array(model, kind.field)[element.rows])
        return report


def _shown(kind: RandomizableKind, rows: np.ndarray) -> float | list[float]:
    """Return the values of an element: a number, or a list of what changed."""
    if not kind.columns:
        return float(rows[0, 0])
    return rows[0, : kind.columns].tolist()


def _numbers(model: mujoco.MjModel, seed: int, draw: Draw) -> dict[int, np.ndarray]:
    """
    Draw for every element that the kind has, chosen or not; keyed by its first row.

    So the number of an element does not depend on which others are chosen.
    """
    everything = elements(model, draw.kind)
    key = zlib.crc32(f'{draw.name}/{draw.way}'.encode())
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, key])))
    width = draw.kind.ways[draw.way].width
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


__all__ = ['Draw', 'Randomizer']
