# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Matches the elements of a changed world with those of the previous one.

Names do not suffice: a geom needs none.  So every element of a spec has a mark, which copying and
attaching leave alone: what has the same mark in two worlds is the same element.
"""

from __future__ import annotations

import mujoco
import numpy as np

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
        Look the slots up.

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


__all__ = ['KINDS', 'Same', 'Slots', 'both_slots', 'common', 'mark', 'marks']
