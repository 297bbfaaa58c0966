# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Keyframes across attachment.

MuJoCo's own merge copies a robot's keyframe poses unchanged and fills the rest of the world with
zeros or defaults.  Here a keyframe ``home`` of a robot becomes ``{prefix}_home`` of the
world: its free base is placed relative to the pose at which the robot was attached, everything
else is at its reference configuration, and other robots that have a keyframe of the same local
name are put into theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import logging
from typing import TypeVar

import mujoco
import numpy as np

from urlab_ros_bridge.model import Element
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.model.elements import FREE
from urlab_ros_bridge.sim.model.mjcf_import import compile_spec

E = TypeVar('E', bound=Element)


@dataclass
class _Part:
    """One keyframe of one file, by element names of that file."""

    name: str
    prefix: str
    time: float
    qpos: dict[str, np.ndarray]
    qvel: dict[str, np.ndarray]
    ctrl: dict[str, float]
    act: dict[str, np.ndarray]
    mocap: dict[str, tuple[np.ndarray, np.ndarray]]


class KeyframeMerger:
    """Removes keyframes from specs before they are attached, and adds them to the result."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []

    def collect(
        self,
        spec: mujoco.MjSpec,
        prefix: str = '',
        pos: Sequence[float] = (0.0, 0.0, 0.0),
        quat: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
    ) -> None:
        """Read the keyframes of `spec` (attached later at pos, quat wxyz), delete them there."""
        # A size only reserves unnamed keyframes; attaching would warn about it.
        spec.nkey = 0
        if not spec.keys:
            return
        model = compile_spec(spec.copy(), f'model {spec.modelname!r}', logging.DEBUG)
        for index in range(model.nkey):
            self._parts.append(
                _read(model, index, prefix, np.asarray(pos, float), np.asarray(quat, float))
            )
        for key in list(spec.keys):
            spec.delete(key)

    def merge_into(self, spec: mujoco.MjSpec, model: mujoco.MjModel) -> mujoco.MjModel:
        """Add the keyframes to the assembled spec and return the recompiled model."""
        if not self._parts:
            return model
        for part in self._parts:
            same = [part] + [
                other
                for other in self._parts
                if other is not part and part.prefix and other.prefix and other.name == part.name
            ]
            vectors = _compose(model, same)
            name = part.prefix + part.name if part.name else ''
            spec.add_key(name=name, time=part.time, **vectors)
        return compile_spec(spec, 'the world with its keyframes', logging.DEBUG)


def _read(
    model: mujoco.MjModel, index: int, prefix: str, pos: np.ndarray, quat: np.ndarray
) -> _Part:
    tables = WorldModel(model)
    qpos, qvel = {}, {}
    for joint in tables.joints:
        q = model.key_qpos[index][joint.qpos_slots].copy()
        v = model.key_qvel[index][joint.dof_slots].copy()
        if joint.kind == FREE:
            q, v = _place(q, v, pos, quat)
        qpos[joint.name], qvel[joint.name] = q, v
    ctrl, act = model.key_ctrl[index], model.key_act[index]
    mpos, mquat = model.key_mpos[index].reshape(-1, 3), model.key_mquat[index].reshape(-1, 4)
    mocaps = {body.name: body.mocap_id for body in tables.bodies if body.mocap}
    return _Part(
        model.key(index).name,
        prefix,
        float(model.key_time[index]),
        qpos,
        qvel,
        {each.name: float(ctrl[each.id]) for each in tables.actuators},
        {each.name: act[each.activation_slots].copy() for each in tables.actuators},
        {name: (mpos[row].copy(), mquat[row].copy()) for name, row in mocaps.items()},
    )


def _place(
    qpos: np.ndarray, qvel: np.ndarray, pos: np.ndarray, quat: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Express a free joint's state, given in the robot's file, in the world it is attached to."""
    unit = quat / np.linalg.norm(quat)
    out_q, out_v = qpos.copy(), qvel.copy()
    mujoco.mju_rotVecQuat(out_q[:3], qpos[:3], unit)
    out_q[:3] += pos
    mujoco.mju_mulQuat(out_q[3:7], unit, qpos[3:7])
    mujoco.mju_rotVecQuat(out_v[:3], qvel[:3], unit)
    return out_q, out_v


def _compose(model: mujoco.MjModel, parts: list[_Part]) -> dict[str, np.ndarray]:
    data, tables = mujoco.MjData(model), WorldModel(model)
    joints, bodies = _by_name(tables.joints), _by_name(tables.bodies)
    actuators = _by_name(tables.actuators)
    for part in reversed(parts):
        for name, value in part.qpos.items():
            data.qpos[_find(joints, part.prefix, name).qpos_slots] = value
        for name, value in part.qvel.items():
            data.qvel[_find(joints, part.prefix, name).dof_slots] = value
        for name, setpoint in part.ctrl.items():
            data.ctrl[_find(actuators, part.prefix, name).id] = setpoint
        for name, value in part.act.items():
            data.act[_find(actuators, part.prefix, name).activation_slots] = value
        for name, (pos, quat) in part.mocap.items():
            row = _find(bodies, part.prefix, name).mocap_id
            data.mocap_pos[row], data.mocap_quat[row] = pos, quat
    return {
        'qpos': data.qpos,
        'qvel': data.qvel,
        'ctrl': data.ctrl,
        'act': data.act,
        'mpos': data.mocap_pos.ravel(),
        'mquat': data.mocap_quat.ravel(),
    }


def _by_name(elements: Iterable[E]) -> dict[str, E]:
    return {element.name: element for element in elements}


def _find(elements: Mapping[str, E], prefix: str, name: str) -> E:
    """Return an element by its prefixed name; elements of the scene have no prefix."""
    return elements[prefix + name] if prefix + name in elements else elements[name]
