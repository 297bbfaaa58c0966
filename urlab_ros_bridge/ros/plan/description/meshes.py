# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Meshes of the compiled model as binary STL files, for RViz and others to load.

A file is called after its contents, so it is written once, never changes, and viewers that keep
meshes by name keep the right ones.  The compiled model has its meshes scaled and moved already.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from urlab_ros_bridge.files.folders import cache_folder
from urlab_ros_bridge.files.whole_file import write_whole
from urlab_ros_bridge.ros.plan.names import ros_name
from urlab_ros_bridge.wire.errors import UrlabError

_TRIANGLE = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])
_HEADER_BYTES = 80
# Rings and segments of the sphere that ellipsoids are made of.
_RINGS, _SEGMENTS = 16, 32


class MeshesUnwritable(UrlabError, OSError):
    """The folder for meshes cannot be written to."""

    def __init__(self, folder: Path, cause: OSError) -> None:
        super().__init__(
            f'cannot write meshes to {folder} ({cause.strerror or cause}); set the parameter '
            'mesh_directory to a writable folder'
        )


class MeshFiles:
    """
    Writes meshes of one model and returns their locations.

    :ivar folder: where they are written.
    """

    def __init__(self, model: Any, folder: Path | None = None, uri_start: str = '') -> None:
        """
        Prepare; nothing is written yet.

        :param folder: None: the user's cache.
        :param uri_start: prefix of a file's name, such as
            ``package://my_robot_meshes/meshes``; empty: ``file://`` and the folder.
        """
        self._model = model
        self.folder = (folder or cache_folder('meshes')).absolute()
        self._start = uri_start.rstrip('/') or f'file://{quote(str(self.folder))}'
        self._uris: dict[tuple[int, bool], str] = {}

    def uri(self, mesh: int, *, hull: bool = False) -> str:
        """
        Return where a mesh is; it is written when it is not there.

        :param mesh: id in the model, or -1 - id of a height field.
        :param hull: its convex hull, as far as the model has one.
        :raises MeshesUnwritable: when that fails.
        """
        key = (mesh, hull and _has_hull(self._model, mesh))
        if key not in self._uris:
            model = self._model
            name = (model.hfield(-1 - mesh) if mesh < 0 else model.mesh(mesh)).name
            self._uris[key] = self._write(
                name + '_hull' * key[1], stl(*surface_of(model, mesh, hull=hull))
            )
        return self._uris[key]

    def unit_sphere(self) -> str:
        """
        Return where a sphere of diameter 1 is, to be scaled to an ellipsoid.

        :raises MeshesUnwritable: see `uri`.
        """
        key = (self._model.nmesh, False)
        if key not in self._uris:
            self._uris[key] = self._write('sphere', stl(*sphere()))
        return self._uris[key]

    def _write(self, name: str, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()[:16]
        file = f'{ros_name(name)}-{digest}.stl'
        place = self.folder / file
        try:
            if not place.is_file() or place.stat().st_size != len(content):
                self.folder.mkdir(parents=True, exist_ok=True)
                write_whole(place, content)
        except OSError as error:
            raise MeshesUnwritable(self.folder, error) from error
        return f'{self._start}/{file}'


def stl(vertices: np.ndarray, faces: np.ndarray) -> bytes:
    """
    Return a binary STL file.

    :param vertices: shape (n, 3), m; `faces`: shape (m, 3), counter-clockwise seen from outside.
    """
    corners = np.asarray(vertices, np.float64)[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    triangles = np.zeros(len(faces), _TRIANGLE)
    triangles['normal'] = normals / np.where(lengths > 0.0, lengths, 1.0)
    triangles['corners'] = corners
    # Readers take a file that begins with "solid" for text.
    header = b'binary STL, metres'.ljust(_HEADER_BYTES)
    return header + len(faces).to_bytes(4, 'little') + triangles.tobytes()


def surface_of(model: Any, mesh: int, *, hull: bool) -> tuple[np.ndarray, np.ndarray]:
    """
    Return a mesh, its convex hull or a height field as `mesh_of` does.

    :param mesh, hull: see `MeshFiles.uri`.
    """
    if mesh < 0:
        return height_field(model, -1 - mesh)
    return hull_of(model, mesh) if hull and _has_hull(model, mesh) else mesh_of(model, mesh)


def _has_hull(model: Any, mesh: int) -> bool:
    return mesh >= 0 and int(model.mesh_graphadr[mesh]) >= 0


def mesh_of(model: Any, mesh: int) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices, shape (n, 3), and faces, shape (m, 3), of a mesh."""
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    start, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    return model.mesh_vert[first : first + count], model.mesh_face[start : start + faces]


def hull_of(model: Any, mesh: int) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the convex hull that MuJoCo's collisions use, as `mesh_of` does.

    The graph of a mesh holds: number of vertices v and of faces f, v addresses of edges, v ids in
    the mesh, v + 3 f edges, and 3 f vertices of faces as ids in the mesh.
    """
    vertices, _ = mesh_of(model, mesh)
    graph = model.mesh_graph[int(model.mesh_graphadr[mesh]) :]
    count, faces = int(graph[0]), int(graph[1])
    start = 2 + 3 * count + 3 * faces
    corners = np.asarray(graph[start : start + 3 * faces])
    used, renumbered = np.unique(corners, return_inverse=True)
    return vertices[used], renumbered.reshape(faces, 3)


def height_field(model: Any, field: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the surface of a height field as `mesh_of` does, in the frame of its geom."""
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    first = int(model.hfield_adr[field])
    x, y, top, _ = (float(part) for part in model.hfield_size[field])
    heights = np.asarray(model.hfield_data[first : first + rows * columns]).reshape(rows, columns)
    across, along = np.meshgrid(np.linspace(-x, x, columns), np.linspace(-y, y, rows))
    vertices = np.column_stack([across.ravel(), along.ravel(), top * heights.ravel()])
    return vertices, _grid(rows, columns)


def sphere() -> tuple[np.ndarray, np.ndarray]:
    """Return a sphere of diameter 1 as `mesh_of` does."""
    polar, around = np.meshgrid(
        np.linspace(0.0, np.pi, _RINGS + 1), np.linspace(0.0, 2.0 * np.pi, _SEGMENTS + 1)
    )
    vertices = 0.5 * np.column_stack(
        [
            (np.sin(polar) * np.cos(around)).ravel(),
            (np.sin(polar) * np.sin(around)).ravel(),
            np.cos(polar).ravel(),
        ]
    )
    faces = _grid(_SEGMENTS + 1, _RINGS + 1)
    corners = vertices[faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return vertices, faces[np.linalg.norm(area, axis=1) > 1e-12]


def _grid(rows: int, columns: int) -> np.ndarray:
    """Return the triangles of a grid of points, row by row, shape (m, 3), split as MuJoCo does."""
    start = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    lower = np.column_stack([start, start + 1, start + columns + 1])
    upper = np.column_stack([start, start + columns + 1, start + columns])
    return np.concatenate([lower, upper])
