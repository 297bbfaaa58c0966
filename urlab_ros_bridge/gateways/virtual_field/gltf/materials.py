# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Materials of the compiled model for glTF: linear colours, roughness, textures as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import io
from typing import Any

from PIL import Image

from urlab_ros_bridge.gateways.virtual_field.gltf.binary import Material
from urlab_ros_bridge.model import Geom
from urlab_ros_bridge.model.colors import Colors
from urlab_ros_bridge.model.world import enumeration

_UNSET = -1.0  # roughness and metallic of a material that sets neither
# Larger textures exceed the memory of browsers on phones.
_MAX_SIDE = 2048
_MOST_CHANNELS = 4
# The roughness of a material without any highlight, and what full shininess takes from it.
_DULL, _SHINE = 0.95, 0.6
_ROUGHNESS_WITHOUT_MATERIAL = 0.75
# How sRGB is decoded (IEC 61966-2-1): a line near black, a power above.
_KNEE, _SLOPE, _OFFSET, _POWER = 0.04045, 12.92, 0.055, 2.4


@dataclass(frozen=True)
class Appearance:
    """
    The appearance of one geom.

    :ivar texture: id of its flat texture, -1 without one.
    :ivar repeat: how often this repeats; `uniform`: in space (1 / m), not over the geom.
    """

    material: Material
    texture: int = -1
    repeat: tuple[float, float] = (1.0, 1.0)
    uniform: bool = False


class Materials:
    """The materials of one model."""

    def __init__(self, model: Any) -> None:
        """
        Take the model.

        :param model: mujoco.MjModel.
        """
        self._model = model
        self._flat = int(enumeration(model, 'mjtTexture').mjTEXTURE_2D)
        self._colors = Colors(model)
        self._appearances: dict[tuple[Any, ...], Appearance] = {}
        self._textures: dict[int, bytes] = {}

    def rgba(self, geom: Geom) -> tuple[float, ...]:
        """Return the colour that MuJoCo draws a geom with, as in the model (sRGB)."""
        return tuple(self._colors.shown(geom.rgba, geom.material).tolist())

    def appearance(self, geom: Geom) -> Appearance:
        """Return the appearance of a geom; equal ones are the same object."""
        return self.appearance_of(geom.rgba, geom.material)

    def appearance_of(self, rgba: Sequence[float], material: int) -> Appearance:
        """
        Return the appearance of a colour with a material.

        :param rgba: sRGB, as in the model; the neutral grey is replaced by that of the material.
        :param material: its id, -1 for none.
        """
        shown = tuple(self._colors.shown(rgba, material).tolist())
        key = (*shown, material)
        if key not in self._appearances:
            self._appearances[key] = self._make(shown, material)
        return self._appearances[key]

    def _make(self, rgba: tuple[float, ...], material: int) -> Appearance:
        r, g, b = (_linear(part) for part in rgba[:3])
        alpha = min(max(rgba[3], 0.0), 1.0)
        if material < 0:
            return Appearance(Material((r, g, b, alpha), _ROUGHNESS_WITHOUT_MATERIAL))
        model = self._model
        shine = float(model.mat_shininess[material]) * min(
            float(model.mat_specular[material]), 1.0
        )
        roughness, metallic = (
            float(model.mat_roughness[material]),
            float(model.mat_metallic[material]),
        )
        glow = min(max(float(model.mat_emission[material]), 0.0), 1.0)
        texture = self._colors.texture(material)
        image = b''
        if texture >= 0 and int(model.tex_type[texture]) != self._flat:
            # Cube textures are not in glTF: the mean colour represents them.
            mean = self._colors.mean(texture)
            r, g, b = (part * _linear(each) for part, each in zip((r, g, b), mean, strict=True))
            texture = -1
        if texture >= 0:
            image = self._texture(texture)
        return Appearance(
            Material(
                (r, g, b, alpha),
                _DULL - _SHINE * shine if roughness == _UNSET else roughness,
                0.0 if metallic == _UNSET else metallic,
                (glow * r, glow * g, glow * b),
                image,
            ),
            texture,
            (float(model.mat_texrepeat[material][0]), float(model.mat_texrepeat[material][1])),
            bool(model.mat_texuniform[material]),
        )

    def _texture(self, texture: int) -> bytes:
        if texture not in self._textures:
            texels = self._colors.texels(texture)
            channels = texels.shape[2]
            modes = {1: 'L', 2: 'LA', 3: 'RGB', _MOST_CHANNELS: 'RGBA'}
            image = Image.fromarray(texels[:, :, 0] if channels == 1 else texels, modes[channels])
            image.thumbnail((_MAX_SIDE, _MAX_SIDE))
            out = io.BytesIO()
            image.save(out, 'PNG')
            self._textures[texture] = out.getvalue()
        return self._textures[texture]


def _linear(value: float) -> float:
    """Decode a part of an sRGB colour, which is what MuJoCo's colours are shown as."""
    value = min(max(float(value), 0.0), 1.0)
    if value <= _KNEE:
        return value / _SLOPE
    return float(((value + _OFFSET) / (1.0 + _OFFSET)) ** _POWER)


__all__ = ['Appearance', 'Materials']
