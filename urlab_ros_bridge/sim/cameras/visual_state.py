# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The visible part of a world: the state of each step, and changed colours, lights, sizes, lenses.

A state is positions only.  The renderer computes everything else with MuJoCo's kinematics, from
its own copy of the model, so a frame shows exactly the qpos that the same step reports.
"""

from __future__ import annotations

from collections.abc import Iterable
import io

import mujoco
import numpy as np

from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.free_camera import FreeCamera

_FIELDS = ('qpos', 'mocap_pos', 'mocap_quat')


class VisualState:
    """
    Copies the visual state between MjData and memory of `size` bytes.

    One object serves one MjData; no allocation per copy but the result of `take`.

    :ivar free: the free camera, whose pose is part of the state; None if there is none.
    """

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, cameras: Iterable[CameraItem] = ()
    ) -> None:
        self._model, self._data = model, data
        self._arrays = [getattr(data, name).reshape(-1) for name in _FIELDS]
        self.free: FreeCamera | None = None
        for camera in cameras:
            if camera.free:
                self.free = FreeCamera(model, camera.id)
                self._arrays += self.free.arrays
        self._cuts = []
        start = 0
        for array in self._arrays:
            self._cuts.append(slice(start, start + len(array)))
            start += len(array)
        self._count = start
        self.size = max(8 * start, 8)

    def take(self) -> bytes:
        """Return the state as it is now."""
        out = np.empty(self._count)
        for cut, array in zip(self._cuts, self._arrays, strict=True):
            out[cut] = array
        return out.tobytes()

    def put(self, memory: memoryview) -> None:
        """Write a state into the data and compute the poses of everything that is drawn."""
        values = np.frombuffer(memory, np.float64, self._count)
        for cut, array in zip(self._cuts, self._arrays, strict=True):
            array[:] = values[cut]
        model, data = self._model, self._data
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_camlight(model, data)
        if model.nflex:
            mujoco.mj_flex(model, data)
        if model.ntendon:
            mujoco.mj_tendon(model, data)


# Visible parts of a model that may change while it runs, except textures and meshes.
VISUAL_ARRAYS = (
    'body_pos',
    'body_quat',
    'geom_rgba',
    'geom_size',
    'geom_pos',
    'geom_quat',
    'geom_matid',
    'geom_group',
    'site_rgba',
    'site_size',
    'site_pos',
    'site_quat',
    'tendon_rgba',
    'tendon_width',
    'mat_rgba',
    'mat_emission',
    'mat_specular',
    'mat_shininess',
    'mat_reflectance',
    'mat_texrepeat',
    'light_active',
    'light_castshadow',
    'light_pos',
    'light_dir',
    'light_ambient',
    'light_diffuse',
    'light_specular',
    'light_attenuation',
    'light_cutoff',
    'cam_pos',
    'cam_quat',
    'cam_fovy',
)
_HEADLIGHT = ('ambient', 'diffuse', 'specular', 'active')


def pack_arrays(model: mujoco.MjModel) -> bytes:
    """Return everything of `VISUAL_ARRAYS` and the headlight."""
    arrays = {name: getattr(model, name) for name in VISUAL_ARRAYS if hasattr(model, name)}
    for name in _HEADLIGHT:
        arrays[f'headlight.{name}'] = np.asarray(getattr(model.vis.headlight, name))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def apply_arrays(model: mujoco.MjModel, content: bytes) -> None:
    """Write what `pack_arrays` returned into another copy of the same model."""
    with np.load(io.BytesIO(content)) as arrays:
        for name in arrays.files:
            head, _, field = name.rpartition('.')
            owner = model.vis.headlight if head else model
            if arrays[name].ndim:
                getattr(owner, field)[:] = arrays[name]
            else:
                setattr(owner, field, arrays[name].item())
