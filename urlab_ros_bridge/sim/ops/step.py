# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""step, reset and forward: everything that advances or rewinds the world."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from typing import Any

import numpy as np

from urlab_ros_bridge.sim.context import Context
from urlab_ros_bridge.sim.control import ArticulationControl
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.fields import bad_value
from urlab_ros_bridge.sim.fields import Fields
from urlab_ros_bridge.sim.fields import vector
from urlab_ros_bridge.sim.player import Player
from urlab_ros_bridge.sim.registry import Registry
from urlab_ros_bridge.sim.sessions import Session
from urlab_ros_bridge.wire.ops import OBSERVATION_LEVELS

MAX_STEPS = 10_000_000


@dataclass(slots=True)
class Command:
    """The checked `per_articulation` part of a step request."""

    ctrl: list[tuple[ArticulationControl, np.ndarray]] = field(default_factory=list)
    ctrl_map: list[tuple[ArticulationControl, int, float]] = field(default_factory=list)
    xfrc: list[tuple[int, np.ndarray]] = field(default_factory=list)
    raw: set[str] = field(default_factory=set)

    def stage(self) -> None:
        """Write the setpoints; ctrl_map wins over ctrl."""
        for control, values in self.ctrl:
            control.write(values)
        for control, index, value in self.ctrl_map:
            control.slots['zmq'][index] = value


def step(context: Context, session: Session, fields: Fields) -> dict[str, Any]:
    """
    Advance the world as the mode says, and observe it.

    direct: n_steps sub-steps with the commands; puppet: take the pushed state; live: stage ctrl
    and read back.  With the extension `while_paused` a paused live world advances n_steps.
    During a replay: n_steps of its frames.
    """
    engine, player = context.engine, context.engine.player
    level = observation_level(fields, session)
    if player is not None:
        _replay(context, fields, player)
    elif engine.mode == 'puppet':
        _puppet(context, fields)
    else:
        command = read_command(context, fields)
        if engine.mode == 'direct':
            _direct(context, fields, command)
        else:
            _live(context, fields, command)
    reply = context.observer.observe(level, engine.steps_since(session.base))
    if player is not None:
        reply.update(player.report())
    return reply


def _direct(context: Context, fields: Fields, command: Command) -> None:
    engine = context.engine
    count, deadline = step_count(fields), engine.step_deadline()
    engine.wait_unpaused(deadline)
    command.stage()
    try:
        with _wrenches(context, command):
            engine.advance(count, command.raw, deadline)
    finally:
        engine.publish(rows=False)


def _live(context: Context, fields: Fields, command: Command) -> None:
    engine = context.engine
    stepping = fields.boolean('while_paused')
    if stepping and not engine.paused:
        raise OpError(
            'bad_value', 'while_paused: the simulation is running; set_paused true first'
        )
    count, deadline = step_count(fields) if stepping else 0, engine.step_deadline()
    command.stage()
    with _wrenches(context, command if stepping else Command()):
        for done in range(1, count + 1):
            engine.advance(1, command.raw, deadline)
            engine.publish(rows=True)
            engine.check_deadline(deadline, done, count)


@contextmanager
def _wrenches(context: Context, command: Command) -> Iterator[None]:
    """
    Apply the wrenches of a command for its window only.

    mj_step leaves xfrc_applied as it is; the protocol wants a one-shot impulse.
    """
    xfrc = context.world.data.xfrc_applied
    for body, force in command.xfrc:
        xfrc[body] += force
    try:
        yield
    finally:
        if command.xfrc:
            xfrc[:] = 0.0


def _puppet(context: Context, fields: Fields) -> None:
    """Write the client's state, run mj_forward once."""
    world, engine = context.world, context.engine
    pushed = {}
    for name, size in (
        ('qpos', world.model.nq),
        ('qvel', world.model.nv),
        ('ctrl', world.model.nu),
    ):
        values = fields.vector(name)
        if values is not None:
            if len(values) != size:
                raise OpError(
                    'dim_mismatch', f'{name} has {len(values)} values, the model has {size}'
                )
            pushed[name] = values
    time = fields.number('time', world.data.time, low=-1e9, high=1e9)
    for name, values in pushed.items():
        getattr(world.data, name)[:] = values
    world.data.time = time
    engine.accept_state()
    engine.publish(rows=False)


def _replay(context: Context, fields: Fields, player: Player) -> None:
    """Show the next n_steps frames; commands and pushed states are not looked at."""
    engine, deadline = context.engine, context.engine.step_deadline()
    if engine.mode == 'direct':
        engine.wait_unpaused(deadline)
    if engine.player is not player:
        raise OpError('step_timeout', 'the replay ended while the step waited')
    try:
        player.advance(step_count(fields), deadline)
    finally:
        engine.publish(rows=False)


def reset(context: Context, session: Session, fields: Fields) -> dict[str, Any]:
    """
    Rewind to a keyframe or the model's default state, then override single joints.

    `seed` is only recorded.  The extension `keep_time` resets the state but not the clock.
    """
    world, engine = context.world, context.engine
    name = fields.string('keyframe_name')
    key = world.keyframe_id(name) if name else None
    fields.number('seed')
    overrides = _joint_overrides(context, fields)
    engine.reset(key, fields.boolean('keep_time'))
    for slot, value in overrides:
        world.data.qpos[slot] = value
    engine.settle()
    engine.state_changed()
    return context.observer.observe(session.observations, engine.steps_since(session.base))


def forward(context: Context, session: Session, fields: Fields) -> dict[str, Any]:
    """Recompute derived state without advancing time, and observe."""
    level = observation_level(fields, session)
    context.engine.settle()
    context.engine.state_changed()
    return context.observer.observe(level, context.engine.steps_since(session.base))


def observation_level(fields: Fields, session: Session) -> str:
    """Return the level of this one reply: the request's, else the session's."""
    if 'observations' not in fields:
        return session.observations
    return fields.choice('observations', OBSERVATION_LEVELS)


def step_count(fields: Fields) -> int:
    """Return n_steps; less than 1 counts as 1, as with stock servers."""
    count = fields.integer('n_steps', 1)
    if count > MAX_STEPS:
        raise bad_value('n_steps', count, f'at most {MAX_STEPS}')
    return max(count, 1)


def read_command(context: Context, fields: Fields) -> Command:
    """Check and resolve `per_articulation` before anything is applied."""
    command = Command()
    for prefix, block in fields.mapping('per_articulation').items():
        control = context.engine.controls.get(prefix)
        if control is None:
            raise unknown('unknown_articulation', 'articulation', prefix, context.engine.controls)
        where = f'per_articulation.{prefix}.'
        if not isinstance(block, dict):
            raise bad_value(where[:-1], block, 'a map')
        part = Fields(block, where)
        values = part.vector('ctrl')
        if values is not None:
            command.ctrl.append((control, values))
        if part.string('control_mode').lower() == 'raw':
            command.raw.add(prefix)
        if 'ctrl_map' in part:
            _read_ctrl_map(control, part, command, where)
        if 'xfrc_applied' in part:
            _read_xfrc(context, control, part, command, where)
    return command


def _read_ctrl_map(
    control: ArticulationControl, part: Fields, command: Command, where: str
) -> None:
    names = {actuator.name: index for index, actuator in enumerate(control.articulation.actuators)}
    prefix = f'{control.articulation.prefix}_'
    named = part.mapping('ctrl_map')
    values = vector(where + 'ctrl_map', list(named.values()))
    for name, value in zip(named, values, strict=True):
        index = names.get(name, names.get(name.removeprefix(prefix)))
        if index is None:
            raise unknown('bad_value', 'actuator', name, names)
        command.ctrl_map.append((control, index, float(value)))


def _read_xfrc(
    context: Context, control: ArticulationControl, part: Fields, command: Command, where: str
) -> None:
    bodies = control.articulation.local('bodies')
    for name, force in part.mapping('xfrc_applied').items():
        body = bodies.get(name)
        if body is None:
            body = context.world.body_id(name)
        values = vector(f'{where}xfrc_applied.{name}', force)
        if len(values) != 6:
            raise OpError(
                'dim_mismatch',
                f'{where}xfrc_applied.{name} has {len(values)} values, '
                'a wrench has 6 (force, torque; world frame)',
            )
        command.xfrc.append((body, values))


def _joint_overrides(context: Context, fields: Fields) -> list[tuple[int, float]]:
    """Resolve {prefix: {joint: value}} to qpos slots; a joint of several slots takes its first."""
    slots = []
    model = context.world.model
    for prefix, joints in fields.mapping('per_articulation_qpos').items():
        articulation = context.world.articulation(prefix)
        names = articulation.local('joints')
        part = Fields({'joints': joints}, f'per_articulation_qpos.{prefix}.')
        named = part.mapping('joints')
        values = vector(f'per_articulation_qpos.{prefix}', list(named.values()))
        for name, value in zip(named, values, strict=True):
            joint = names.get(name, names.get(name.removeprefix(f'{articulation.prefix}_')))
            if joint is None:
                raise unknown('bad_value', 'joint', name, names)
            slots.append((int(model.jnt_qposadr[joint]), float(value)))
    return slots


def _step_seconds(context: Context, fields: Fields) -> float:
    """Estimate a step request; one that has to wait for unpausing counts as slow."""
    engine = context.engine
    if engine.mode == 'direct' and engine.paused:
        return float('inf')
    if engine.mode == 'live' and 'while_paused' not in fields:
        return 0.0
    return engine.seconds_per_step * fields.integer('n_steps', 1)


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register('step', step, seconds=_step_seconds)
    registry.register('reset', reset)
    registry.register('forward', forward)
