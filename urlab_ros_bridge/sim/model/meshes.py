# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Mesh files as triangles, and the connected parts of a mesh."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from urlab_ros_bridge.sim.errors import WorldError
from urlab_ros_bridge.sim.model.mjcf_import import compile_spec

MAX_PARTS = 64


def read_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """
    Read a mesh as MuJoCo does.

    :return: vertices, shape (n, 3), as the file has them, and triangles, shape (m, 3), as indices.
    :raises WorldError: with MuJoCo's own message.
    """
    spec = mujoco.MjSpec()
    # As a shell any mesh has an inertia; a volume may be missing.
    spec.add_mesh(name='mesh', file=str(path), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
    body = spec.worldbody.add_body()
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname='mesh')
    model = compile_spec(spec, f'mesh {str(path)!r}')
    # The compiler has moved the vertices into the mesh's inertial frame.
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.mesh_quat[0])
    vertices = model.mesh_vert.astype(float) @ turn.reshape(3, 3).T + model.mesh_pos[0]
    return vertices, model.mesh_face.copy()


def connected_parts(
    vertices: np.ndarray, faces: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """
    Split a mesh, arrays as from `read_mesh`, into parts that share no vertex.

    :raises WorldError: when there are more than 64 parts.
    """
    labels = _labels(len(vertices), faces)
    used = labels[faces[:, 0]]
    names = np.unique(used)
    if len(names) > MAX_PARTS:
        raise WorldError(
            f'the mesh has {len(names)} connected parts, at most {MAX_PARTS} are used'
        )
    parts = []
    for name in names:
        own = faces[used == name]
        kept, renumbered = np.unique(own, return_inverse=True)
        parts.append((vertices[kept], renumbered.reshape(own.shape)))
    return parts


def _labels(count: int, faces: np.ndarray) -> np.ndarray:
    """Return for every vertex the smallest index of a vertex that it is connected to."""
    labels = np.arange(count)
    while True:
        lowest = labels[faces].min(axis=1)
        spread = labels.copy()
        for corner in range(3):
            np.minimum.at(spread, faces[:, corner], lowest)
        # A label is itself a vertex: following it shortens long chains.
        spread = np.minimum(spread, spread[spread])
        if np.array_equal(spread, labels):
            return labels
        labels = spread
