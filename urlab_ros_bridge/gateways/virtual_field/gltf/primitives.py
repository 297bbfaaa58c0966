# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Boxes, spheres, cylinders and their kin as triangles with exact normals.

Everything is in the frame of its geom, z up as in MuJoCo, centred at the origin; sizes are half
lengths and radii in m.  Round shapes are grids: rows of vertices around the z axis.
"""

from __future__ import annotations

import numpy as np

from urlab_ros_bridge.gateways.virtual_field.gltf.binary import joined
from urlab_ros_bridge.gateways.virtual_field.gltf.binary import Surface
from urlab_ros_bridge.geometry import Vector

_BALL_RINGS_PER_SEGMENT = 0.5
# An edge of so much (m) on a circle is short enough, within these numbers of segments.
_EDGE = 0.012
_FEWEST, _MOST = 24, 64


def plane(x: float, y: float) -> Surface:
    """Return a rectangle that is seen from above."""
    positions = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
    return Surface(
        positions, np.tile([0.0, 0.0, 1.0], (4, 1)), np.array([[0, 1, 2], [0, 2, 3]], np.int64)
    )


def box(x: float, y: float, z: float) -> Surface:
    """Return a box with flat faces."""
    half, sides = np.array([x, y, z]), []
    square = plane(1.0, 1.0)
    for axis in range(3):
        for sign in (1.0, -1.0):
            # A turn of the axes that takes z to this axis keeps the faces the right way round.
            turn = np.roll(np.eye(3), axis + 1, axis=0)
            if sign < 0:
                turn = turn @ np.diag([1.0, -1.0, -1.0])
            offset = np.array([0.0, 0.0, 1.0])
            positions = (square.positions + offset) @ turn.T
            sides.append(Surface(positions * half, square.normals @ turn.T, square.faces))
    return joined(sides)


def ellipsoid(x: float, y: float, z: float) -> Surface:
    """Return an ellipsoid; its normals are those of the true surface."""
    segments = _segments(max(x, y, z))
    polar = np.linspace(0.0, np.pi, int(segments * _BALL_RINGS_PER_SEGMENT) + 1)
    unit = _revolve(np.sin(polar), np.cos(polar), segments)
    normals = unit / np.array([x, y, z])
    return _grid_surface(unit * (x, y, z), _normalized(normals), segments)


def sphere(radius: float) -> Surface:
    """Return a sphere."""
    return ellipsoid(radius, radius, radius)


def capsule(radius: float, half: float) -> Surface:
    """Return a capsule; `half` is that of its cylinder."""
    segments = _segments(radius)
    rings = int(segments * _BALL_RINGS_PER_SEGMENT / 2)
    cap = np.linspace(0.0, np.pi / 2, rings + 1)
    polar = np.concatenate([cap, cap + np.pi / 2])
    unit = _revolve(np.sin(polar), np.cos(polar), segments)
    lift = np.repeat([half, -half], (rings + 1) * (segments + 1))
    positions = unit * radius
    positions[:, 2] += lift
    return _grid_surface(positions, unit, segments)


def cylinder(radius: float, half: float) -> Surface:
    """Return a cylinder with flat ends."""
    segments = _segments(radius)
    side = _revolve(np.array([1.0, 1.0]), np.array([1.0, -1.0]), segments)
    outward = side * (1.0, 1.0, 0.0)
    scale = np.array([radius, radius, half])
    parts = [_grid_surface(side * scale, outward, segments)]
    for sign in (1.0, -1.0):
        rim = outward[:segments] * radius + (0.0, 0.0, sign * half)
        positions = np.concatenate([rim, [[0.0, 0.0, sign * half]]])
        around = np.arange(segments)
        after = (around + 1) % segments
        centre = np.full(segments, segments)
        order = (around, after, centre) if sign > 0 else (after, around, centre)
        normals = np.tile([0.0, 0.0, sign], (segments + 1, 1))
        parts.append(Surface(positions, normals, np.column_stack(order)))
    return joined(parts)


def grid(rows: int, columns: int) -> np.ndarray:
    """
    Return the triangles of a grid of points that are numbered row by row, shape (m, 3).

    They are counter-clockwise where columns go to the right and rows up.
    """
    start = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    lower = np.column_stack([start, start + 1, start + columns])
    upper = np.column_stack([start + 1, start + columns + 1, start + columns])
    return np.concatenate([lower, upper])


def smooth_normals(positions: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the normal of each vertex: the mean of its faces, weighted by their areas."""
    corners = positions[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros_like(positions)
    for corner in range(3):
        np.add.at(normals, faces[:, corner], across)
    return _normalized(normals)


def box_size(size: Vector) -> Vector:
    """Return half lengths that are not zero: a surface without a thickness has no normals."""
    x, y, z = (max(length, 1e-6) for length in size)
    return x, y, z


def _segments(radius: float) -> int:
    wanted = int(2 * np.pi * radius / _EDGE) // 4 * 4
    return min(max(wanted, _FEWEST), _MOST)


def _revolve(radii: np.ndarray, heights: np.ndarray, segments: int) -> np.ndarray:
    """Revolve a profile, from the top down, about z; the last column repeats the first."""
    angles = np.linspace(0.0, 2.0 * np.pi, segments + 1)
    angles[-1] = 0.0  # the seam closes exactly
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.empty((len(radii), segments + 1, 3))
    points[:, :, :2] = radii[:, None, None] * circle
    points[:, :, 2] = heights[:, None]
    return points.reshape(-1, 3)


def _grid_surface(positions: np.ndarray, normals: np.ndarray, segments: int) -> Surface:
    columns = segments + 1
    # Rows go down, not up.
    faces = grid(len(positions) // columns, columns)[:, ::-1]
    corners = positions[faces]
    area = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    return Surface(positions, normals, faces[area > area.max() * 1e-9])  # none at the poles


def _normalized(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    upright = np.array([0.0, 0.0, 1.0])
    found: np.ndarray = np.where(
        lengths > 0.0, vectors / np.where(lengths > 0.0, lengths, 1.0), upright
    )
    return found


__all__ = [
    'box', 'box_size', 'capsule', 'cylinder', 'ellipsoid', 'grid', 'plane',
    'smooth_normals', 'sphere',
]  # fmt: skip
