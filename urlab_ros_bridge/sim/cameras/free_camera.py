# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A free camera: it belongs to no body, and `CameraRig.free_view` moves it while the world runs.

The model has it like any other camera (`WorldSpec.free_camera`), so it is listed, streamed and
requested like any other.  It tracks the world, which in MuJoCo means that `cam_pos0` and
`cam_mat0` hold its pose; clients see by the mode that it has no fixed place.

View modes: ``lit`` is the image that every camera takes; ``unlit`` has colours and textures,
without light and shadow; ``wireframe`` edges; ``collision`` the geoms that collide (meshes as
their hulls); ``reflections`` mirrors, even where the renderer leaves them out.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

LIT, UNLIT, WIREFRAME, COLLISION, REFLECTIONS = VIEW_MODES = (
    'lit',
    'unlit',
    'wireframe',
    'collision',
    'reflections',
)
_SHOWN, _HIDDEN = 0, 5  # groups of geoms while `collision` is drawn


def update_scene(
    mode: str,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    option: mujoco.MjvOption,
    view: mujoco.MjvCamera,
    scene: mujoco.MjvScene,
) -> None:
    """Fill the scene with the geoms and lights of a view mode."""
    everything = mujoco.mjtCatBit.mjCAT_ALL
    if mode == COLLISION:
        groups = model.geom_group.copy()
        collides = (model.geom_contype | model.geom_conaffinity) != 0
        model.geom_group[:] = np.where(collides, _SHOWN, _HIDDEN)
        mujoco.mjv_updateScene(model, data, _colliders(), None, view, everything, scene)
        model.geom_group[:] = groups
        return
    mujoco.mjv_updateScene(model, data, option, None, view, everything, scene)
    if mode == UNLIT:
        _light_evenly(scene)


def set_flags(mode: str, scene: mujoco.MjvScene) -> None:
    """Set the flags that differ from those of other cameras; call it for every image."""
    flags = scene.flags
    flags[mujoco.mjtRndFlag.mjRND_WIREFRAME] = mode == WIREFRAME
    if mode == REFLECTIONS:
        flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = True
    elif mode != LIT:
        flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False


def _colliders() -> mujoco.MjvOption:
    option = mujoco.MjvOption()
    for groups in (option.geomgroup, option.sitegroup, option.tendongroup, option.skingroup):
        groups[:] = 0
    option.geomgroup[_SHOWN] = 1
    option.flags[mujoco.mjtVisFlag.mjVIS_CONVEXHULL] = True
    option.flags[mujoco.mjtVisFlag.mjVIS_RANGEFINDER] = False
    return option


def _light_evenly(scene: mujoco.MjvScene) -> None:
    """Leave one light that shines on everything from everywhere."""
    scene.nlight = 1
    light = scene.lights[0]
    light.ambient[:] = 1.0
    light.diffuse[:] = light.specular[:] = 0.0
    light.castshadow = 0


class FreeCameraView(NamedTuple):
    """
    Pose, field of view and view mode of a free camera.

    :ivar pos: m, in the world.
    :ivar mat: rotation matrix (9,), row-major, whose columns are right, up and backwards.
    :ivar fovy: vertical field of view, degrees.
    :ivar mode: one of `VIEW_MODES`.
    """

    pos: np.ndarray
    mat: np.ndarray
    fovy: float
    mode: str


def free_camera_id(model: mujoco.MjModel, name: str) -> int:
    """Return the id of the camera that `add_free_camera` added, -1 if there is none."""
    found = -1
    while (camera := mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, name)) >= 0:
        found, name = camera, f'{name}_'
    return found


class FreeCamera:
    """
    The free camera in one copy of a model.

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
        """Return the view mode."""
        return VIEW_MODES[int(self._mode[0])]

    def aim(self, view: FreeCameraView) -> None:
        """Set pose, field of view and view mode."""
        pos, mat, fovy, mode = self.arrays
        pos[:], mat[:], fovy[:] = view.pos, view.mat, view.fovy
        mode[:] = VIEW_MODES.index(view.mode)
        # MuJoCo works the other two out from these when constants of the model change.
        self._model.cam_pos[self._camera] = view.pos
        mujoco.mju_mat2Quat(self._model.cam_quat[self._camera], np.asarray(view.mat, float))
