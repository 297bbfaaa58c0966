# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
get_entities and set_entity_state (extensions): the entities of the world, by name.

Poses and velocities are in the world frame, of the origin of the body; of an articulation they are
those of its base, the first body of its file.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from urlab_ros_bridge.geometry import pose_of
from urlab_ros_bridge.model import Joint
from urlab_ros_bridge.model.named_bodies import ARTICULATION
from urlab_ros_bridge.model.named_bodies import NamedBody
from urlab_ros_bridge.model.named_bodies import STATIC
from urlab_ros_bridge.sim.admission import admit
from urlab_ros_bridge.sim.admission import prefixes_of
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.model.bounds import boxes_of
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import unit_quaternion
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.registry import ReplyFields
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.simulation import Simulation
from urlab_ros_bridge.wire.stamp import ns_to_block

_BOUNDS_SECONDS = 0.01


def get_entities(simulation: Simulation, session: ServerSession, fields: Fields) -> ReplyFields:
    """
    Return where everything is and how it moves.

    `entities` chooses some by name; with `bounds` each has the corners of the box around its
    geoms, along the world's axes and (`body_bounds`) along those of its body, unless it has no
    geometry that ends somewhere.
    """
    everything = simulation.world.named_bodies
    chosen = [find(everything, name) for name in _names(fields)] or everything.values()
    bounds = fields.boolean('bounds')
    return {
        'entities': [report(simulation, item, bounds) for item in chosen],
        'sim_time': ns_to_block(simulation.engine.clock.stamp_ns),
    }


def set_entity_state(
    simulation: Simulation, session: ServerSession, fields: Fields
) -> ReplyFields:
    """
    Write pose and velocity of what is free, or the pose of a mocap body; the rest stays.

    `pos` m, `quat` wxyz of any length but 0, `linear` m/s, `angular` rad/s.  An angular velocity
    that is not given stays what it is in the world frame, whatever `quat` becomes.
    """
    item = find(simulation.world.named_bodies, fields.string('entity'))
    if not item.movable:
        raise bad_value('entity', item.name, 'free or a mocap body, so it cannot be moved')
    sizes = {'pos': 3, 'quat': 4, 'linear': 3, 'angular': 3}
    given = {
        name: fields.need_vector(name, size) for name, size in sizes.items() if name in fields
    }
    if not given:
        raise OpError('missing_field', 'one of pos, quat, linear, angular')
    if 'quat' in given:
        given['quat'] = unit_quaternion('quat', given['quat'])
    admit(simulation, prefixes_of(simulation.world, [item.body]), session, fields)
    _write(simulation, item, given)
    simulation.engine.forward()
    simulation.engine.state_changed()
    return {
        **report(simulation, item, bounds=False),
        'sim_time': ns_to_block(simulation.engine.clock.stamp_ns),
    }


def find(everything: dict[str, NamedBody], name: object) -> NamedBody:
    """
    Return an entity by name.

    :raises OpError: unknown_body, listing the names.
    """
    found = everything.get(name) if isinstance(name, str) else None
    if found is None:
        raise unknown('unknown_body', 'entity', name, everything)
    return found


def _names(fields: Fields) -> list[Any]:
    names = fields.given('entities')
    if names is None:
        return []
    if not isinstance(names, list) or not names:
        raise bad_value('entities', names, 'a list of names')
    return names


def _write(simulation: Simulation, item: NamedBody, given: dict[str, np.ndarray]) -> None:
    data = simulation.world.data
    if item.mocap >= 0:
        for name in ('linear', 'angular'):
            if name in given and given[name].any():
                raise bad_value(name, given[name].tolist(), '0, as a mocap body has no velocity')
        data.mocap_pos[item.mocap] = given.get('pos', data.mocap_pos[item.mocap])
        data.mocap_quat[item.mocap] = given.get('quat', data.mocap_quat[item.mocap])
        return
    assert item.free is not None  # it is movable
    pos, quat, linear, angular = _slots(item.free)
    turning = given.get('angular')
    if turning is None and 'quat' in given:
        turning = _turned(data.qpos[quat], data.qvel[angular])
    for name, target, slots in (
        ('pos', data.qpos, pos),
        ('quat', data.qpos, quat),
        ('linear', data.qvel, linear),
    ):
        if name in given:
            target[slots] = given[name]
    if turning is not None:
        # A free joint turns about the axes of its body.
        data.qvel[angular] = _turned(_conjugate(data.qpos[quat]), turning)


def _slots(free: Joint) -> tuple[slice, slice, slice, slice]:
    """Return the slots of position and quaternion in qpos, linear and angular in qvel."""
    q, v = free.qpos_address, free.dof_address
    return slice(q, q + 3), slice(q + 3, q + 7), slice(v, v + 3), slice(v + 3, v + 6)


def _turned(quat: np.ndarray, vector: np.ndarray) -> np.ndarray:
    result, unit = np.empty(3), np.array(quat)
    mujoco.mju_normalize4(unit)
    mujoco.mju_rotVecQuat(result, vector, unit)
    return result


def _conjugate(quat: np.ndarray) -> np.ndarray:
    return quat * np.array([1.0, -1.0, -1.0, -1.0])


def report(simulation: Simulation, item: NamedBody, bounds: bool) -> dict[str, Any]:
    """Return the state of an entity; that of a free or mocap body is as new as qpos."""
    model, data = simulation.world.model, simulation.world.data
    pos, quat = data.xpos[item.body], data.xquat[item.body]
    linear, angular = np.zeros(3), np.zeros(3)
    if item.mocap >= 0:
        pos, quat = data.mocap_pos[item.mocap], data.mocap_quat[item.mocap]
    elif item.free is not None:
        slots = _slots(item.free)
        pos, quat, linear = data.qpos[slots[0]], data.qpos[slots[1]], data.qvel[slots[2]]
        angular = _turned(quat, data.qvel[slots[3]])
    elif item.kind != STATIC:
        both = np.empty(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, item.body, both, 0)
        angular, linear = both[:3], both[3:]
    vectors = {'pos': pos, 'quat': quat, 'linear': linear, 'angular': angular}
    report: dict[str, Any] = {'name': item.name, 'kind': item.kind, 'movable': item.movable}
    report['spawned'] = item.name in simulation.world.spawned
    report.update((name, values.tolist()) for name, values in vectors.items())
    if bounds:
        report.update(_bounds(simulation.world, item))
    return report


def _bounds(world: World, item: NamedBody) -> dict[str, Any]:
    """Return the box along the world's axes, and that along those of the body, in its frame."""
    model, data = world.model, world.data
    boxes = boxes_of(model, data, _bodies(world, item))
    body = pose_of(data.xpos[item.body], data.xquat[item.body])
    found = {'bounds': boxes.bounds(), 'body_bounds': boxes.bounds(body.inverse())}
    return {
        name: {'min': corners[0].tolist(), 'max': corners[1].tolist()}
        for name, corners in found.items()
        if corners is not None
    }


def _bodies(world: World, item: NamedBody) -> list[int]:
    """Return the bodies of an articulation, or a body and all that hangs on it."""
    if item.kind == ARTICULATION:
        return [body.id for body in world.articulations[item.name].bodies.values()]
    return [body.id for body in world.tables.subtree(item.body)]


def _seconds(simulation: Simulation, fields: Fields) -> float:
    """Estimate: boxes of many geoms take a while."""
    return _BOUNDS_SECONDS if fields.given('bounds') else 0.0


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register(get_entities, seconds=_seconds)
    registry.register(set_entity_state)
