# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
From MuJoCo's world, z up, to that of WebXR and glTF, y up; metres in both.

Both are right-handed: (x, y, z) becomes (x, z, -y).  The same holds for the vector part of a
quaternion, of something whose own shape has y up after the change too, as a glTF file has.
"""

from __future__ import annotations

import numpy as np

from urlab_ros_bridge.geometry import Quaternion
from urlab_ros_bridge.geometry import Vector


def y_up(points: np.ndarray) -> np.ndarray:
    """Return points or vectors, shape (..., 3), of a world with z up in one with y up."""
    return np.stack((points[..., 0], points[..., 2], -points[..., 1]), axis=-1)


def y_up_quaternions(wxyz: np.ndarray) -> np.ndarray:
    """Return rotations w x y z, shape (..., 4), of a world with z up as x y z w with y up."""
    w, x, y, z = (wxyz[..., index] for index in range(4))
    return np.stack((x, z, -y, w), axis=-1)


def z_up(point: Vector) -> Vector:
    """
    Undo `y_up`, of one point.

    >>> z_up((1.0, 3.0, -2.0))
    (1.0, 2.0, 3.0)
    """
    x, y, z = point
    return x, -z, y


def z_up_quaternion(rotation: Quaternion) -> Quaternion:
    """Undo the change of `y_up_quaternions`, of one rotation; x y z w in both."""
    x, y, z, w = rotation
    return x, -z, y, w


def rotated(wxyz: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Turn vectors, shape (..., 3), by quaternions w x y z of length one, shape (..., 4)."""
    axis = wxyz[..., 1:]
    twice = 2.0 * crossed(axis, vectors)
    turned: np.ndarray = vectors + wxyz[..., :1] * twice + crossed(axis, twice)
    return turned


def crossed(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return cross products, shape (..., 3); numpy's own takes five times as long for few."""
    x, y, z = left[..., 0], left[..., 1], left[..., 2]
    u, v, w = right[..., 0], right[..., 1], right[..., 2]
    return np.stack((y * w - z * v, z * u - x * w, x * v - y * u), axis=-1)


__all__ = [
    'crossed', 'rotated', 'y_up', 'y_up_quaternions', 'z_up', 'z_up_quaternion',
]  # fmt: skip
