# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Poses as the editor's ops write them, and as MuJoCo means them.

On the wire `location` is in m, `rotation_quat` is x, y, z, w (stock plugin's order) and
`rotation_euler` is roll, pitch, yaw in degrees about the world's x, y and z axes, right-handed:
first roll, then pitch, then yaw (REP 103).  Inside, a quaternion is w, x, y, z as in MuJoCo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
import math

import mujoco
import numpy as np

from urlab_ros_bridge.sim.fields import bad_value
from urlab_ros_bridge.sim.fields import Fields

Vector = tuple[float, float, float]
Quat = tuple[float, float, float, float]

ORIGIN: Vector = (0.0, 0.0, 0.0)
IDENTITY: Quat = (1.0, 0.0, 0.0, 0.0)
MAX_LOCATION = 1e6  # m; farther out MuJoCo's float32 rendering and AABBs mean nothing


@dataclass(frozen=True, slots=True)
class Pose:
    """A place in the world: `pos` in m, `quat` w, x, y, z of norm 1."""

    pos: Vector = ORIGIN
    quat: Quat = IDENTITY

    def __matmul__(self, other: Pose) -> Pose:
        """Return the pose of `other`, which is given relative to this one."""
        turned = rotate(self.quat, other.pos)
        pos = tuple(a + b for a, b in zip(self.pos, turned, strict=True))
        return Pose(pos, normalised(multiply(self.quat, other.quat)))

    def inverse(self) -> Pose:
        """Return the pose that takes this one back to the origin."""
        quat = conjugate(self.quat)
        return Pose(tuple(-part for part in rotate(quat, self.pos)), quat)


def as_vector(values: Sequence[float] | np.ndarray) -> Vector:
    """Return three numbers as a tuple of plain floats."""
    return tuple(float(value) for value in values)


def conjugate(quat: Sequence[float]) -> Quat:
    """Return the inverse of a unit quaternion."""
    return (quat[0], -quat[1], -quat[2], -quat[3])


def multiply(first: Sequence[float], second: Sequence[float]) -> Quat:
    """Return the rotation `second` followed by `first`."""
    result = np.empty(4)
    mujoco.mju_mulQuat(result, np.asarray(first, float), np.asarray(second, float))
    return tuple(result.tolist())


def rotate(quat: Sequence[float], vector: Sequence[float]) -> Vector:
    """Return a vector, shape (3,), turned by a unit quaternion."""
    result = np.empty(3)
    mujoco.mju_rotVecQuat(result, np.asarray(vector, float), np.asarray(quat, float))
    return tuple(result.tolist())


def matrix(quat: Sequence[float]) -> np.ndarray:
    """Return the rotation matrix, shape (3, 3), of a unit quaternion."""
    result = np.empty(9)
    mujoco.mju_quat2Mat(result, np.asarray(quat, float))
    return result.reshape(3, 3)


def normalised(quat: Sequence[float]) -> Quat:
    """Return the quaternion with norm 1."""
    norm = math.hypot(*quat)
    return tuple(float(part) / norm for part in quat)


def from_euler(degrees: Sequence[float]) -> Quat:
    """Return the rotation of (roll, pitch, yaw) in degrees."""
    turns = []
    for axis, angle in zip((1, 2, 3), degrees, strict=True):
        half = math.radians(angle) / 2
        turn = [math.cos(half), 0.0, 0.0, 0.0]
        turn[axis] = math.sin(half)
        turns.append(tuple(turn))
    roll, pitch, yaw = turns
    return normalised(reduce(multiply, (yaw, pitch, roll)))


def to_euler(quat: Sequence[float]) -> Vector:
    """Return (roll, pitch, yaw) in degrees; straight up or down, roll is 0."""
    turn = matrix(quat)
    pitch = math.asin(max(-1.0, min(1.0, -turn[2, 0])))
    if abs(turn[2, 0]) > 1.0 - 1e-12:
        angles = (0.0, pitch, math.atan2(-turn[0, 1], turn[1, 1]))
    else:
        angles = (
            math.atan2(turn[2, 1], turn[2, 2]),
            pitch,
            math.atan2(turn[1, 0], turn[0, 0]),
        )
    return tuple(math.degrees(angle) for angle in angles)


def looking_along(direction: Sequence[float]) -> Quat:
    """Return the rotation whose x axis is `direction` and whose y axis is level (z up)."""
    x, y, z = direction
    yaw = math.atan2(y, x) if x or y else 0.0
    pitch = math.atan2(-z, math.hypot(x, y))
    return from_euler((0.0, math.degrees(pitch), math.degrees(yaw)))


def to_wire(quat: Sequence[float]) -> list[float]:
    """Return w, x, y, z as the wire's x, y, z, w."""
    return [float(quat[1]), float(quat[2]), float(quat[3]), float(quat[0])]


def read_location(fields: Fields, name: str = 'location') -> Vector | None:
    """
    Return a field of three numbers in m, None when it is absent.

    :raises OpError: bad_value.
    """
    values = fields.vector(name)
    if values is None:
        return None
    if len(values) != 3 or np.abs(values).max() > MAX_LOCATION:
        raise bad_value(name, values.tolist(), f'three numbers within +-{MAX_LOCATION:g} m')
    return as_vector(values)


def read_rotation(fields: Fields) -> Quat | None:
    """
    Return `rotation_quat` (x, y, z, w), else `rotation_euler` (degrees), else None.

    :raises OpError: bad_value.
    """
    quat = fields.vector('rotation_quat')
    if quat is not None:
        if len(quat) != 4 or not np.linalg.norm(quat) > 1e-6:
            raise bad_value('rotation_quat', quat.tolist(), 'a rotation x, y, z, w')
        return normalised((quat[3], quat[0], quat[1], quat[2]))
    euler = fields.vector('rotation_euler')
    if euler is None:
        return None
    if len(euler) != 3:
        raise bad_value('rotation_euler', euler.tolist(), 'roll, pitch, yaw in degrees')
    return from_euler(euler)


def read_scale(fields: Fields) -> Vector:
    """
    Return `scale`, three factors above 0; (1, 1, 1) when absent.

    :raises OpError: bad_value.
    """
    scale = fields.vector('scale')
    if scale is None:
        return (1.0, 1.0, 1.0)
    if len(scale) != 3 or not 1e-6 <= scale.min() <= scale.max() <= 1e6:
        raise bad_value('scale', scale.tolist(), 'three factors above 0')
    return as_vector(scale)
