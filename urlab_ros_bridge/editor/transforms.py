# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Poses as the requests of the editor have them.

`location` is in m, `rotation_quat` is x, y, z, w (stock plugin's order, that of `geometry`) and
`rotation_euler` is roll, pitch, yaw in degrees about the world's x, y and z axes, right-handed:
first roll, then pitch, then yaw (REP 103).
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import Quaternion
from urlab_ros_bridge.geometry import quaternion_of_rpy
from urlab_ros_bridge.geometry import rpy_of
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields

MAX_LOCATION = 1e6  # m; farther out MuJoCo's float32 rendering and AABBs mean nothing


def as_vector(values: Sequence[float] | np.ndarray) -> Vector:
    """Return three numbers as a tuple of plain floats."""
    x, y, z = map(float, values)
    return x, y, z


def from_euler(degrees: Sequence[float] | np.ndarray) -> Quaternion:
    """Return the rotation of (roll, pitch, yaw) in degrees."""
    roll, pitch, yaw = (math.radians(angle) for angle in degrees)
    return quaternion_of_rpy(roll, pitch, yaw)


def to_euler(quat: Sequence[float]) -> Vector:
    """Return (roll, pitch, yaw) in degrees; straight up or down, roll is 0."""
    roll, pitch, yaw = rpy_of(quat)
    return math.degrees(roll), math.degrees(pitch), math.degrees(yaw)


def read_location(fields: Fields, name: str = 'location') -> Vector | None:
    """
    Return a field of three numbers in m, None when it is absent.

    :raises OpError: bad_value.
    """
    return need_location(fields, name) if name in fields else None


def need_location(fields: Fields, name: str = 'location') -> Vector:
    """
    Return a field of three numbers in m.

    :raises OpError: missing_field, bad_value.
    """
    values = fields.need_vector(name, 3)
    if np.abs(values).max() > MAX_LOCATION:
        raise bad_value(name, values.tolist(), f'three numbers within +-{MAX_LOCATION:g} m')
    return as_vector(values)


def read_rotation(fields: Fields) -> Quaternion | None:
    """
    Return `rotation_quat` (x, y, z, w), else `rotation_euler` (degrees), else None.

    :raises OpError: bad_value.
    """
    quat = fields.vector('rotation_quat', size=4)
    if quat is not None:
        if not np.linalg.norm(quat) > 1e-6:
            raise bad_value('rotation_quat', quat.tolist(), 'a rotation x, y, z, w')
        return normalize(quat.tolist())
    euler = fields.vector('rotation_euler', size=3)
    if euler is None:
        return None
    return from_euler(euler)


def read_scale(fields: Fields) -> Vector:
    """
    Return `scale`, three factors above 0; (1, 1, 1) when absent.

    :raises OpError: bad_value.
    """
    scale = fields.vector('scale', size=3)
    if scale is None:
        return (1.0, 1.0, 1.0)
    if not 1e-6 <= scale.min() <= scale.max() <= 1e6:
        raise bad_value('scale', scale.tolist(), 'three factors above 0')
    return as_vector(scale)
