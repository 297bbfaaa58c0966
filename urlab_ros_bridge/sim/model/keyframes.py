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

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
import logging

import mujoco
import numpy as np

from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.model.elements import FREE
from urlab_ros_bridge.sim.model.mjcf_import import compile_spec

Values = dict[tuple[str, str], np.ndarray]  # by array of MjData, and by name of the element


@dataclass(frozen=True)
class _Part:
    """One keyframe of one file, by element names of that file."""

    name: str
    prefix: str
    time: float
    values: Values


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
            name = part.prefix + part.name if part.name else ''
            add_key(spec, name, part.time, _compose(model, same))
        return compile_spec(spec, 'the world with its keyframes', logging.DEBUG)


def add_key(spec: mujoco.MjSpec, name: str, time: float, data: mujoco.MjData) -> None:
    """Add a keyframe to a spec: the state of `data`, at a time (s)."""
    spec.add_key(
        name=name,
        time=time,
        qpos=data.qpos,
        qvel=data.qvel,
        ctrl=data.ctrl,
        act=data.act,
        mpos=data.mocap_pos.ravel(),
        mquat=data.mocap_quat.ravel(),
    )


def _slots(tables: WorldModel) -> Iterator[tuple[str, str, slice | int]]:
    """Yield what keyframes hold: array of MjData, name of the element, its slots there."""
    for joint in tables.joints:
        yield 'qpos', joint.name, joint.qpos_slots
        yield 'qvel', joint.name, joint.dof_slots
    for actuator in tables.actuators:
        yield 'ctrl', actuator.name, actuator.id
        yield 'act', actuator.name, actuator.activation_slots
    for body in tables.bodies:
        if body.mocap:
            yield 'mocap_pos', body.name, body.mocap_id
            yield 'mocap_quat', body.name, body.mocap_id


def _read(
    model: mujoco.MjModel, index: int, prefix: str, pos: np.ndarray, quat: np.ndarray
) -> _Part:
    tables, data = WorldModel(model), mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, index)
    values = {
        (array, name): np.array(getattr(data, array)[slots])
        for array, name, slots in _slots(tables)
    }
    for joint in tables.joints:
        if joint.kind == FREE:
            keys = ('qpos', joint.name), ('qvel', joint.name)
            both = _place(values[keys[0]], values[keys[1]], pos, quat)
            values.update(zip(keys, both, strict=True))
    return _Part(model.key(index).name, prefix, float(model.key_time[index]), values)


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


def _compose(model: mujoco.MjModel, parts: list[_Part]) -> mujoco.MjData:
    data = mujoco.MjData(model)
    slots = {(array, name): place for array, name, place in _slots(WorldModel(model))}
    for part in reversed(parts):
        for (array, name), value in part.values.items():
            # Elements of the scene have no prefix.
            place = slots.get((array, part.prefix + name), slots.get((array, name)))
            getattr(data, array)[place] = value
    return data
