# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Representations of rotations in observations and actions.

``rot6d`` is the first two rows of the rotation matrix (Zhou et al., "On the Continuity of Rotation
Representations"), ``quat`` is w x y z, ``rpy`` is fixed-axis roll, pitch, yaw (REP-103), and
``rotvec`` is axis times angle.  Angles in rad.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from urlab_ros_bridge import geometry

# A shorter quaternion is no rotation.
_SHORTEST = 1e-9


def to_matrix(values: np.ndarray, kind: str) -> np.ndarray:
    """
    Return the rotation matrix, shape (3, 3), orthonormalised.

    :param values: shape (`ROTATIONS[kind]`,).
    :raises ValueError: for numbers that are no rotation (a zero quaternion, parallel rows).
    """
    try:
        return _TO_MATRIX[kind](values)
    except ValueError as error:
        raise ValueError(f'{kind}: {error}') from error


def from_matrix(matrix: np.ndarray, kind: str) -> np.ndarray:
    """Return the numbers of a rotation matrix, shape (`ROTATIONS[kind]`,)."""
    if kind == 'rot6d':
        return matrix[:2].reshape(6)
    return np.array(_FROM_QUATERNION[kind](geometry.quaternion_of_matrix(matrix)))


def _of_quat(values: np.ndarray) -> np.ndarray:
    if np.linalg.norm(values) < _SHORTEST:
        raise ValueError('a quaternion of zeros is not a rotation')
    return geometry.matrix_of(geometry.wxyz_to_xyzw(values.tolist()))


# Name -> number of values.
ROTATIONS: dict[str, int] = {'rot6d': 6, 'quat': 4, 'rpy': 3, 'rotvec': 3}
_TO_MATRIX: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    'rot6d': lambda v: geometry.matrix_of_two_rows(v[:3].tolist(), v[3:6].tolist()),
    'quat': _of_quat,
    'rpy': lambda v: geometry.matrix_of(geometry.quaternion_of_rpy(*v.tolist())),
    'rotvec': lambda v: geometry.matrix_of(geometry.quaternion_of_rotation_vector(v.tolist())),
}
_FROM_QUATERNION: dict[str, Callable[[geometry.Quaternion], tuple[float, ...]]] = {
    'quat': geometry.xyzw_to_wxyz,
    'rpy': geometry.rpy_of,
    'rotvec': geometry.rotation_vector,
}

__all__ = ['ROTATIONS', 'from_matrix', 'to_matrix']
