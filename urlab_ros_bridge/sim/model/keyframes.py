# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Keyframes across attachment.

MuJoCo's own merge writes a robot's keyframe poses as they stand and fills the rest of the world
with zeros or defaults.  Here a keyframe ``home`` of a robot becomes ``{prefix}_home`` of the
world: its free base is placed relative to the pose at which the robot was attached, everything
else is at its reference configuration, and other robots that have a keyframe of the same local
name are put into theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
import logging

import mujoco
import numpy as np

from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.model.elements import FREE
from urlab_ros_bridge.sim.model.mjcf_import import compile_spec


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


class KeyframeBook:
    """Takes the keyframes out of specs before they are attached, and puts them back after."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []

    def take(
        self,
        spec: mujoco.MjSpec,
        prefix: str = '',
        pos: Sequence[float] = (0.0, 0.0, 0.0),
        quat: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
    ) -> None:
        """Read the keyframes of `spec` (attached later at pos, quat wxyz), delete them there."""
        # A size is only room for unnamed keyframes; attaching warns of it.
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

    def restore(self, spec: mujoco.MjSpec, model: mujoco.MjModel) -> mujoco.MjModel:
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
    qpos, qvel = {}, {}
    for joint in WorldModel(model).joints:
        q = model.key_qpos[index][joint.qpos_slots].copy()
        v = model.key_qvel[index][joint.dof_slots].copy()
        if joint.kind == FREE:
            q, v = _place(q, v, pos, quat)
        qpos[joint.name], qvel[joint.name] = q, v
    ctrl, act = {}, {}
    for actuator in range(model.nu):
        name = model.actuator(actuator).name
        ctrl[name] = float(model.key_ctrl[index][actuator])
        start, count = model.actuator_actadr[actuator], model.actuator_actnum[actuator]
        if count > 0:
            act[name] = model.key_act[index][start : start + count].copy()
    mocap = {}
    for body in range(model.nbody):
        mocap_id = model.body_mocapid[body]
        if mocap_id >= 0:
            mocap[model.body(body).name] = (
                model.key_mpos[index].reshape(-1, 3)[mocap_id].copy(),
                model.key_mquat[index].reshape(-1, 4)[mocap_id].copy(),
            )
    return _Part(
        model.key(index).name, prefix, float(model.key_time[index]), qpos, qvel, ctrl, act, mocap
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
    data = mujoco.MjData(model)
    for part in reversed(parts):
        joint, actuator, body = (
            partial(_find, model, kind, part.prefix)
            for kind in (
                mujoco.mjtObj.mjOBJ_JOINT,
                mujoco.mjtObj.mjOBJ_ACTUATOR,
                mujoco.mjtObj.mjOBJ_BODY,
            )
        )
        for name, value in part.qpos.items():
            start = model.jnt_qposadr[joint(name)]
            data.qpos[start : start + len(value)] = value
        for name, value in part.qvel.items():
            start = model.jnt_dofadr[joint(name)]
            data.qvel[start : start + len(value)] = value
        for name, setpoint in part.ctrl.items():
            data.ctrl[actuator(name)] = setpoint
        for name, value in part.act.items():
            start = model.actuator_actadr[actuator(name)]
            data.act[start : start + len(value)] = value
        for name, (pos, quat) in part.mocap.items():
            mocap_id = model.body_mocapid[body(name)]
            data.mocap_pos[mocap_id], data.mocap_quat[mocap_id] = pos, quat
    return {
        'qpos': data.qpos,
        'qvel': data.qvel,
        'ctrl': data.ctrl,
        'act': data.act,
        'mpos': data.mocap_pos.ravel(),
        'mquat': data.mocap_quat.ravel(),
    }


def _find(model: mujoco.MjModel, kind: mujoco.mjtObj, prefix: str, name: str) -> int:
    """Return an element by its prefixed name; what stayed with the scene kept its own."""
    found = mujoco.mj_name2id(model, kind, prefix + name)
    return found if found >= 0 else mujoco.mj_name2id(model, kind, name)
