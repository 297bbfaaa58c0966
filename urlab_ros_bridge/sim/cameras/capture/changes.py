# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Appearance that changes in a running world: colours, lights, sizes, lenses."""

from __future__ import annotations

import io

import mujoco
import numpy as np

# What of a model can be seen and may change while it runs, apart from textures and meshes.
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


__all__ = ['VISUAL_ARRAYS', 'apply_arrays', 'pack_arrays']
