# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""set_qpos, mocap poses and keyframes."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model.named_bodies import NamedBody
from urlab_ros_bridge.sim.admission import admit
from urlab_ros_bridge.sim.admission import prefixes_of
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.ops.commands import entity_of
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import unit_quaternion
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation


def set_qpos(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Write one articulation's qpos, or just its free base with 7 values; qvel is left alone.

    `target` is an actor_id, or a prefix with ``"target_by": "actor_name"``.
    """
    target = fields.string('target')
    if (entity := entity_of(simulation, target)) is not None:
        return _place_entity(simulation, session, fields, entity)
    articulation = _target(simulation, target, fields.string('target_by').lower())
    values = fields.need_vector('qpos')
    if articulation.nq == 0:
        raise OpError('no_joints', f'{articulation.prefix} has no joints')
    base_only = len(values) == 7 and articulation.starts_free and articulation.nq != 7
    if not base_only and len(values) != articulation.nq:
        either = ' or 7 (the free base)' if articulation.starts_free else ''
        raise OpError(
            'dim_mismatch',
            f'qpos has {len(values)} values, {articulation.prefix} has {articulation.nq}{either}',
        )
    if articulation.starts_free:
        unit_quaternion('qpos[3:7]', values[3:7])
    admit(simulation, (articulation.prefix,), session, fields)
    data = simulation.world.data
    if base_only:
        data.qpos[articulation.all_joints[0].qpos_slots] = values
    else:
        data.qpos[articulation.qpos] = values
    simulation.engine.forward()
    simulation.engine.state_changed()
    reply = {
        'target': target,
        'actor_name': articulation.prefix,
        'qpos': values.tolist(),
        'free_base_shortcut': bool(base_only),
    }
    if articulation.actor_id:
        reply['actor_id'] = articulation.actor_id
    return reply


def _place_entity(
    simulation: Simulation, session: ServerSession, fields: Fields, entity: NamedBody
) -> ReplyFields:
    """Write the pose of what is free: position (m) and quaternion wxyz."""
    values = fields.need_vector('qpos')
    if entity.free is None:
        raise OpError('no_joints', f'{entity.name} has no free base')
    if len(values) != 7:
        raise OpError('dim_mismatch', f'qpos has {len(values)} values, {entity.name} has 7')
    unit_quaternion('qpos[3:7]', values[3:7])
    admit(simulation, (entity.name,), session, fields)
    simulation.world.data.qpos[entity.free.qpos_slots] = values
    simulation.engine.forward()
    simulation.engine.state_changed()
    return {
        'target': entity.name,
        'actor_name': entity.name,
        'qpos': values.tolist(),
        'free_base_shortcut': True,
    }


def _target(simulation: Simulation, target: str, target_by: str) -> RobotModel:
    articulations = simulation.world.articulations
    if target_by != 'actor_name':
        for articulation in articulations.values():
            if articulation.actor_id == target:
                return articulation
        raise unknown(
            'unknown_articulation',
            'actor id',
            target,
            (item.actor_id for item in articulations.values()),
        )
    if target not in articulations:
        raise unknown('unknown_articulation', 'articulation', target, articulations)
    return articulations[target]


def set_mocap_pose(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Move a mocap body: `pos` in metres, `quat` as wxyz; at least one of them."""
    slot = _mocap_slot(simulation, fields)
    pos, quat = fields.vector('pos', size=3), fields.vector('quat', size=4)
    if pos is None and quat is None:
        raise OpError('missing_field', 'pos or quat')
    if quat is not None:
        unit_quaternion('quat', quat)
    world = simulation.world
    data = world.data
    admit(simulation, prefixes_of(world, [world.body_id(fields.string('body'))]), session, fields)
    if pos is not None:
        data.mocap_pos[slot] = pos
    if quat is not None:
        data.mocap_quat[slot] = quat
    simulation.engine.invalidate()
    if simulation.engine.run.paused or simulation.engine.run.mode != 'live':
        simulation.engine.forward()
        simulation.engine.state_changed()
    return _mocap_reply(simulation, fields, slot)


def read_mocap_pose(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Return the pose of a mocap body."""
    return _mocap_reply(simulation, fields, _mocap_slot(simulation, fields))


def _mocap_slot(simulation: Simulation, fields: Fields) -> int:
    name = fields.string('body')
    slot = int(simulation.world.model.body_mocapid[simulation.world.body_id(name)])
    if slot < 0:
        model = simulation.world.model
        raise unknown(
            'not_mocap_body',
            'mocap body',
            name,
            (
                model.body(body).name
                for body in range(model.nbody)
                if model.body_mocapid[body] >= 0
            ),
        )
    return slot


def _mocap_reply(simulation: Simulation, fields: Fields, slot: int) -> dict[str, Any]:
    data = simulation.world.data
    return {
        'body': fields.string('body'),
        'pos': data.mocap_pos[slot].tolist(),
        'quat': data.mocap_quat[slot].tolist(),
    }


def list_keyframes(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """Return every keyframe of the compiled model, vectors in compiled order."""
    model = simulation.world.model
    return {
        'keyframes': [
            {
                'name': model.key(key).name,
                'time': float(model.key_time[key]),
                'qpos': model.key_qpos[key].tolist(),
                'qvel': model.key_qvel[key].tolist(),
                'ctrl': model.key_ctrl[key].tolist(),
                'mocap_pos': model.key_mpos[key].ravel().tolist(),
                'mocap_quat': model.key_mquat[key].ravel().tolist(),
            }
            for key in range(model.nkey)
        ]
    }


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(set_qpos, set_mocap_pose, read_mocap_pose, list_keyframes)
