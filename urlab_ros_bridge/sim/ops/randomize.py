# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""randomize (extension): domain randomisation of the running model, and its undoing."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from fnmatch import translate
import math
import re
import secrets

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.physics.randomizer import elements
from urlab_ros_bridge.sim.physics.randomizer import KINDS
from urlab_ros_bridge.sim.physics.randomizer import RandomizableElement
from urlab_ros_bridge.sim.physics.randomizer import RandomizableKind
from urlab_ros_bridge.sim.physics.randomizer import RandomizationItem
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.wire.errors import list_names

MAX_SEED = 1 << 53  # the largest whole number that every JSON peer carries exactly
MAX_PATTERNS, MAX_PATTERN = 64, 256
DISTRIBUTIONS = ('uniform', 'log_uniform')
_MANY_DOFS = 100


def randomize(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    RandomizationItem new values around the compiled ones, or (`restore`) put those back.

    `items` maps kinds to {scale | offset | value: [low, high], and what to select}.  Everything is
    checked before anything is changed.  With `restore` and `items` the items start from what was
    compiled.
    """
    restore, items = fields.boolean('restore'), fields.mapping('items')
    if not restore and not items:
        raise OpError('missing_field', f'items ({list_names("kind", KINDS)}), or restore')
    seed = _seed(fields)
    draws = [_read(simulation, name, Fields(items)) for name in items]
    engine, model, randomizer = simulation.engine, simulation.world.model, simulation.randomizer
    visual = restore and randomizer.active
    if restore:
        randomizer.restore(model)
    report = randomizer.apply(model, seed, draws) if draws else {}
    engine.revision += 1
    engine.forward()
    engine.state_changed()
    if visual or any(draw.kind.visual for draw in draws):
        simulation.cameras.model_changed()
    return {'seed': seed, 'restored': restore, 'items': report}


def _seed(fields: Fields) -> int:
    """Return the seed of a request; without one a random one, which the reply has."""
    if 'seed' not in fields:
        return secrets.randbelow(1 << 32)
    seed = fields.integer('seed', 0)
    if not 0 <= seed < MAX_SEED:
        raise bad_value('seed', seed, f'a whole number from 0 to {MAX_SEED - 1}')
    return seed


def _read(simulation: Simulation, name: str, items: Fields) -> RandomizationItem:
    kind = KINDS.get(name)
    if kind is None:
        raise OpError('bad_value', f'items.{name:.60} ({list_names("kind", KINDS)})')
    given = items.mapping(name)
    part = Fields(given, f'items.{name}.')
    selectors = {'articulation', 'bodies', kind.target}
    known = {*kind.modes, *selectors, 'distribution', 'together'}
    for key in given:
        if key not in known:
            raise OpError('bad_value', f'items.{name}.{key:.60} ({list_names("field", known)})')
    modes = [mode for mode in kind.modes if mode in part]
    if len(modes) != 1:
        raise OpError('missing_field', f'items.{name}: exactly one of {", ".join(kind.modes)}')
    (mode,) = modes
    low, high = _range(part, kind, mode)
    logarithmic = part.choice('distribution', DISTRIBUTIONS, 'uniform') == 'log_uniform'
    if logarithmic and low <= 0:
        raise bad_value(f'items.{name}.{mode}', [low, high], 'above 0, as log_uniform needs it')
    return RandomizationItem(
        name=name,
        kind=kind,
        mode=mode,
        low=low,
        high=high,
        logarithmic=logarithmic,
        together=part.boolean('together'),
        chosen=_select(simulation, kind, part, name),
    )


def _range(part: Fields, kind: RandomizableKind, mode: str) -> tuple[float, float]:
    """Return the range of an item; a single number is a range of its own."""
    limits = kind.modes[mode]
    given = part.need(mode)
    low, high = (given, given) if not isinstance(given, list) else (*given, None, None)[:2]
    ends = Fields({'low': low, 'high': high})
    valid = isinstance(given, (int, float, list)) and (
        not isinstance(given, list) or len(given) == 2
    )
    if not valid or 'low' not in ends or 'high' not in ends:
        raise bad_value(mode, given, 'a number or [low, high]')
    first = ends.need_number('low', low=limits.low, high=limits.high)
    last = ends.need_number('high', low=limits.low, high=limits.high)
    if first > last or not math.isfinite(last):
        raise bad_value(mode, given, '[low, high] with low <= high')
    return first, last


def _select(
    simulation: Simulation, kind: RandomizableKind, part: Fields, name: str
) -> tuple[RandomizableElement, ...]:
    """Return the elements that all given selectors choose; at least one must be chosen."""
    everything = elements(simulation.world.model, kind)
    rules = _rules(simulation, kind, part)
    chosen = tuple(item for item in everything if all(rule(item) for rule in rules))
    if rules and not chosen:
        labels = (item.label for item in everything)
        raise unknown('bad_value', kind.target, f'items.{name} selects nothing', labels)
    return chosen


def _rules(
    simulation: Simulation, kind: RandomizableKind, part: Fields
) -> list[Callable[[RandomizableElement], bool]]:
    model, rules = simulation.world.model, []
    start = ''
    if 'articulation' in part:
        start = simulation.world.articulation(part.need('articulation')).prefix + '_'
        owned = [model.body(body).name.startswith(start) for body in range(model.nbody)]
        rules.append(
            lambda item: owned[item.body] if item.body >= 0 else item.label.startswith(start)
        )
    names = [model.body(body).name for body in range(model.nbody)]
    if 'bodies' in part:
        bodies = _patterns(part, 'bodies')
        rules.append(lambda item: item.body >= 0 and _matches(names[item.body], bodies, start))
    if kind.target != 'bodies' and kind.target in part:
        labels = _patterns(part, kind.target)
        rules.append(lambda item: _matches(item.label, labels, start))
    return rules


def _patterns(part: Fields, name: str) -> list[re.Pattern[str]]:
    """Return shell patterns: one text, or a list of them."""
    given = part.need(name)
    patterns = given if isinstance(given, list) else [given]
    if len(patterns) > MAX_PATTERNS or not all(
        isinstance(pattern, str) and len(pattern) <= MAX_PATTERN for pattern in patterns
    ):
        expected = f'a pattern or a list of up to {MAX_PATTERNS}, {MAX_PATTERN} characters each'
        raise bad_value(name, given, expected)
    return [re.compile(translate(pattern)) for pattern in patterns]


def _matches(name: str, patterns: Sequence[re.Pattern[str]], start: str) -> bool:
    """Return whether a compiled name matches, or, within an articulation, its local part."""
    local = name.removeprefix(start)
    return any(each.match(name) or each.match(local) for each in patterns)


def _seconds(simulation: Simulation, fields: Fields) -> float:
    """Estimate: the inverse of a large mass matrix takes a while."""
    return 1.0 if simulation.world.model.nv > _MANY_DOFS else 0.0


def register(registry: Registry) -> None:
    """Add the op of this module."""
    registry.register(randomize, seconds=_seconds)
