# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The colour of a geom, from its own, its material and the mean of its texture."""

from __future__ import annotations

from collections.abc import Sequence
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
        roles = enumeration(model, 'mjtTextureRole')
        self._roles = [int(roles.mjTEXROLE_RGB), int(roles.mjTEXROLE_RGBA)]
        self._means: dict[int, np.ndarray] = {}

    def of_geom(self, geom: Geom) -> Color:
        """Return r, g, b, a from 0 to 1, as compiled."""
        return self.of(geom.rgba, geom.material)

    def of(self, rgba: Sequence[float], material: int) -> Color:
        """Return r, g, b, a from 0 to 1 of a geom with this colour and material (-1: none)."""
        shown, texture = self.shown(rgba, material), self.texture(material)
        return _color(shown if texture < 0 else [*(shown[:3] * self.mean(texture)), shown[3]])

    def shown(self, rgba: Sequence[float], material: int) -> np.ndarray:
        """Return the colour that MuJoCo draws with: the material's in place of neutral grey."""
        if material >= 0 and np.allclose(rgba, _UNSET):
            return np.array(self._model.mat_rgba[material], float)
        return np.array(rgba, float)

    def texture(self, material: int) -> int:
        """Return the id of a material's texture, -1 for none."""
        if material < 0:
            return -1
        textures = self._model.mat_texid[material]
        return next((int(textures[role]) for role in self._roles if textures[role] >= 0), -1)

    def texels(self, texture: int) -> np.ndarray:
        """Return the image of a texture, shape (height, width, channels), uint8."""
        m = self._model
        shape = int(m.tex_height[texture]), int(m.tex_width[texture]), int(m.tex_nchannel[texture])
        first = int(m.tex_adr[texture])
        texels: np.ndarray = np.asarray(m.tex_data[first : first + np.prod(shape)])
        return texels.reshape(shape)

    def mean(self, texture: int) -> np.ndarray:
        """Return the mean r, g, b of a texture, from 0 to 1."""
        if texture not in self._means:
            texels = self.texels(texture)
            rows = texels.reshape(-1, texels.shape[2])
            mean = rows[:: max(1, len(rows) // _MAX_TEXELS)].mean(axis=0)[:3] / 255.0
            self._means[texture] = np.full(3, mean[0]) if len(mean) < 3 else mean
        return self._means[texture]


def _color(values: Any) -> Color:
    r, g, b, a = (min(max(round(float(value), 4), 0.0), 1.0) for value in values)
    return r, g, b, a
