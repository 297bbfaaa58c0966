# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
MuJoCo's skins, in pieces: each triangle goes with the bodies that move it.

A skin bends over several bodies, a file here is that of one body.  So vertices that one body alone
moves are where MuJoCo draws them; where bodies share them, each has a piece, and these overlap: as
a joint bends, one covers the gap that another leaves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from urlab_ros_bridge.client.model import FIRST_HIDDEN_GROUP
from urlab_ros_bridge.gateways.webxr.gltf import primitives
from urlab_ros_bridge.gateways.webxr.gltf.binary import Surface
from urlab_ros_bridge.gateways.webxr.gltf.materials import Look
from urlab_ros_bridge.gateways.webxr.gltf.materials import Materials
from urlab_ros_bridge.gateways.webxr.gltf.shapes import block
from urlab_ros_bridge.geometry import matrix_of

# A triangle goes with each body that moves so much of it.
_SHARED = 0.2


class Skins:
    """The skins of one model that MuJoCo's viewer shows."""

    def __init__(self, model: Any, materials: Materials) -> None:
        """
        Cut the skins into pieces.

        :param model: mujoco.MjModel.
        """
        self._model = model
        self._pieces: dict[int, list[tuple[Surface, Look]]] = {}
        for skin in range(int(model.nskin)):
            look = materials.look_of(model.skin_rgba[skin], int(model.skin_matid[skin]))
            hidden = int(model.skin_group[skin]) >= FIRST_HIDDEN_GROUP
            if not hidden and look.material.color[3] > 0.0:
                self._cut(skin, look)

    def pieces(self, body: int) -> list[tuple[Surface, Look]]:
        """Return what goes with a body, in its frame (z up), and how it looks."""
        return self._pieces.get(body, [])

    def _cut(self, skin: int, look: Look) -> None:
        m = self._model
        points = block(m.skin_vert, m.skin_vertadr[skin], m.skin_vertnum[skin]).astype(float)
        faces = block(m.skin_face, m.skin_faceadr[skin], m.skin_facenum[skin])
        texels = None
        if look.texture >= 0 and int(m.skin_texcoordadr[skin]) >= 0:
            texels = block(m.skin_texcoord, m.skin_texcoordadr[skin], len(points))
        else:
            material = replace(look.material, picture=b'')
            look = replace(look, material=material, texture=-1)
        first = int(m.skin_boneadr[skin])
        bones = range(first, first + int(m.skin_bonenum[skin]))
        weights = np.zeros((len(bones), len(points)))
        for row, bone in enumerate(bones):
            some = slice(
                int(m.skin_bonevertadr[bone]),
                int(m.skin_bonevertadr[bone]) + int(m.skin_bonevertnum[bone]),
            )
            weights[row, m.skin_bonevertid[some]] = m.skin_bonevertweight[some]
        normals = primitives.smooth_normals(points, faces)
        shares = weights[:, faces].mean(axis=2)
        strongest = shares.argmax(axis=0)
        for row, bone in enumerate(bones):
            mine = faces[(strongest == row) | (shares[row] >= _SHARED)]
            if not len(mine):
                continue
            used, places = np.unique(mine, return_inverse=True)
            w, x, y, z = m.skin_bonebindquat[bone]
            turn = matrix_of((x, y, z, w))
            surface = Surface(
                (points[used] - m.skin_bonebindpos[bone]) @ turn,
                normals[used] @ turn,
                places.reshape(-1, 3),
                None if texels is None else texels[used],
            )
            self._pieces.setdefault(int(m.skin_bonebodyid[bone]), []).append((surface, look))


__all__ = ['Skins']
