# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
From MuJoCo's world, z up, to that of WebXR and glTF, y up; metres in both.

Both are right-handed: (x, y, z) becomes (x, z, -y).  The same holds for the vector part of a
quaternion, of something whose own shape has y up after the change too, as a glTF file has.
"""

from __future__ import annotations

import numpy as np

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import Quaternion
from urlab_ros_bridge.geometry import Vector

# Of positions and rotations in messages: 10 micrometres.
DIGITS = 5

# Places in vectors, and of x z y w in a quaternion w x y z.
_XZY, _YZX, _ZXY = (np.array(order) for order in ((0, 2, 1), (1, 2, 0), (2, 0, 1)))
_XZYW = np.array((1, 3, 2, 0))


def y_up(points: np.ndarray) -> np.ndarray:
    """Return points or vectors, shape (..., 3), of a world with z up in one with y up."""
    turned: np.ndarray = points.take(_XZY, axis=-1)
    turned[..., 2] *= -1.0
    return turned


def y_up_quaternions(wxyz: np.ndarray) -> np.ndarray:
    """Return rotations w x y z, shape (..., 4), of a world with z up as x y z w with y up."""
    turned: np.ndarray = wxyz.take(_XZYW, axis=-1)
    turned[..., 2] *= -1.0
    return turned


def y_up_poses(positions: np.ndarray, wxyz: np.ndarray) -> np.ndarray:
    """
    Return poses for a browser, shape (n, 7), float32: position, rotation x y z w.

    :param positions: shape (n, 3), of a world with z up; `wxyz` rotations, shape (n, 4).
    """
    return np.concatenate((y_up(positions), y_up_quaternions(wxyz)), axis=1, dtype='<f4')


def y_up_pose(pose: Pose) -> list[float]:
    """Return one pose for a browser: position, rotation x y z w; seven numbers."""
    (x, y, z), (qx, qy, qz, qw) = pose
    return [round(value, 6) for value in (x, z, -y, qx, qz, -qy, qw)]


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
    found: np.ndarray = left.take(_YZX, axis=-1) * right.take(_ZXY, axis=-1)
    found -= left.take(_ZXY, axis=-1) * right.take(_YZX, axis=-1)
    return found


__all__ = [
    'DIGITS', 'crossed', 'rotated', 'y_up', 'y_up_pose', 'y_up_poses', 'y_up_quaternions',
    'z_up', 'z_up_quaternion',
]  # fmt: skip
