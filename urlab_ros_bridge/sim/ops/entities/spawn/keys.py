# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Carries the keyframes of a world over to one with an entity added or removed."""

from __future__ import annotations

import mujoco

from urlab_ros_bridge.sim.ops.entities.spawn.tags import both_slots
from urlab_ros_bridge.sim.ops.entities.spawn.tags import Same


def add_keyframes(
    old: mujoco.MjModel, spec: mujoco.MjSpec, model: mujoco.MjModel, same: Same, dropped: str
) -> int:
    """
    Add the keyframes of the old model to a spec; what is new is in its reference configuration.

    :param model: what `spec` compiles to without them.
    :param dropped: beginning of the names of those that are left out, '' for none.
    :return: how many were added.
    """
    before, now = both_slots(old, model, same)
    kept = [
        key for key in range(old.nkey) if not (dropped and old.key(key).name.startswith(dropped))
    ]
    for key in kept:
        data = mujoco.MjData(model)
        data.qpos[now.qpos] = old.key_qpos[key][before.qpos]
        data.qvel[now.qvel] = old.key_qvel[key][before.qvel]
        data.ctrl[now.ctrl] = old.key_ctrl[key][before.ctrl]
        data.act[now.act] = old.key_act[key][before.act]
        data.mocap_pos[now.mocap] = old.key_mpos[key].reshape(-1, 3)[before.mocap]
        data.mocap_quat[now.mocap] = old.key_mquat[key].reshape(-1, 4)[before.mocap]
        spec.add_key(
            name=old.key(key).name,
            time=float(old.key_time[key]),
            qpos=data.qpos,
            qvel=data.qvel,
            ctrl=data.ctrl,
            act=data.act,
            mpos=data.mocap_pos.ravel(),
            mquat=data.mocap_quat.ravel(),
        )
    return len(kept)


__all__ = ['add_keyframes']
