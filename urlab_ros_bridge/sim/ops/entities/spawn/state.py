# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Carries the state of a running world over to the world that replaces it.

Everything that both worlds have is carried bit for bit: what MuJoCo integrates, its warm start,
options, drawn values, commands, wrenches, scans and noise.  Derived quantities are recomputed.
"""

from __future__ import annotations

import mujoco
import numpy as np

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.ops.entities.spawn.tags import both_slots
from urlab_ros_bridge.sim.ops.entities.spawn.tags import Same
from urlab_ros_bridge.sim.ops.entities.spawn.tags import Slots
from urlab_ros_bridge.sim.stage import Context

# Array of MjData -> which slots count.
_ARRAYS = {
    'qpos': 'qpos',
    'qvel': 'qvel',
    'qfrc_applied': 'qvel',
    'qacc_warmstart': 'qvel',
    'ctrl': 'ctrl',
    'act': 'act',
    'xfrc_applied': 'body',
    'mocap_pos': 'mocap',
    'mocap_quat': 'mocap',
    'eq_active': 'eq',
}
_WHOLE = ('userdata', 'plugin_state')  # carried when the sizes agree


def check_idle(context: Context) -> None:
    """
    Make sure that nothing is under way that holds on to the model.

    :raises OpError: recording_already_active, not_ready.
    """
    if context.recorder.active:
        raise OpError(
            'recording_already_active',
            'the model cannot change during a recording; call recording_stop first',
        )
    if context.engine.run.replay_source is not None:
        raise OpError(
            'not_ready', 'the model cannot change during a replay; call replay_stop first'
        )


def carry(old: Context, new: Context, same: Same) -> None:
    """
    Let `new` continue where `old` is.  Needs the old engine's lock; `new` is not shared yet.

    :raises OpError: as `check_idle` does.
    """
    check_idle(old)
    write_state(old, new, same)
    data = new.world.data
    warm = data.qacc_warmstart.copy()
    mujoco.mj_forward(new.world.model, data)
    data.qacc_warmstart[:] = warm
    slots = []
    before, now = both_slots(old.world.model, new.world.model, same)
    for prefix, control in new.engine.controls.items():
        other = old.engine.controls.get(prefix)
        if other is not None:
            control.resume(other)
            slots += [(other.slots[name], control.slots[name]) for name in control.slots]
    bodies = dict(zip(before.body.tolist(), now.body.tolist(), strict=True))
    new.engine.external.resume(old.engine.external, bodies, slots)
    new.engine.sensing.resume(old.engine.sensing, new.world.data)
    new.engine.run.resume(old.engine.run)
    new.engine.clock.resume(old.engine.clock)
    new.engine.divergence = old.engine.divergence
    new.engine.revision = old.engine.revision + 1
    new.recorder.resume(old.recorder)
    new.replay.resume(old.replay)
    new.live.meter = old.live.meter


def write_state(old: Context, new: Context, same: Same) -> None:
    """
    Write options, drawn values and state of `old` into `new`, which may be done repeatedly.

    What follows from them is not computed.  Needs the old engine's lock.
    """
    before, now = both_slots(old.world.model, new.world.model, same)
    _carry_model(old, new, same, before, now)
    _carry_data(old, new, same, before, now)


def _carry_model(old: Context, new: Context, same: Same, before: Slots, now: Slots) -> None:
    """Carry options, and values that were drawn by randomize."""
    theirs, ours = old.world.model, new.world.model
    for name in dir(theirs.opt):
        if name.startswith('_'):
            continue
        value = getattr(theirs.opt, name)
        if isinstance(value, np.ndarray):
            getattr(ours.opt, name)[:] = value
        elif isinstance(value, (int, float)):
            setattr(ours.opt, name, value)

    def rows(name: str) -> tuple[np.ndarray, np.ndarray] | None:
        kind = name.partition('_')[0]
        return (before.qvel, now.qvel) if kind == 'dof' else same.get(kind)

    new.randomizer.resume(old.randomizer, theirs, ours, rows)


def _carry_data(old: Context, new: Context, same: Same, before: Slots, now: Slots) -> None:
    theirs, ours = old.world.data, new.world.data
    for array, slots in _ARRAYS.items():
        source = getattr(theirs, array)
        getattr(ours, array)[getattr(now, slots)] = source[getattr(before, slots)]
    for name in _WHOLE:
        source, target = getattr(theirs, name), getattr(ours, name)
        if source.shape == target.shape:
            target[:] = source
    _carry_history(old, new, same)
    ours.time = theirs.time


def _carry_history(old: Context, new: Context, same: Same) -> None:
    """Carry what MuJoCo keeps for delayed actuators and sensors (since 3.5)."""
    theirs, ours = old.world, new.world
    if not getattr(theirs.model, 'nhistory', 0):
        return
    for kind in ('actuator', 'sensor'):
        there = _buffers(theirs.model, kind)
        here = _buffers(ours.model, kind)
        for number, now in zip(*same[kind], strict=True):
            first, second = there.get(int(number)), here.get(int(now))
            if first is not None and second is not None:
                ours.data.history[second] = theirs.data.history[first]


def _buffers(model: mujoco.MjModel, kind: str) -> dict[int, slice]:
    """Return the places of history buffers; each ends where the next one begins."""
    every = np.concatenate([model.actuator_historyadr, model.sensor_historyadr])
    starts = np.sort(every[every >= 0])
    found = {}
    for number, start in enumerate(getattr(model, f'{kind}_historyadr')):
        if start >= 0:
            later = starts[starts > start]
            found[number] = slice(int(start), int(later[0]) if len(later) else model.nhistory)
    return found


__all__ = ['carry', 'check_idle', 'write_state']
