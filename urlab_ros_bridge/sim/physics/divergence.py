# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Detection of an unstable simulation.

MuJoCo checks positions, velocities, accelerations and controls in every step.  It counts what is
not finite, or larger than 1e10, as a warning.  Unless the model disables `autoreset`, it then
resets the data, warnings included; bad controls it replaces by zeros for that step.
"""

from __future__ import annotations

import mujoco
import numpy as np

from urlab_ros_bridge.wire.divergence import Divergence

_QPOS = int(mujoco.mjtWarning.mjWARN_BADQPOS)
_QVEL = int(mujoco.mjtWarning.mjWARN_BADQVEL)
_QACC = int(mujoco.mjtWarning.mjWARN_BADQACC)
_CTRL = int(mujoco.mjtWarning.mjWARN_BADCTRL)
# They follow each other in MuJoCo, so one slice has them all.
_BAD = slice(_QPOS, _CTRL + 1)
# The first that is bad is the cause of the others.
_QUANTITIES = {_QPOS: 'qpos', _QVEL: 'qvel', _QACC: 'qacc', _CTRL: 'ctrl'}
_AUTORESET = int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)


class DivergenceMonitor:
    """Reads MuJoCo's warnings of one world."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._model = model
        self._numbers: np.ndarray = data.warning.number[_BAD]  # a view
        self._no_warnings = bytes(self._numbers.nbytes)
        self._elements: np.ndarray = data.warning.lastinfo[_BAD]
        self.clear()

    def clear(self) -> None:
        """Drop warnings that no step has caused: mj_forward checks controls too."""
        self._numbers[:] = 0

    @property
    def has_diverged(self) -> bool:
        """Return whether there was a warning since the last `take`; costs 0.1 us."""
        return self._numbers.tobytes() != self._no_warnings

    def take(self, count: int, time: float) -> Divergence:
        """
        Return the divergence that was found, and clear the warnings.

        :param count: of this one.
        :param time: s, at the beginning of the step.
        """
        warning = next(each for each in _QUANTITIES if self._numbers[each - _QPOS])
        index = int(self._elements[warning - _QPOS])
        self.clear()
        resets = warning != _CTRL and not self._model.opt.disableflags & _AUTORESET
        return Divergence(
            count, time, _QUANTITIES[warning], self._name(warning, index), bool(resets)
        )

    def _name(self, warning: int, index: int) -> str:
        model = self._model
        if warning == _CTRL:
            kind, element = mujoco.mjtObj.mjOBJ_ACTUATOR, index
        else:
            kind = mujoco.mjtObj.mjOBJ_JOINT
            starts = model.jnt_qposadr if warning == _QPOS else model.jnt_dofadr
            element = int(np.searchsorted(starts, index, side='right')) - 1
        return mujoco.mj_id2name(model, kind, element) or f'number {element}'
