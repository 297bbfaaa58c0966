# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Names for what is spawned into a running world.

A robot's elements are called ``{name}_...``, as those of every robot.  An entity's body has the
name itself and its other elements are called ``{name}.{local}``: no name holds a dot, so ``box``
and ``box_1`` can stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.naming import names_with
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.wire.names import prefix_problem
from urlab_ros_bridge.wire.names import valid_prefix

MAX_NAME = 64
TAKEN, INVALID = 'name_taken', 'name_invalid'
_WORLD = 'world'  # MuJoCo's name of the root body


def choose_name(world: World, wanted: str, robot: bool, renaming: bool, otherwise: str) -> str:
    """
    Return the name that something new gets.

    :param robot: it becomes an articulation, whose prefix the name is.
    :param renaming: another name will do when this one cannot be had.
    :param otherwise: what the model calls itself, for a request without a name.
    :raises OpError: name_taken, suggesting another name; name_invalid; missing_field.
    """
    if not wanted and not renaming:
        raise OpError('missing_field', 'name (or allow_renaming)')
    first = wanted or valid_prefix(otherwise or 'entity')[:MAX_NAME]
    problem = _problem(world, first, robot)
    if not problem:
        return first
    free = next(name for name in _candidates(first) if not _problem(world, name, robot))
    if renaming:
        return free
    code, text = problem
    raise OpError(code, f'{text}; {free!r} is free')


def _candidates(name: str) -> Iterator[str]:
    """
    Yield names that are like this one.

    >>> from itertools import islice
    >>> list(islice(_candidates('rover_2'), 4))
    ['rover_2', 'rover2', 'rover2x2', 'rover2x3']
    """
    stem = valid_prefix(name)[: MAX_NAME - 10]
    yield stem
    stem = stem.replace('_', '')
    yield stem
    joint = 'x' if stem[-1].isdigit() else ''
    for number in count(2):
        yield f'{stem}{joint}{number}'


def _problem(world: World, name: str, robot: bool) -> tuple[str, str] | None:
    """Return the error code and text of a name that cannot be had, None when it can."""
    wrong = prefix_problem(name) if len(name) <= MAX_NAME else f'{name!r:.80} is too long'
    if wrong or name == _WORLD:
        return INVALID, wrong or f'{name!r} is the world itself'
    for prefix, articulation in world.articulations.items():
        if name in (prefix, articulation.actor_id):
            return TAKEN, f'{name!r} is the name of a robot'
        if name.startswith(f'{prefix}_'):
            return INVALID, f'{name!r}: names with "{prefix}_" belong to the robot {prefix!r}'
    if world.source.body(name) is not None:
        return TAKEN, f'{name!r} is the name of another body'
    others = names_with(world.source, name) if robot else []
    if others:
        return TAKEN, f'{others[0]!r} would count as part of a robot {name!r}'
    return None


__all__ = ['INVALID', 'MAX_NAME', 'TAKEN', 'choose_name']
