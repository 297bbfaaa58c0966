# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
MuJoCo's skins: whole, with the bodies that bend them; and in pieces, one for each body.

Whole ones are for those who bend them as MuJoCo does, by linear blend skinning.  In pieces, each
triangle goes with the bodies that move it: vertices that one body alone moves are where MuJoCo
draws them; where bodies share them, each has a piece, and these overlap: as a joint bends, one
covers the gap that another leaves, up to about a right angle.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace
from typing import Any

import numpy as np

from urlab_ros_bridge.client.model import FIRST_HIDDEN_GROUP
from urlab_ros_bridge.gateways.virtual_field.gltf import primitives
from urlab_ros_bridge.gateways.virtual_field.gltf.binary import Rig
from urlab_ros_bridge.gateways.virtual_field.gltf.binary import Surface
from urlab_ros_bridge.gateways.virtual_field.gltf.materials import Look
from urlab_ros_bridge.gateways.virtual_field.gltf.materials import Materials
from urlab_ros_bridge.gateways.virtual_field.gltf.shapes import block
from urlab_ros_bridge.geometry import matrix_of

# A triangle goes with each body that moves so much of it.
_SHARED = 0.2
# Viewers of glTF bend a vertex by so many bodies; of more, those that move it least are left out.
_MOST_JOINTS = 4


@dataclass(frozen=True)
class Skin:
    """
    One skin, whole.

    :ivar surface: in the frame in which it is bound, z up.
    :ivar rig: its joints are the bodies of `bodies`, by id, in this order.
    """

    surface: Surface
    look: Look
    rig: Rig
    bodies: tuple[int, ...]


class Skins:
    """
    The skins of one model that MuJoCo's viewer shows.

    :ivar whole: each as one surface.
    """

    def __init__(self, model: Any, materials: Materials) -> None:
        """
        Read the skins, and cut them into pieces.

        :param model: mujoco.MjModel.
        """
        self._model = model
        self.whole: list[Skin] = []
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
        points = points + float(m.skin_inflate[skin]) * normals
        self._add_skin(Surface(points, normals, faces, texels), look, bones, weights)
        shares = weights[:, faces].mean(axis=2)
        strongest = shares.argmax(axis=0)
        for row, bone in enumerate(bones):
            mine = faces[(strongest == row) | (shares[row] >= _SHARED)]
            if not len(mine):
                continue
            used, places = np.unique(mine, return_inverse=True)
            bind = self._bind(bone)
            turn, place = bind[:3, :3], bind[:3, 3]
            surface = Surface(
                (points[used] - place) @ turn,
                normals[used] @ turn,
                places.reshape(-1, 3),
                None if texels is None else texels[used],
            )
            self._pieces.setdefault(int(m.skin_bonebodyid[bone]), []).append((surface, look))

    def _add_skin(self, surface: Surface, look: Look, bones: range, weights: np.ndarray) -> None:
        """Keep a skin as one surface; `weights` are by bones and vertices, shape (b, n)."""
        some = min(_MOST_JOINTS, len(bones))
        if not some or not len(surface.faces):
            return
        joints = np.zeros((weights.shape[1], _MOST_JOINTS), np.intp)
        shares = np.zeros(joints.shape)
        joints[:, :some] = np.argsort(-weights, axis=0, kind='stable')[:some].T
        shares[:, :some] = np.take_along_axis(weights, joints[:, :some].T, axis=0).T
        joints[shares <= 0.0] = 0
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-30)
        binds = np.array([self._bind(bone) for bone in bones])
        bodies = tuple(int(self._model.skin_bonebodyid[bone]) for bone in bones)
        self.whole.append(Skin(surface, look, Rig(binds, joints, shares), bodies))

    def _bind(self, bone: int) -> np.ndarray:
        """Return where a bone is while its skin has its own shape, shape (4, 4)."""
        w, x, y, z = self._model.skin_bonebindquat[bone]
        found = np.eye(4)
        found[:3, :3] = matrix_of((x, y, z, w))
        found[:3, 3] = self._model.skin_bonebindpos[bone]
        return found


__all__ = ['Skin', 'Skins']
