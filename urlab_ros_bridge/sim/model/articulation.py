# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Index tables of articulations and entities: which slots of the model belong to whom.

Members are found by compiled name, ``{prefix}_{local}``, as stock clients find them.  Vectors
follow the protocol: qpos and qvel are the joints' slots concatenated in order of joint id, ctrl,
act and actuator_force run in order of actuator id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from urlab_ros_bridge.sim.model.keyframes import joint_widths

Index = slice | np.ndarray

# Plain ints: numpy integers do not compare reliably with MuJoCo's enums.
_SCALAR_JOINTS = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_FREE = int(mujoco.mjtJoint.mjJNT_FREE)


class Member(NamedTuple):
    """One element of an articulation: local name, compiled id."""

    name: str
    id: int


class SensorSlots(NamedTuple):
    """One sensor: local name, compiled id, place in sensordata."""

    name: str
    id: int
    start: int
    stop: int


def as_index(slots: list[int]) -> Index:
    """Return a slice when the slots are contiguous (a view, no copy), else an index array."""
    if slots and slots == list(range(slots[0], slots[0] + len(slots))):
        return slice(slots[0], slots[0] + len(slots))
    return np.array(slots, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class ArticulationIndex:
    """
    One robot of the model.

    :ivar qpos: slots in data.qpos, `nq` of them; `qvel` likewise with `nv`.
    :ivar scalar_joints: hinge and slide joints, with `scalar_qpos` and `scalar_dof` slots.
    :ivar wire_joints: joints that have a joint row: hinge, slide and ball.
    """

    prefix: str
    actor_id: str
    joints: tuple[Member, ...]
    actuators: tuple[Member, ...]
    sensors: tuple[SensorSlots, ...]
    bodies: tuple[Member, ...]
    qpos: Index
    qvel: Index
    nq: int
    nv: int
    actuator_index: Index
    act_slots: tuple[tuple[int, int], ...]
    free_joints: tuple[Member, ...]
    wire_joints: tuple[Member, ...]
    scalar_joints: tuple[Member, ...]
    scalar_dof: Index
    first_joint_free: bool

    @property
    def nu(self) -> int:
        """Return the number of actuators."""
        return len(self.actuators)

    def local(self, kind: str) -> dict[str, int]:
        """Return {local name: compiled id} of 'joints', 'actuators', 'sensors' or 'bodies'."""
        return {member.name: member.id for member in getattr(self, kind)}


class FreeJoint(NamedTuple):
    """A free joint: compiled name and id, slots in qpos and qvel."""

    name: str
    id: int
    qpos: slice
    qvel: slice


@dataclass(frozen=True, slots=True)
class EntityIndex:
    """A dynamic body that belongs to no articulation; `free` is its free joint, if it has one."""

    name: str
    body: int
    free: FreeJoint | None


def index_articulation(model: mujoco.MjModel, prefix: str, actor_id: str) -> ArticulationIndex:
    """Build the tables of the articulation whose names start with ``{prefix}_``."""
    joints = _members(model, prefix, mujoco.mjtObj.mjOBJ_JOINT, model.njnt)
    # Since MuJoCo 4 an actuator may have several controls; the protocol knows one each.
    count = getattr(model, 'nactuator', model.nu)
    actuators = _members(model, prefix, mujoco.mjtObj.mjOBJ_ACTUATOR, count)
    qpos, qvel = _slots(model, joints)
    scalar = tuple(j for j in joints if model.jnt_type[j.id] in _SCALAR_JOINTS)
    return ArticulationIndex(
        prefix=prefix,
        actor_id=actor_id,
        joints=joints,
        actuators=actuators,
        sensors=_sensors(model, prefix),
        bodies=_members(model, prefix, mujoco.mjtObj.mjOBJ_BODY, model.nbody),
        qpos=as_index(qpos),
        qvel=as_index(qvel),
        nq=len(qpos),
        nv=len(qvel),
        actuator_index=as_index([actuator.id for actuator in actuators]),
        act_slots=tuple(
            (position, int(model.actuator_actadr[actuator.id]))
            for position, actuator in enumerate(actuators)
            if model.actuator_actnum[actuator.id] > 0
        ),
        free_joints=tuple(j for j in joints if model.jnt_type[j.id] == _FREE),
        wire_joints=tuple(j for j in joints if model.jnt_type[j.id] != _FREE),
        scalar_joints=scalar,
        scalar_dof=as_index([int(model.jnt_dofadr[joint.id]) for joint in scalar]),
        first_joint_free=bool(joints) and model.jnt_type[joints[0].id] == _FREE,
    )


def _slots(model: mujoco.MjModel, joints: Sequence[Member]) -> tuple[list[int], list[int]]:
    """Return the places of joints in qpos and qvel, in the order of the joints."""
    qpos: list[int] = []
    qvel: list[int] = []
    for joint in joints:
        width_q, width_v = joint_widths(model, joint.id)
        start_q, start_v = int(model.jnt_qposadr[joint.id]), int(model.jnt_dofadr[joint.id])
        qpos += range(start_q, start_q + width_q)
        qvel += range(start_v, start_v + width_v)
    return qpos, qvel


def _sensors(model: mujoco.MjModel, prefix: str) -> tuple[SensorSlots, ...]:
    found = []
    for name, sensor in _members(model, prefix, mujoco.mjtObj.mjOBJ_SENSOR, model.nsensor):
        start = int(model.sensor_adr[sensor])
        found.append(SensorSlots(name, sensor, start, start + int(model.sensor_dim[sensor])))
    return tuple(found)


def index_entities(model: mujoco.MjModel, prefixes: list[str]) -> dict[str, EntityIndex]:
    """Return the bodies that can move (joints or mocap) and belong to no articulation."""
    entities = {}
    for body in range(1, model.nbody):
        name = model.body(body).name
        if any(name.startswith(f'{prefix}_') for prefix in prefixes):
            continue
        if model.body_jntnum[body] or model.body_mocapid[body] >= 0:
            entities[name] = _entity(model, name, body)
    return entities


def _entity(model: mujoco.MjModel, name: str, body: int) -> EntityIndex:
    first = int(model.body_jntadr[body])
    if first < 0 or model.jnt_type[first] != _FREE:
        return EntityIndex(name, body, None)
    start_q, start_v = int(model.jnt_qposadr[first]), int(model.jnt_dofadr[first])
    slots = slice(start_q, start_q + 7), slice(start_v, start_v + 6)
    return EntityIndex(name, body, FreeJoint(model.joint(first).name, first, *slots))


def _members(
    model: mujoco.MjModel, prefix: str, kind: mujoco.mjtObj, count: int
) -> tuple[Member, ...]:
    start = f'{prefix}_'
    found = []
    for element in range(count):
        name = mujoco.mj_id2name(model, kind, element) or ''
        if name.startswith(start):
            found.append(Member(name[len(start) :], element))
    return tuple(found)
