# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""apply_wrench, pull_body and set_setpoints (extensions): commands that act for a while."""

from __future__ import annotations

import math

import numpy as np

from urlab_ros_bridge.sim.admission import admit
from urlab_ros_bridge.sim.admission import prefixes_of
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.ops.commands import check_resets
from urlab_ros_bridge.sim.ops.commands import MAX_SECONDS
from urlab_ros_bridge.sim.ops.commands import read_resets
from urlab_ros_bridge.sim.ops.commands import read_wall_timeout
from urlab_ros_bridge.sim.physics.external import MAX_WRENCHES
from urlab_ros_bridge.sim.physics.external import Pull
from urlab_ros_bridge.sim.physics.external import Wrench
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import find_element
from urlab_ros_bridge.sim.requests.fields import MAX_NAME
from urlab_ros_bridge.sim.requests.fields import vector
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation

FRAMES = ('world', 'body')


def apply_wrench(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Push a body with a force (N) and a torque (N m) for `duration` simulated seconds.

    Works in every mode that integrates.  `body` is a local name of `articulation`, or a compiled
    one; `frame` is world or body; a `name` replaces the wrench of that name on the body, without
    one wrenches add up; a wrench of zeros ends it.  Each acts for at least one step, unless time
    is frozen for longer than `wall_timeout` (s of wall time) before.
    """
    world, engine = simulation.world, simulation.engine
    body = _body(simulation, fields)
    parts = [_vector3(fields, name) for name in ('force', 'torque')]
    frame = fields.choice('frame', FRAMES, 'world')
    duration = fields.number('duration', 0.0, low=0.0, high=MAX_SECONDS)
    now, step = world.data.time, world.model.opt.timestep
    until = max(now, now + duration - step / 2)
    force = np.concatenate(parts)
    wall = read_wall_timeout(fields, moves=bool(force.any()))
    name = fields.string('name', longest=MAX_NAME)
    wrench = Wrench(body, force, frame == 'body', until, name, wall)
    if not wrench.wrench.any():
        wrench.until = -np.inf
    else:
        admit(simulation, prefixes_of(world, [body]), session, fields)
    if not engine.external.apply(wrench):
        raise OpError('bad_value', f'there are {MAX_WRENCHES} wrenches already')
    return {'body': world.model.body(body).name, 'until': now + max(duration, step)}


def pull_body(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Pull a point of a body (m, in its frame) to a target (m, in the world) by a damped spring.

    Works in every mode that integrates, for `duration` simulated seconds; repeated with the same
    `name`, it continues with the new target.  The spring is computed in every step, so it is
    stable with rare and late targets.
    """
    world, engine = simulation.world, simulation.engine
    body = _body(simulation, fields)
    point, target = (_vector3(fields, name) for name in ('point', 'target'))
    duration = fields.number('duration', 0.0, low=0.0, high=MAX_SECONDS)
    name = fields.string('name', longest=MAX_NAME)
    data, step = world.data, world.model.opt.timestep
    place = data.xpos[body] + data.xmat[body].reshape(3, 3) @ point
    mass = engine.external.effective_mass(body, place)
    if not math.isfinite(mass):
        raise bad_value('body', world.model.body(body).name, 'a body that can move')
    until = max(data.time, data.time + duration - step / 2)
    wall = read_wall_timeout(fields, moves=True)
    admit(simulation, prefixes_of(world, [body]), session, fields)
    pull = Pull(body, np.zeros(6), False, until, name, wall, point, target, mass)
    if not engine.external.pull(pull):
        raise OpError('bad_value', f'there are {MAX_WRENCHES} wrenches already')
    return {'body': world.model.body(body).name, 'until': data.time + max(duration, step)}


def _body(simulation: Simulation, fields: Fields) -> int:
    name, world = fields.string('body'), simulation.world
    if 'articulation' in fields:
        articulation = world.articulation(fields.string('articulation'))
        if articulation.first_body is None:
            raise OpError('unknown_body', f'{articulation.prefix} has no bodies')
        if not name:
            return articulation.first_body.id
        found = articulation.bodies.get(name)
        if found is not None:
            return found.id
    elif not name:
        raise OpError('missing_field', 'body')
    body = world.body_id(name)
    if body == 0:
        raise bad_value('body', name, 'a body that can move')
    return body


def _vector3(fields: Fields, name: str) -> np.ndarray:
    values = fields.vector(name)
    if values is None:
        return np.zeros(3)
    if len(values) != 3:
        raise OpError('dim_mismatch', f'{name} has {len(values)} values, must have 3')
    return values


def set_setpoints(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Write setpoints by name of the actuator; the others stay, time does not move.

    `timeout` (simulated seconds): setpoints that keep a robot moving (all but positions) become
    zero when no newer one came; without it they hold.  `wall_timeout` (s of wall time) does the
    same while time is frozen.  `resets` (extension) is that of the robot in the state that they
    were chosen for: after another one, what moves it is refused.
    """
    articulation = simulation.world.articulation(fields.string('articulation'))
    control = simulation.engine.controls[articulation.prefix]
    given = fields.mapping('values')
    values = vector('values', list(given.values()))
    actuators = articulation.actuators
    found = [find_element('actuator', name, articulation.prefix, actuators) for name in given]
    indices = [actuator.index for actuator in found]
    timeout = fields.number('timeout', low=0.0, high=MAX_SECONDS)
    rates = [
        index
        for index, value in zip(indices, values, strict=True)
        if value and not control.holds(index)
    ]
    wall = read_wall_timeout(fields, moves=bool(rates))
    moves = bool(rates) or any(map(control.holds, indices))
    if moves:
        check_resets(read_resets(fields), simulation.engine.clock.resets_of(articulation.prefix))
    admit(simulation, (articulation.prefix,), session, fields, moves=moves)
    slot = control.setpoints['zmq']
    for index, value in zip(indices, values, strict=True):
        slot[index] = value
    external, now = simulation.engine.external, simulation.world.data.time
    external.expire_setpoints(slot, indices, None)
    if timeout or wall:
        external.expire_setpoints(slot, rates, now + timeout if timeout else math.inf, wall)
    return {'articulation': articulation.prefix, 'count': len(indices)}


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(apply_wrench, pull_body, set_setpoints)
