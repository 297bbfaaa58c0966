# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The state that a client pushes in puppet mode: whole vectors, or values by joint (extension).

Vectors have the order of the compiled model (`qpos_joints` of the handshake).  By name no order
matters; a joint is called as in the compiled model, or by its local name where only one robot has
a joint of this name.  Joints that are not named keep their values.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.errors import unknown
from urlab_ros_bridge.sim.model.keyframes import joint_widths
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import vector

_TURNS = (int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL))
_SHORTEST = 1e-6


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
    for name, addresses, which in (
        ('qpos', model.jnt_qposadr, 0),
        ('qvel', model.jnt_dofadr, 1),
    ):
        field = f'{name}_map'
        named = fields.mapping(field)
        if named and name not in pushed:
            pushed[name] = getattr(world.data, name).copy()
        for joint, values in _by_joint(world, field, named, which):
            start = int(addresses[joint])
            pushed[name][start : start + len(values)] = values
    return pushed


def _by_joint(
    world: World, field: str, named: dict[str, Any], which: int
) -> list[tuple[int, np.ndarray]]:
    """Return joint and values; `which` is 0 for the widths of qpos, 1 for those of qvel."""
    found: dict[int, tuple[str, np.ndarray]] = {}
    for name, value in named.items():
        joint, where = _joint(world, field, name), f'{field}.{name}'
        if joint in found:
            raise bad_value(field, name, f'another joint than {found[joint][0]!r}')
        values = vector(where, value if isinstance(value, list) else [value])
        width = joint_widths(world.model, joint)[which]
        if len(values) != width:
            raise OpError(
                'dim_mismatch', f'{where} has {len(values)} values, the joint has {width}'
            )
        turns = world.model.jnt_type[joint] in _TURNS
        if turns and not which and np.linalg.norm(values[-4:]) < _SHORTEST:
            raise bad_value(where, value, 'a rotation (its norm is 0)')
        found[joint] = (name, values)
    return [(joint, values) for joint, (_, values) in found.items()]


def _joint(world: World, field: str, name: object) -> int:
    """Return the joint that a name means; a compiled name always means its own joint."""
    model, robots = world.model, world.articulations.values()
    if isinstance(name, str):
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint >= 0:
            return joint
    found = [member.id for robot in robots for member in robot.joints if member.name == name]
    if len(found) > 1:
        several = 'a name of one joint only: put the prefix before it'
        raise bad_value(field, name, several)
    if not found:
        local = [member.name for robot in robots for member in robot.joints]
        compiled = [model.joint(index).name for index in range(model.njnt)]
        raise unknown('bad_value', 'joint', name, [*local, *compiled])
    return found[0]
