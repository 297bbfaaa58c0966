# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The entities of a world, by name: robots, free, jointed, mocap and static bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco

from urlab_ros_bridge.sim.model.articulation import ArticulationIndex

ARTICULATION, ENTITY, MOCAP, STATIC = 'articulation', 'entity', 'mocap', 'static'
_FREE = int(mujoco.mjtJoint.mjJNT_FREE)


@dataclass(frozen=True, slots=True)
class NamedBody:
    """
    An entity of the world.

    :ivar kind: articulation, entity (it has joints), mocap (clients move it) or static.
    :ivar body: the body whose pose it has.
    :ivar qpos: address of its free joint in qpos, -1 without one; `qvel` likewise.
    :ivar mocap: slot of its mocap pose, -1 without one.
    """

    name: str
    kind: str
    body: int
    qpos: int
    qvel: int
    mocap: int

    @property
    def movable(self) -> bool:
        """Return whether a pose can be written."""
        return self.qpos >= 0 or self.mocap >= 0


def named_bodies(
    model: mujoco.MjModel, articulations: Mapping[str, ArticulationIndex]
) -> dict[str, NamedBody]:
    """
    Return all articulations, entities and static bodies of a model by name.

    A static one is a body without joints that stands directly in the world.  When a body has the
    name of an articulation, the name means the articulation.
    """
    found: dict[str, NamedBody] = {}
    for prefix, articulation in articulations.items():
        if articulation.bodies:
            found[prefix] = _standing(model, prefix, ARTICULATION, articulation.bodies[0].id)
    prefixes = tuple(f'{prefix}_' for prefix in articulations)
    for body in range(1, model.nbody):
        name = model.body(body).name
        if name.startswith(prefixes) or name in found:
            continue
        if model.body_mocapid[body] >= 0:
            found[name] = _standing(model, name, MOCAP, body)
        elif model.body_jntnum[body]:
            found[name] = _standing(model, name, ENTITY, body)
        elif name and model.body_parentid[body] == 0:
            found[name] = _standing(model, name, STATIC, body)
    return found


def _standing(model: mujoco.MjModel, name: str, kind: str, body: int) -> NamedBody:
    joint, mocap = int(model.body_jntadr[body]), int(model.body_mocapid[body])
    if joint < 0 or model.jnt_type[joint] != _FREE:
        return NamedBody(name, kind, body, -1, -1, mocap)
    start_q, start_v = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
    return NamedBody(name, kind, body, start_q, start_v, mocap)


__all__ = ['ARTICULATION', 'ENTITY', 'MOCAP', 'STATIC', 'NamedBody', 'named_bodies']
