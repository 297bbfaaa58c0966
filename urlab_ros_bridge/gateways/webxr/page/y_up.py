# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Between MuJoCo's axes, z up, and those of browsers, y up: (x, y, z) -> (x, z, -y)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import Vector


def poses(positions: np.ndarray, quaternions: np.ndarray) -> np.ndarray:
    """
    Return poses for a browser, shape (n, 7), float32: position, quaternion x y z w.

    :param positions: shape (n, 3); `quaternions` w x y z, shape (n, 4).
    """
    found = np.empty((len(positions), 7), '<f4')
    found[:, 0] = positions[:, 0]
    found[:, 1] = positions[:, 2]
    found[:, 2] = -positions[:, 1]
    found[:, 3] = quaternions[:, 1]
    found[:, 4] = quaternions[:, 3]
    found[:, 5] = -quaternions[:, 2]
    found[:, 6] = quaternions[:, 0]
    return found


def vectors(rows: np.ndarray) -> np.ndarray:
    """Return vectors for a browser, shape (n, 3), float32."""
    return np.column_stack([rows[:, 0], rows[:, 2], -rows[:, 1]]).astype('<f4')


def pose(given: Pose) -> list[float]:
    """Return one pose for a browser: position, quaternion x y z w."""
    (x, y, z), (qx, qy, qz, qw) = given
    return [round(value, 6) for value in (x, z, -y, qx, qz, -qy, qw)]


def from_browser(vector: Sequence[float]) -> Vector:
    """Return a browser's vector in MuJoCo's axes."""
    x, y, z = vector
    return x, -z, y


__all__ = ['from_browser', 'pose', 'poses', 'vectors']
