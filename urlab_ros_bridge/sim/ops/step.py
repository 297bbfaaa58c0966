# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
step: everything that advances the world, and the state that a client pushes in puppet mode.

Pushed vectors have the order of the compiled model (`qpos_joints` of the handshake).  By name
(extension) no order matters; a joint is called as in the compiled model, or by its local name
where only one robot has a joint of this name.  Joints that are not named keep their values.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextlib import nullcontext
import math
from typing import Any

import numpy as np

from urlab_ros_bridge.model import Joint
from urlab_ros_bridge.sim.admission import admit
from urlab_ros_bridge.sim.admission import was_stopped
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.observe.observer import ObservationView
from urlab_ros_bridge.sim.observe.observer import Topics
from urlab_ros_bridge.sim.ops.cameras import requested_cameras
from urlab_ros_bridge.sim.ops.commands import read_command
from urlab_ros_bridge.sim.ops.commands import StepCommand
from urlab_ros_bridge.sim.physics.run_state import ReplaySource
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import MAX_NAME
from urlab_ros_bridge.sim.requests.fields import unit_quaternion
from urlab_ros_bridge.sim.requests.fields import vector
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import Reply
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.wire.ops import MAX_STEPS
from urlab_ros_bridge.wire.ops import OBSERVATION_LEVELS
from urlab_ros_bridge.wire.ops import SNAPSHOT
from urlab_ros_bridge.wire.stamp import MAX_TIME


def read_pushed_state(world: World, fields: Fields) -> dict[str, np.ndarray]:
    """
    Return the vectors of MjData that a request sets: ``qpos``, ``qvel``, ``ctrl``.

    :raises OpError: dim_mismatch, bad_value; nothing was written then.
    """
    model, pushed = world.model, {}
    for name, size in (('qpos', model.nq), ('qvel', model.nv), ('ctrl', model.nu)):
        values = fields.vector(name)
        if values is not None:
            if len(values) != size:
                raise OpError(
                    'dim_mismatch', f'{name} has {len(values)} values, the model has {size}'
                )
            pushed[name] = values
    for name in ('qpos', 'qvel'):
        field = f'{name}_map'
        named = fields.mapping(field)
        if named and name not in pushed:
            pushed[name] = getattr(world.data, name).copy()
        for slots, values in _by_joint(world, field, named):
            pushed[name][slots] = values
    return pushed


def _by_joint(world: World, field: str, named: dict[str, Any]) -> list[tuple[slice, np.ndarray]]:
    """Return slots of the vector and their values."""
    found: dict[int, tuple[str, slice, np.ndarray]] = {}
    is_position = field == 'qpos_map'
    for name, value in named.items():
        joint, where = _joint(world, field, name), f'{field}.{name}'
        if joint.id in found:
            raise bad_value(field, name, f'another joint than {found[joint.id][0]!r}')
        values = vector(where, value if isinstance(value, list) else [value])
        slots = joint.qpos_slots if is_position else joint.dof_slots
        width = slots.stop - slots.start
        if len(values) != width:
            raise OpError(
                'dim_mismatch', f'{where} has {len(values)} values, the joint has {width}'
            )
        if is_position and not joint.is_scalar:
            unit_quaternion(where, values[-4:])
        found[joint.id] = (name, slots, values)
    return [(slots, values) for _, slots, values in found.values()]


def _joint(world: World, field: str, name: object) -> Joint:
    """Return the joint that a name means; a compiled name always means its own joint."""
    joints = world.tables.joints
    for joint in joints:
        if joint.compiled == name:
            return joint
    found = [joint for joint in joints if joint.prefix and joint.name == name]
    if len(found) > 1:
        several = 'a name of one joint only: put the prefix before it'
        raise bad_value(field, name, several)
    if not found:
        local = [joint.name for joint in joints if joint.prefix]
        compiled = [joint.compiled for joint in joints]
        raise unknown('bad_value', 'joint', name, [*local, *compiled])
    return found[0]


MAX_TOPICS = 1000


def step(simulation: Simulation, session: ServerSession, fields: Fields) -> Reply:
    """
    Advance the world according to its mode, and observe it.

    direct: n_steps sub-steps with the commands; puppet: take the pushed state; live: write ctrl
    and read back.  With the extension `while_paused` a paused live world advances n_steps.
    During a replay: n_steps of its frames.  With the extension `while_live` the request is for
    live mode only, so that a client that only reads never advances a world that another one steps.
    While the e-stop is engaged, commands are not applied, and the reply has `e_stop` (extension);
    so it is if it was engaged while the request waited.
    """
    engine, replay_source = simulation.engine, simulation.engine.run.replay_source
    view, cameras = requested_view(fields, session), requested_cameras(simulation, fields)
    if fields.boolean('while_live') and engine.run.mode != 'live':
        raise OpError('not_live', f'while_live: the server is in {engine.run.mode} mode')
    if replay_source is not None:
        _replay(simulation, fields, replay_source)
    elif engine.run.mode == 'puppet':
        _puppet(simulation, session, fields)
    elif engine.run.mode == 'direct':
        _direct(simulation, session, fields)
    else:
        _live(simulation, session, fields)
    stopped = was_stopped(simulation, fields)
    if replay_source is not None or cameras is not None or stopped:
        reply = observe(simulation, session, view)
        if stopped:
            reply['e_stop'] = True
        if replay_source is not None:
            reply.update(replay_source.report())
        return cameras.complete(reply) if cameras else reply
    return observed(simulation, session, view)


def observed(
    simulation: Simulation, session: ServerSession, view: ObservationView
) -> dict[str, Any] | bytes:
    """Return the reply of a step in the session's encoding: packed already where that is quick."""
    if session.encoding != 'msgpack':
        return observe(simulation, session, view)
    count = simulation.engine.clock.steps_since(session.steps_from)
    return simulation.observer.packed(view, count)


def observe(
    simulation: Simulation, session: ServerSession, view: ObservationView
) -> dict[str, Any]:
    """Return the body of a reply with the present state; it counts the steps of the session."""
    count = simulation.engine.clock.steps_since(session.steps_from)
    return simulation.observer.observe(view, count)


def _direct(simulation: Simulation, session: ServerSession, fields: Fields) -> None:
    count, command = step_count(fields), read_command(simulation, fields)
    engine, deadline = simulation.engine, simulation.engine.run.step_deadline()
    engine.run.wait_unpaused(deadline)
    command = _admitted(simulation, session, fields, command)
    command.write(simulation.world.data.time)
    with _wrenches(simulation, command) if command.xfrc else nullcontext():
        try:
            engine.advance(count, command.raw, deadline)
        finally:
            engine.publish(rows=False)


def _admitted(
    simulation: Simulation, session: ServerSession, fields: Fields, command: StepCommand
) -> StepCommand:
    """
    Return what may be applied of a command, after the last wait.

    :raises OpError: not_control_owner, stale_command.
    """
    if was_stopped(simulation, fields):
        return StepCommand()  # time advances, so that robots come to rest
    admit(simulation, command.prefixes, session, fields)
    for twist in command.twists:
        twist.check_resets(simulation.engine.clock.resets)
    return command


def _live(simulation: Simulation, session: ServerSession, fields: Fields) -> None:
    command = _admitted(simulation, session, fields, read_command(simulation, fields))
    engine = simulation.engine
    stepping = fields.boolean('while_paused')
    if stepping and not engine.run.paused:
        raise OpError(
            'bad_value', 'while_paused: the simulation is running; set_paused true first'
        )
    count, deadline = step_count(fields) if stepping else 0, engine.run.step_deadline()
    command.write(simulation.world.data.time)
    with _wrenches(simulation, command) if stepping and command.xfrc else nullcontext():
        for done in range(1, count + 1):
            engine.advance(1, command.raw, deadline)
            engine.publish(rows=True)
            engine.run.check_deadline(deadline, done, count)


@contextmanager
def _wrenches(simulation: Simulation, command: StepCommand) -> Iterator[None]:
    """
    Apply the wrenches of a command for its window only.

    mj_step leaves xfrc_applied as it is; the protocol wants a one-shot impulse.
    """
    xfrc = simulation.world.data.xfrc_applied
    for body, force in command.xfrc:
        xfrc[body] += force
    try:
        yield
    finally:
        xfrc[:] = 0.0


def _puppet(simulation: Simulation, session: ServerSession, fields: Fields) -> None:
    """
    Write the client's state, run mj_forward once.

    The e-stop does not hold it back: the state comes from a robot elsewhere.
    """
    world, engine = simulation.world, simulation.engine
    pushed = read_pushed_state(world, fields)
    if pushed:
        admit(simulation, world.articulations, session, fields, moves=False)
    time = fields.number('time', world.data.time, low=0.0, high=MAX_TIME)
    for name, values in pushed.items():
        getattr(world.data, name)[:] = values
    world.data.time = time
    engine.accept_state()
    engine.publish(rows=False)


def _replay(simulation: Simulation, fields: Fields, replay_source: ReplaySource) -> None:
    """Show the next n_steps frames; commands and pushed states are ignored."""
    engine, deadline = simulation.engine, simulation.engine.run.step_deadline()
    if engine.run.mode == 'direct':
        engine.run.wait_unpaused(deadline)
    if engine.run.replay_source is not replay_source:
        raise OpError('step_timeout', 'the replay ended while the step waited')
    try:
        replay_source.advance(step_count(fields), deadline)
    finally:
        engine.publish(rows=False)


def requested_view(fields: Fields, session: ServerSession) -> ObservationView:
    """Return the view of this reply: the request's, else the session's."""
    level = session.observations
    if 'observations' in fields:
        level = fields.choice('observations', OBSERVATION_LEVELS)
    published = session.published_state or level == SNAPSHOT
    return ObservationView(level, narrowed_to(fields), published)


def narrowed_to(fields: Fields) -> Topics:
    """
    Read `topics` (extension): prefixes of topics of the state stream, as one subscribes to them.

    The reply shows of what its level has only what rows with such topics show, and the positions
    and velocities of all articulations; None: all of it.
    """
    topics = fields.given('topics')
    if topics is None:
        return None
    if not isinstance(topics, list) or len(topics) > MAX_TOPICS:
        raise bad_value('topics', topics, f'a list of at most {MAX_TOPICS} strings')
    for topic in topics:
        if not isinstance(topic, str) or len(topic) > MAX_NAME:
            raise bad_value('topics', topic, f'a string of at most {MAX_NAME} characters')
    return frozenset(topics)


def step_count(fields: Fields) -> int:
    """Return n_steps; less than 1 counts as 1, as with stock servers."""
    count = fields.integer('n_steps', 1)
    if count > MAX_STEPS:
        raise bad_value('n_steps', count, f'at most {MAX_STEPS}')
    return max(count, 1)


def _step_seconds(simulation: Simulation, fields: Fields) -> float:
    """Estimate a step request; one that waits for unpausing or for frames counts as slow."""
    engine = simulation.engine
    if (engine.run.mode == 'direct' and engine.run.paused) or fields.given('include_cameras'):
        return math.inf
    if engine.run.mode == 'live' and 'while_paused' not in fields:
        return 0.0
    return engine.run.seconds_per_step * fields.integer('n_steps', 1)


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(step, seconds=_step_seconds)
