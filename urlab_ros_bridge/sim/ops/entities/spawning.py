# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
spawn_entity and delete_entity (extensions): add an entity to the running world, or remove one.

The changed world is compiled beside the running one, then takes its place between two steps with
the state of everything that both have.  For the caller it counts as a hello (the reply holds
`handshake_payload`, as that of begin_pie); every other session expires.

A robot's elements are called ``{name}_...``, as those of every robot.  An entity's body has the
name itself and its other elements are called ``{name}.{local}``: no name holds a dot, so ``box``
and ``box_1`` can stand side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from urlab_ros_bridge.kept_memory import trim_memory
from urlab_ros_bridge.sim.building import build_simulation
from urlab_ros_bridge.sim.building import check_world
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.model.naming import names_with
from urlab_ros_bridge.sim.model.sidecar.specs import PoseSpec
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.ops.entities.carried_state import carry
from urlab_ros_bridge.sim.ops.entities.carried_state import check_idle
from urlab_ros_bridge.sim.ops.entities.carried_state import write_state
from urlab_ros_bridge.sim.ops.entities.changed_world import ARTICULATION
from urlab_ros_bridge.sim.ops.entities.changed_world import ChangedWorld
from urlab_ros_bridge.sim.ops.entities.changed_world import check_source
from urlab_ros_bridge.sim.ops.entities.changed_world import ENTITY
from urlab_ros_bridge.sim.ops.entities.changed_world import kind_of
from urlab_ros_bridge.sim.ops.entities.changed_world import with_entity
from urlab_ros_bridge.sim.ops.entities.changed_world import with_robot
from urlab_ros_bridge.sim.ops.entities.changed_world import without_body
from urlab_ros_bridge.sim.ops.entities.changed_world import without_robot
from urlab_ros_bridge.sim.ops.entities.source import read_source
from urlab_ros_bridge.sim.ops.entities.state import find
from urlab_ros_bridge.sim.ops.entities.state import report
from urlab_ros_bridge.sim.requests.background import abandonable
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import unit_quaternion
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.sim.simulation import SimulationHost
from urlab_ros_bridge.sim.streams.handshake import hello_reply
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.names import prefix_problem
from urlab_ros_bridge.wire.names import valid_prefix
from urlab_ros_bridge.wire.stamp import ns_to_block

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


SECONDS = 1.0  # estimate: a compiler is never quick


def spawn_entity(host: SimulationHost, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Add a model to the running world.

    `xml` is MJCF or URDF, `file` a file of the data folder or a bundled model: MJCF, URDF, or a
    sidecar with one robot, whose controllers and sensors come along.  `pos` (m) and `quat` (wxyz)
    are where the origin of the file goes.  `kind` is entity or articulation; see `kind_of`.
    """
    check_idle(host.running())
    place = _place(fields)
    name, renaming = fields.string('name'), fields.boolean('allow_renaming')
    # Before `changing` is held: other changes need not wait while a model is tried.
    source = abandonable(
        lambda: read_source(host.client_models, host.data, fields), lambda: host.draining
    )
    usual = kind_of(source)
    kind = fields.choice('kind', (ENTITY, ARTICULATION), usual)
    check_source(source, kind)
    robot = kind == ARTICULATION
    with host.changing:
        old = host.running()
        check_idle(old)
        name = choose_name(old.world, name, robot, renaming, source.own_name)
        make = with_robot if robot else with_entity
        new = _change(host, session, old, lambda: make(old.world, name, source, place), tried=True)
    return {**_state(new, name), **_new_handshake(host, new, session)}


def delete_entity(host: SimulationHost, session: ServerSession, fields: Fields) -> ReplyFields:
    """Remove an articulation, or a body directly below the world."""
    with host.changing:
        old = host.running()
        check_idle(old)
        item = find(old.world.named_bodies, fields.string('entity'))
        if item.kind == ARTICULATION:
            new = _change(host, session, old, lambda: without_robot(old.world, item.name))
        else:
            parent = int(old.world.model.body_parentid[item.body])
            if parent:
                above = old.world.model.body(parent).name
                raise OpError('destroy_failed', f'{item.name} is a part of {above}')
            new = _change(host, session, old, lambda: without_body(old.world, item.name))
    return {'entity': item.name, **_new_handshake(host, new, session)}


def _place(fields: Fields) -> PoseSpec:
    pos = fields.vector('pos', np.zeros(3), 3)
    quat = fields.vector('quat', np.array([1.0, 0.0, 0.0, 0.0]), 4)
    x, y, z = pos.tolist()
    qw, qx, qy, qz = unit_quaternion('quat', quat).tolist()
    return PoseSpec((x, y, z), (qw, qx, qy, qz))


def _change(
    host: SimulationHost,
    session: ServerSession,
    old: Simulation,
    make: Callable[[], ChangedWorld],
    tried: bool = False,
) -> Simulation:
    """
    Replace the running world.

    :param tried: it is stepped on trial first; not after a deletion, which may be what a world
        needs that has become unstable.
    """
    trim_memory()  # the world before the last change is free by now
    build = _build_and_try if tried else _build
    changed, new = abandonable(lambda: build(host, old, make), lambda: host.draining)
    host.replace(old, new, lambda: carry(old, new, changed.same), session)
    return new


def _build(
    host: SimulationHost, old: Simulation, make: Callable[[], ChangedWorld]
) -> tuple[ChangedWorld, Simulation]:
    changed = make()
    try:
        return changed, build_simulation(host.config, host.data, changed.world, old)
    except OpError:
        raise
    except UrlabError as error:  # a drive or a scanner of a sidecar does not fit its model
        raise OpError('import_failed', str(error)) from error


def _build_and_try(
    host: SimulationHost, old: Simulation, make: Callable[[], ChangedWorld]
) -> tuple[ChangedWorld, Simulation]:
    changed, new = _build(host, old, make)
    with old.engine.lock:
        write_state(old, new, changed.same)
    check_world(host.client_models, new, old)
    return changed, new


def _state(simulation: Simulation, name: str) -> dict[str, Any]:
    with simulation.engine.lock:
        item = simulation.world.named_bodies.get(name)
        if item is None:
            raise unknown('unknown_body', 'entity', name, simulation.world.named_bodies)
        stamp = ns_to_block(simulation.engine.clock.stamp_ns)
        return {**report(simulation, item, bounds=False), 'sim_time': stamp}


def _new_handshake(
    host: SimulationHost, simulation: Simulation, session: ServerSession
) -> dict[str, Any]:
    revision = session.revision
    payload = hello_reply(host, simulation, session, revision)
    return {'world_revision': revision, 'handshake_payload': payload}


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(spawn_entity, delete_entity, changes_world=True, seconds=lambda *_: SECONDS)
