# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The free camera: it belongs to no body and is put somewhere else while the world runs.

The model has it like any other camera, so it is listed, streamed and asked for like any other.
It tracks the world, which in MuJoCo means that `cam_pos0` and `cam_mat0` hold its pose; clients
see by the mode that it has no fixed place.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from urlab_ros_bridge.sim.cameras.catalog import view_modes
from urlab_ros_bridge.sim.model.scenery import FREE_CAMERA


class FreeCameraView(NamedTuple):
    """
    Where the camera is and how it sees.

    :ivar pos: m, in the world.
    :ivar mat: rotation matrix (9,), row-major, whose columns are right, up and backwards.
    :ivar fovy: vertical field of view, degrees.
    :ivar mode: one of `view_modes.VIEW_MODES`.
    """

    pos: np.ndarray
    mat: np.ndarray
    fovy: float
    mode: str


def free_camera_id(model: mujoco.MjModel) -> int:
    """Return the id of the camera that `add_free_camera` added, -1 when there is none."""
    found, name = -1, FREE_CAMERA
    while (camera := mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, name)) >= 0:
        found, name = camera, f'{name}_'
    return found


class FreeCamera:
    """
    The free camera of one copy of a model.

    :ivar arrays: what `aim` changes, as float64 vectors to copy from one model to another.
    """

    def __init__(self, model: mujoco.MjModel, camera: int) -> None:
        self._mode = np.zeros(1)
        self._model, self._camera = model, camera
        self.arrays = [
            model.cam_pos0[camera],
            model.cam_mat0[camera],
            model.cam_fovy[camera : camera + 1],
            self._mode,
        ]

    @property
    def view_mode(self) -> str:
        """Return how the camera sees."""
        return view_modes.VIEW_MODES[int(self._mode[0])]

    def aim(self, view: FreeCameraView) -> None:
        """Put the camera somewhere."""
        pos, mat, fovy, mode = self.arrays
        pos[:], mat[:], fovy[:] = view.pos, view.mat, view.fovy
        mode[:] = view_modes.VIEW_MODES.index(view.mode)
        # MuJoCo works the other two out from these when constants of the model change.
        self._model.cam_pos[self._camera] = view.pos
        mujoco.mju_mat2Quat(self._model.cam_quat[self._camera], np.asarray(view.mat, float))


__all__ = ['FreeCamera', 'FreeCameraView', 'free_camera_id']
