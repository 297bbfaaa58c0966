# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
View modes of the free camera: those of the stock editor, as far as MuJoCo has them.

``lit`` is the picture as every camera takes it.  ``unlit`` shows colours and textures, no light
and shadow, ``wireframe`` edges, ``collision`` the geoms that collide (meshes as the hulls that
collide in their place), ``reflections`` mirrors even where the renderer leaves them out.
"""

from __future__ import annotations

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
    """Fill the scene with what a camera shows in this view mode."""
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
    """Set the flags that differ from those of other cameras; call it for every picture."""
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


__all__ = [
    'COLLISION',
    'LIT',
    'REFLECTIONS',
    'UNLIT',
    'VIEW_MODES',
    'WIREFRAME',
    'set_flags',
    'update_scene',
]
