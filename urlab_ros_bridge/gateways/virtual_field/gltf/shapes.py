# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The surface of each kind of geom, in the frame of the geom, with texture coordinates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from urlab_ros_bridge.gateways.virtual_field.gltf import primitives
from urlab_ros_bridge.gateways.virtual_field.gltf.binary import joined
from urlab_ros_bridge.gateways.virtual_field.gltf.binary import Surface
from urlab_ros_bridge.gateways.virtual_field.gltf.materials import Appearance
from urlab_ros_bridge.model import Geom

# Half length of an infinite plane (m).
ENDLESS = 60.0
# A normal that differs from its face by more than this (cosine) belongs to another face.
_SHARP = 0.6


class Shapes:
    """The surfaces of one model's geoms."""

    def __init__(self, model: Any) -> None:
        """
        Take the model.

        :param model: mujoco.MjModel.
        """
        self._model = model

    def surface(self, geom: Geom, appearance: Appearance) -> Surface | None:
        """Return the surface of a geom, None for a kind that has none."""
        if geom.kind in ('mesh', 'sdf') and geom.data >= 0:
            surface = self._mesh(geom.data)
        elif geom.kind == 'hfield' and geom.data >= 0:
            surface = self._height_field(geom.data)
        else:
            found = _primitive(geom)
            if found is None:
                return None
            surface = found
        if appearance.texture < 0:
            return replace(surface, texels=None)
        return surface if surface.texels is not None else _with_texels(surface, geom, appearance)

    def _mesh(self, mesh: int) -> Surface:
        """Return a mesh; a vertex that has several normals or texels becomes several vertices."""
        m = self._model
        first, count = int(m.mesh_faceadr[mesh]), int(m.mesh_facenum[mesh])
        rows = slice(first, first + count)
        vertices = block(m.mesh_vert, m.mesh_vertadr[mesh], m.mesh_vertnum[mesh])
        normals = block(m.mesh_normal, m.mesh_normaladr[mesh], m.mesh_normalnum[mesh])
        faces = np.asarray(m.mesh_face[rows])
        normals, of_corners = _with_edges(vertices, faces, normals, m.mesh_facenormal[rows])
        corners = [faces.ravel(), of_corners.ravel()]
        textured = int(m.mesh_texcoordadr[mesh]) >= 0
        if textured:
            corners.append(np.asarray(m.mesh_facetexcoord[rows]).ravel())
        unique, places = _unique_rows(np.column_stack(corners).astype(np.int64))
        texels = None
        if textured:
            all_texels = block(m.mesh_texcoord, m.mesh_texcoordadr[mesh], m.mesh_texcoordnum[mesh])
            texels = all_texels[unique[:, 2]]
        return Surface(
            vertices[unique[:, 0]], normals[unique[:, 1]], places.reshape(count, 3), texels
        )

    def _height_field(self, field: int) -> Surface:
        """Return the top of a height field, and walls down to its base."""
        m = self._model
        rows, columns = int(m.hfield_nrow[field]), int(m.hfield_ncol[field])
        x, y, top, depth = (float(part) for part in m.hfield_size[field])
        heights = block(m.hfield_data, m.hfield_adr[field], rows * columns)
        across, along = np.meshgrid(np.linspace(-x, x, columns), np.linspace(-y, y, rows))
        points = np.column_stack([across.ravel(), along.ravel(), top * heights.astype(float)])
        faces = primitives.grid(rows, columns)
        surface = Surface(points, primitives.smooth_normals(points, faces), faces)
        numbers = np.arange(rows * columns).reshape(rows, columns)
        edges = (numbers[0], numbers[:, -1], numbers[-1, ::-1], numbers[::-1, 0])
        return joined([surface, *(_wall(points[edge], -depth) for edge in edges)])


def _primitive(geom: Geom) -> Surface | None:
    x, y, _ = geom.size
    match geom.kind:
        case 'plane':
            return primitives.plane(x or ENDLESS, y or ENDLESS)
        case 'box':
            return primitives.box(*primitives.box_size(geom.size))
        case 'sphere':
            return primitives.sphere(x)
        case 'ellipsoid':
            return primitives.ellipsoid(*primitives.box_size(geom.size))
        case 'capsule':
            return primitives.capsule(x, y)
        case 'cylinder':
            return primitives.cylinder(x, y)
    return None


def _with_texels(surface: Surface, geom: Geom, appearance: Appearance) -> Surface:
    """Project the texture along z, over the extent of the geom or over 2 m, as MuJoCo does."""
    points = surface.positions[:, :2]
    if not appearance.uniform:
        points = points / np.maximum(np.abs(points).max(axis=0), 1e-9)
    repeats = np.array(appearance.repeat) * (1.0, -1.0)
    return replace(surface, texels=0.5 * repeats * points - 0.5)


def _with_edges(
    vertices: np.ndarray, faces: np.ndarray, normals: np.ndarray, of_corners: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """
    Return normals, and which each corner of each face has.

    Where MuJoCo made the normals itself, a vertex at a sharp edge has that of one of its faces;
    the other faces get their own.
    """
    a, b, c = vertices[faces].astype(float).transpose(1, 0, 2)
    across = np.cross(b - a, c - a)
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-30)
    agreement = np.einsum('ij,ikj->ik', across, normals[of_corners])
    own = len(normals) + np.arange(len(faces))[:, None]
    flat = np.linalg.norm(across, axis=1, keepdims=True) < 0.5  # without an area: any will do
    chosen = np.where((agreement < _SHARP) & ~flat, own, of_corners)
    return np.concatenate([normals, across]), chosen


def _wall(top: np.ndarray, bottom: float) -> Surface:
    """Return the wall below an edge that runs counter-clockwise seen from above."""
    below = top.copy()
    below[:, 2] = bottom
    points = np.concatenate([below, top])
    faces = primitives.grid(2, len(top))
    # Edges are straight: all of a wall looks to one side.
    along = top[-1] - top[0]
    outward = np.array([along[1], -along[0], 0.0]) / (np.hypot(along[0], along[1]) or 1.0)
    return Surface(points, np.tile(outward, (len(points), 1)), faces)


def block(rows: Any, first: Any, count: Any) -> np.ndarray:
    """Return `count` rows of an array of the model, from the row `first` on."""
    return np.asarray(rows[int(first) : int(first) + int(count)])


def _unique_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different rows of small whole numbers, and the place of each row in them."""
    base = int(rows.max(initial=0)) + 1
    keys = rows[:, 0]
    for column in rows.T[1:]:
        keys = keys * base + column  # one number is sorted much faster than a row
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], places


__all__ = ['ENDLESS', 'Shapes', 'block']
