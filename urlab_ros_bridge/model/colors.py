# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The colour of a geom, from its own, its material and the mean of its texture."""

from __future__ import annotations

from typing import Any

import numpy as np

from urlab_ros_bridge.model.elements import Geom
from urlab_ros_bridge.model.world import enumeration

Color = tuple[float, float, float, float]

# A geom with this colour shows its material's instead, where it has one (MuJoCo's renderer).
_UNSET = (0.5, 0.5, 0.5, 1.0)
# Number of texels that are averaged at most.
_MAX_TEXELS = 10_000


class Colors:
    """The colours of one model; materials and textures are read from its arrays."""

    def __init__(self, model: Any) -> None:
        """
        Take the model.

        :param model: mujoco.MjModel.
        """
        self._model = model
        self._roles = enumeration(model, 'mjtTextureRole')
        self._means: dict[int, np.ndarray] = {}

    def of_geom(self, geom: Geom) -> Color:
        """Return r, g, b, a from 0 to 1."""
        rgba, material = np.array(geom.rgba), geom.material
        if material < 0:
            return _color(rgba)
        if np.allclose(rgba, _UNSET):
            rgba = self._model.mat_rgba[material]
        texture = self._texture(material)
        if texture < 0:
            return _color(rgba)
        return _color([*(rgba[:3] * self._mean(texture)), rgba[3]])

    def _texture(self, material: int) -> int:
        textures = self._model.mat_texid[material]
        for role in ('mjTEXROLE_RGB', 'mjTEXROLE_RGBA'):
            found = int(textures[int(getattr(self._roles, role))])
            if found >= 0:
                return found
        return -1

    def _mean(self, texture: int) -> np.ndarray:
        if texture not in self._means:
            model = self._model
            channels = int(model.tex_nchannel[texture])
            count = int(model.tex_width[texture]) * int(model.tex_height[texture])
            first = int(model.tex_adr[texture])
            data = np.asarray(model.tex_data[first : first + count * channels])
            texels = data.reshape(count, channels)[:: max(1, count // _MAX_TEXELS)]
            mean = texels.mean(axis=0)[:3] / 255.0
            self._means[texture] = np.full(3, mean[0]) if len(mean) < 3 else mean
        return self._means[texture]


def _color(values: Any) -> Color:
    r, g, b, a = (min(max(round(float(value), 4), 0.0), 1.0) for value in values)
    return r, g, b, a
