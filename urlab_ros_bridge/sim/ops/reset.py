# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""reset and forward: rewinding the world, and recomputing what follows from its state."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.sim.admission import admit
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.ops.step import observe
from urlab_ros_bridge.sim.ops.step import requested_view
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import find_element
from urlab_ros_bridge.sim.requests.fields import vector
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.wire.stamp import MAX_TIME

_OF_THE_STATE = ('keyframe_name', 'seed', 'per_articulation_qpos', 'keep_time')


def reset(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Rewind to a keyframe or the state that the world starts in, then override single joints.

    Without a `start_keyframe` in the sidecar that is mj_resetData's.

    `seed` starts the noise of the sensors; mj_step itself has no randomness.  Three extensions:
    `keep_time` resets the state but not the clock, `keep_state` the clock but not the state, and
    `articulation` one robot alone, which keeps the time.
    """
    world, engine = simulation.world, simulation.engine
    if fields.boolean('keep_state'):
        _rewind(simulation, fields)
        return _observed(simulation, session)
    name = fields.string('keyframe_name')
    key = world.keyframe_id(name) if name else None
    if key is not None and not 0.0 <= world.model.key_time[key] <= MAX_TIME:
        raise bad_value(
            f'time of keyframe {name}', float(world.model.key_time[key]), f'from 0 to {MAX_TIME:g}'
        )
    seed = fields.number('seed')
    overrides = _joint_overrides(simulation, fields)
    overridden = {world.articulation(each).prefix for each in _overrides(fields)}
    admit(simulation, overridden, session, fields, moves=False)
    robot = fields.string('articulation')
    if robot:
        _reset_robot(simulation, fields, robot, key)
    else:
        engine.reset(key, fields.boolean('keep_time'), None if seed is None else _whole(seed))
    for slot, value in overrides:
        world.data.qpos[slot] = value
    engine.forward()
    engine.state_changed()
    return _observed(simulation, session)


def _observed(simulation: Simulation, session: ServerSession) -> dict[str, Any]:
    return observe(simulation, session, requested_view(Fields({}), session))


def _reset_robot(simulation: Simulation, fields: Fields, prefix: str, key: int | None) -> None:
    """Reset one robot, and nothing else."""
    if not fields.boolean('keep_time'):
        raise bad_value('keep_time', False, 'true where there is an articulation')
    if fields.given('seed'):
        raise bad_value('seed', fields.number('seed'), 'absent where there is an articulation')
    world = simulation.world
    robot = world.articulation(prefix)
    if key is not None and key not in robot.keyframes.values():
        own = [robot.compiled(name) for name in robot.keyframes]
        raise unknown('unknown_keyframe', 'keyframe', world.model.key(key).name, own)
    simulation.engine.reset_robot(robot, key)


def _rewind(simulation: Simulation, fields: Fields) -> None:
    others = [name for name in _OF_THE_STATE if fields.given(name)]
    if others:
        raise bad_value('keep_state', True, f'false where there is {", ".join(others)}')
    if simulation.engine.run.replay_source is not None:
        raise OpError('not_ready', 'a replay sets the time; call replay_stop first')
    simulation.engine.rewind_clock()
    simulation.engine.forward()
    simulation.engine.state_changed()


def _whole(seed: float) -> int:
    """Return a seed that the generator takes; stock servers accept any number."""
    return int(seed) % 2**63


def forward(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Recompute derived state without advancing time, and observe."""
    view = requested_view(fields, session)
    simulation.engine.forward()
    simulation.engine.state_changed()
    return observe(simulation, session, view)


def _overrides(fields: Fields) -> dict[str, Any]:
    return fields.mapping('per_articulation_qpos')


def _joint_overrides(simulation: Simulation, fields: Fields) -> list[tuple[int, float]]:
    """Resolve {prefix: {joint: value}} to qpos slots; a joint of several slots takes its first."""
    slots = []
    for prefix, given in _overrides(fields).items():
        articulation = simulation.world.articulation(prefix)
        joints = {joint.name: joint for joint in articulation.all_joints}
        part = Fields({'joints': given}, f'per_articulation_qpos.{prefix}.')
        named = part.mapping('joints')
        values = vector(f'per_articulation_qpos.{prefix}', list(named.values()))
        for name, value in zip(named, values, strict=True):
            joint = find_element('joint', name, prefix, joints)
            slots.append((joint.qpos_address, float(value)))
    return slots


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(reset, forward)
