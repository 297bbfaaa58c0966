# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Matches the elements of a changed world with those of the previous one, and carries the state over.

Names do not suffice for matching: a geom needs none.  So every element of a spec has a mark, which
copying and attaching leave alone: what has the same mark in two worlds is the same element.

Everything that both worlds have is carried bit for bit: keyframes, what MuJoCo integrates, its
warm start, options, drawn values, commands, wrenches, scans and noise.  Derived quantities are
recomputed.
"""

from __future__ import annotations

import mujoco
import numpy as np

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.keyframes import add_key
from urlab_ros_bridge.sim.simulation import Simulation

_MARK = '#'  # MuJoCo itself writes "line 7" there
KINDS = {
    'body': 'bodies',
    'jnt': 'joints',
    'geom': 'geoms',
    'site': 'sites',
    'cam': 'cameras',
    'light': 'lights',
    'actuator': 'actuators',
    'sensor': 'sensors',
    'tendon': 'tendons',
    'eq': 'equalities',
    'mat': 'materials',
}

# kind of element -> (numbers before, numbers now), each of shape (n,)
Same = dict[str, tuple[np.ndarray, np.ndarray]]


def mark(spec: mujoco.MjSpec, owner: str) -> None:
    """
    Mark the elements of a spec.

    :param owner: distinguishes these elements from those of other files.
    """
    for kind, elements in KINDS.items():
        for number, element in enumerate(getattr(spec, elements)):
            element.info = _mark(owner, kind, number)


def marks(spec: mujoco.MjSpec, owner: str = '') -> dict[str, dict[str, int]]:
    """
    Return kind -> {mark: number in the compiled model} of a spec that was compiled.

    :param owner: the spec has no marks yet; return those that `mark` would give it.
    """
    found: dict[str, dict[str, int]] = {}
    for kind, elements in KINDS.items():
        numbers = found[kind] = {}
        for number, element in enumerate(getattr(spec, elements)):
            text = _mark(owner, kind, number) if owner else element.info
            if text.startswith(_MARK):
                numbers[text] = int(element.id)
    return found


def common(before: dict[str, dict[str, int]], now: dict[str, dict[str, int]]) -> Same:
    """Return which elements are in both of two specs, in the order that they had before."""
    found: Same = {}
    for kind in KINDS:
        here = now[kind]
        pairs = sorted((old, here[text]) for text, old in before[kind].items() if text in here)
        first, second = zip(*pairs, strict=True) if pairs else ((), ())
        found[kind] = np.array(first, np.intp), np.array(second, np.intp)
    return found


def _mark(owner: str, kind: str, number: int) -> str:
    return f'{_MARK}{owner}/{kind}/{number}'


def spans(starts: np.ndarray, widths: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """
    Return the slots of elements that have `widths` slots from `starts` on, in their order.

    >>> spans(np.array([0, 7, 8]), np.array([7, 1, 1]), np.array([1, 2])).tolist()
    [7, 8]
    """
    ranges = [np.arange(starts[i], starts[i] + widths[i]) for i in chosen if widths[i] > 0]
    return np.concatenate(ranges).astype(np.intp) if ranges else np.empty(0, np.intp)


class Slots:
    """The slots that the surviving elements of a model have in the arrays of MjData."""

    def __init__(self, model: mujoco.MjModel, chosen: dict[str, np.ndarray]) -> None:
        """
        Read the slots from the model.

        :param chosen: kind -> numbers in this model, as in `Same`.
        """
        joints, actuators, bodies = (chosen[kind] for kind in ('jnt', 'actuator', 'body'))
        kinds = model.jnt_type
        width_q = np.array([7, 4, 1, 1])[kinds]  # free, ball, slide, hinge
        width_v = np.array([6, 3, 1, 1])[kinds]
        self.qpos = spans(model.jnt_qposadr, width_q, joints)
        self.qvel = spans(model.jnt_dofadr, width_v, joints)
        # Since MuJoCo 4 an actuator may have several controls, or none.
        count = len(model.actuator_trntype)
        first = getattr(model, 'actuator_ctrladr', np.arange(count))
        width = getattr(model, 'actuator_ctrlnum', np.ones(count, int))
        self.ctrl = spans(first, width, actuators)
        self.act = spans(model.actuator_actadr, model.actuator_actnum, actuators)
        self.body = bodies
        mocaps = model.body_mocapid[bodies]
        self.mocap = mocaps[mocaps >= 0]
        self.eq = chosen['eq']


def both_slots(old: mujoco.MjModel, new: mujoco.MjModel, same: Same) -> tuple[Slots, Slots]:
    """Return the slots of what is in both models, in the same order."""
    return (
        Slots(old, {kind: pair[0] for kind, pair in same.items()}),
        Slots(new, {kind: pair[1] for kind, pair in same.items()}),
    )


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
        add_key(spec, old.key(key).name, float(old.key_time[key]), data)
    return len(kept)


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


def check_idle(simulation: Simulation) -> None:
    """
    Make sure that nothing is under way that holds on to the model.

    :raises OpError: recording_already_active, not_ready.
    """
    if simulation.recorder.active:
        raise OpError(
            'recording_already_active',
            'the model cannot change during a recording; call recording_stop first',
        )
    if simulation.engine.run.replay_source is not None:
        raise OpError(
            'not_ready', 'the model cannot change during a replay; call replay_stop first'
        )


def carry(old: Simulation, new: Simulation, same: Same) -> None:
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
            slots += [
                (other.setpoints[name], control.setpoints[name]) for name in control.setpoints
            ]
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
    new.claims.keep(new.world.articulations)


def write_state(old: Simulation, new: Simulation, same: Same) -> None:
    """
    Write options, drawn values and state of `old` into `new`, which may be done repeatedly.

    What follows from them is not computed.  Needs the old engine's lock.
    """
    before, now = both_slots(old.world.model, new.world.model, same)
    _carry_model(old, new, same, before, now)
    _carry_data(old, new, same, before, now)


def _carry_model(old: Simulation, new: Simulation, same: Same, before: Slots, now: Slots) -> None:
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


def _carry_data(old: Simulation, new: Simulation, same: Same, before: Slots, now: Slots) -> None:
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


def _carry_history(old: Simulation, new: Simulation, same: Same) -> None:
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
