# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of one end effector with `mink`: joint targets for a wanted pose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.model import Joint

MAX_ITERATIONS = 50
# Sufficient for a control period: 0.1 mm and 0.06 degrees.
POSITION_TOLERANCE = 1e-4
ROTATION_TOLERANCE = 1e-3
_SECONDS = 1.0  # an iteration moves by velocity times this: a whole Gauss-Newton step
_LM_DAMPING = 1e-2
_LARGEST_STEP = 0.25  # rad or m in one iteration
_STALLED = 1e-6
_SLIDE = 2  # mjtJoint: slide and hinge


class PoseSolver:
    """
    Joint positions that bring a site or body to a pose.

    Only the given joints move and their ranges hold.  A pose that is out of reach gives the
    nearest one (1 m counts as much as 1 rad).
    """

    def __init__(
        self,
        model: Any,
        kind: str,
        name: str,
        joints: Sequence[Joint],
        rotation_weight: float = 1.0,
    ) -> None:
        """
        Prepare the problem.

        :param kind: ``site`` or ``body``, and its compiled name.
        :param rotation_weight: how much 1 rad counts against 1 m; 0: the rotation is free.
        :raises RobotError: when mink is not installed.
        """
        try:
            import mink
        except ImportError as error:
            raise RobotError(
                f'end-effector poses need the package mink ({error}): run "urlab setup --with ik"'
            ) from error
        self._mink = mink
        self._joints = tuple(joints)
        self._addresses = np.array([joint.qpos_address for joint in joints], np.intp)
        self._configuration = mink.Configuration(model)
        self._task = mink.FrameTask(name, kind, 1.0, rotation_weight, lm_damping=_LM_DAMPING)
        self._turns = rotation_weight > 0.0
        moving = {joint.dof_address for joint in joints}
        others = [dof for dof in range(model.nv) if dof not in moving]
        self._fixed = [mink.DofFreezingTask(model, dof_indices=others)] if others else []
        self._limits = [mink.ConfigurationLimit(model)]
        # A joint a hair outside its range, moving or not, would leave no solution at all.
        ranged = np.flatnonzero(model.jnt_limited.astype(bool) & (model.jnt_type >= _SLIDE))
        self._ranged = model.jnt_qposadr[ranged]
        self._low, self._high = model.jnt_range[ranged].T
        self._frame = name, kind

    def forward(self, qpos: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return world position and rotation matrix of the end effector at joint positions."""
        self._place(qpos, values)
        pose = self._configuration.get_transform_frame_to_world(*self._frame)
        return pose.translation(), pose.rotation().as_matrix()

    def solve(
        self,
        qpos: np.ndarray,
        seed: np.ndarray,
        position: np.ndarray,
        rotation: np.ndarray,
        iterations: int = MAX_ITERATIONS,
    ) -> np.ndarray:
        """
        Return joint positions, shape (len(joints),).

        :param qpos: of the whole model, for everything that does not move here.
        :param seed: joint positions to start from.
        :param position: shape (3,), world, metres.
        :param rotation: shape (3, 3), world.
        :param iterations: at most; a request soon after, from the same pose, needs few.
        """
        mink, configuration = self._mink, self._configuration
        self._place(qpos, seed)
        turn = mink.SO3.from_matrix(rotation)
        self._task.set_target(mink.SE3.from_rotation_and_translation(turn, position))
        for _ in range(iterations):
            error = self._task.compute_error(configuration)
            if np.linalg.norm(error[:3]) < POSITION_TOLERANCE and (
                not self._turns or np.linalg.norm(error[3:]) < ROTATION_TOLERANCE
            ):
                break
            try:
                velocity = mink.solve_ik(
                    configuration,
                    [self._task],
                    _SECONDS,
                    'daqp',
                    damping=1e-8,
                    limits=self._limits,
                    constraints=self._fixed or None,
                )
            except mink.NoSolutionFound:
                break  # the solver's own limits; the current result is the best so far
            largest = float(np.abs(velocity).max())
            if largest < _STALLED:
                break
            # Far from the pose, whole steps would overshoot.
            configuration.integrate_inplace(velocity * min(1.0, _LARGEST_STEP / largest), _SECONDS)
        return configuration.q[self._addresses]

    def _place(self, qpos: np.ndarray, values: np.ndarray) -> None:
        start = qpos.copy()
        start[self._addresses] = values
        start[self._ranged] = np.clip(start[self._ranged], self._low, self._high)
        self._configuration.update(start)


__all__ = ['PoseSolver']
