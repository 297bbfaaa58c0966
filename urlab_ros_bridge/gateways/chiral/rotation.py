# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Rotations as policies write them.

``rot6d`` is the first two rows of the rotation matrix (Zhou et al., "On the Continuity of Rotation
Representations"), ``quat`` is w x y z, ``rpy`` is fixed-axis roll, pitch, yaw (REP-103), and
``rotvec`` is axis times angle.  Angles in rad.
"""

from __future__ import annotations

import math

import numpy as np

# Name -> how many numbers it takes.
ROTATIONS: dict[str, int] = {'rot6d': 6, 'quat': 4, 'rpy': 3, 'rotvec': 3}
_TINY = 1e-9


def to_matrix(values: np.ndarray, kind: str) -> np.ndarray:
    """
    Return the rotation matrix, shape (3, 3); what is not quite a rotation is made one.

    :raises ValueError: for numbers that stand for no rotation (a zero quaternion, parallel rows).
    """
    if kind == 'rot6d':
        return _from_rows(values[:3], values[3:6])
    if kind == 'quat':
        return matrix_of_quat(values)
    if kind == 'rpy':
        return _from_rpy(*values)
    angle = float(np.linalg.norm(values))
    if angle < _TINY:
        return np.eye(3)
    half = angle / 2
    return matrix_of_quat(np.array([math.cos(half), *(values / angle * math.sin(half))]))


def from_matrix(matrix: np.ndarray, kind: str) -> np.ndarray:
    """Return the numbers of a rotation matrix, shape (`ROTATIONS[kind]`,)."""
    if kind == 'rot6d':
        return matrix[:2].reshape(6)
    if kind == 'rpy':
        yaw = math.atan2(matrix[1, 0], matrix[0, 0])
        pitch = math.atan2(-matrix[2, 0], math.hypot(matrix[0, 0], matrix[1, 0]))
        # With the yaw taken out the roll is well defined, also when the pitch is a right angle.
        c, s = math.cos(yaw), math.sin(yaw)
        roll = math.atan2(s * matrix[0, 2] - c * matrix[1, 2], c * matrix[1, 1] - s * matrix[0, 1])
        return np.array([roll, pitch, yaw])
    quat = quat_of_matrix(matrix)
    if kind == 'quat':
        return quat
    sine = float(np.linalg.norm(quat[1:]))
    if sine < _TINY:
        return 2 * quat[1:]
    return quat[1:] / sine * 2 * math.atan2(sine, quat[0])


def matrix_of_quat(quat: np.ndarray) -> np.ndarray:
    """
    Return the matrix of a quaternion w x y z of any length but zero.

    :raises ValueError: for the zero quaternion.
    """
    length = float(np.linalg.norm(quat))
    if length < _TINY:
        raise ValueError('a quaternion of zeros is no rotation')
    w, x, y, z = quat / length
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quat_of_matrix(matrix: np.ndarray) -> np.ndarray:
    """Return the quaternion w x y z with w >= 0, by the largest component."""
    m = matrix
    squares = np.array(
        [
            1 + m[0, 0] + m[1, 1] + m[2, 2],
            1 + m[0, 0] - m[1, 1] - m[2, 2],
            1 - m[0, 0] + m[1, 1] - m[2, 2],
            1 - m[0, 0] - m[1, 1] + m[2, 2],
        ]
    )
    k = int(np.argmax(squares))
    columns = (
        (squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]),
        (m[2, 1] - m[1, 2], squares[1], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]),
        (m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], squares[2], m[1, 2] + m[2, 1]),
        (m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], squares[3]),
    )
    quat = np.array(columns[k])
    quat /= np.linalg.norm(quat)
    return -quat if quat[0] < 0 else quat


def _from_rows(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(first))
    if length < _TINY:
        raise ValueError('the first row of rot6d is zero')
    x = first / length
    y = second - (second @ x) * x
    height = float(np.linalg.norm(y))
    if height < _TINY * max(1.0, float(np.linalg.norm(second))):
        raise ValueError('the rows of rot6d are parallel')
    y = y / height
    return np.stack((x, y, np.cross(x, y)))


def _from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
