# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Poses as the editor's ops write them, and as MuJoCo means them.

On the wire `location` is in m, `rotation_quat` is x, y, z, w (stock plugin's order) and
`rotation_euler` is roll, pitch, yaw in degrees about the world's x, y and z axes, right-handed:
first roll, then pitch, then yaw (REP 103).  Inside, a quaternion is w, x, y, z as in MuJoCo; the
algebra is that of `urlab_ros_bridge.geometry`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np

from urlab_ros_bridge import geometry
from urlab_ros_bridge.geometry import ORIGIN
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.geometry import xyzw_to_wxyz
from urlab_ros_bridge.sim.requests.fields import bad_value
from urlab_ros_bridge.sim.requests.fields import Fields

Quat = geometry.Quaternion

IDENTITY: Quat = (1.0, 0.0, 0.0, 0.0)
MAX_LOCATION = 1e6  # m; farther out MuJoCo's float32 rendering and AABBs mean nothing


@dataclass(frozen=True, slots=True)
class ActorPose:
    """A place in the world: `pos` in m, `quat` w, x, y, z of norm 1."""

    pos: Vector = ORIGIN
    quat: Quat = IDENTITY

    def __matmul__(self, other: ActorPose) -> ActorPose:
        """Return the pose of `other`, which is given relative to this one."""
        x, y, z = self.pos
        dx, dy, dz = rotate(self.quat, other.pos)
        return ActorPose((x + dx, y + dy, z + dz), normalised(multiply(self.quat, other.quat)))

    def inverse(self) -> ActorPose:
        """Return the pose that takes this one back to the origin."""
        quat = conjugate(self.quat)
        x, y, z = rotate(quat, self.pos)
        return ActorPose((-x, -y, -z), quat)


def as_vector(values: Sequence[float] | np.ndarray) -> Vector:
    """Return three numbers as a tuple of plain floats."""
    x, y, z = map(float, values)
    return x, y, z


def conjugate(quat: Sequence[float]) -> Quat:
    """Return the inverse of a unit quaternion."""
    return (quat[0], -quat[1], -quat[2], -quat[3])


def multiply(first: Sequence[float], second: Sequence[float]) -> Quat:
    """Return the rotation `second` followed by `first`."""
    return xyzw_to_wxyz(geometry.multiply(wxyz_to_xyzw(first), wxyz_to_xyzw(second)))


def rotate(quat: Sequence[float], vector: Sequence[float]) -> Vector:
    """Return a vector, shape (3,), turned by a unit quaternion."""
    x, y, z = map(float, vector)
    return geometry.rotate(wxyz_to_xyzw(quat), (x, y, z))


def matrix(quat: Sequence[float]) -> np.ndarray:
    """Return the rotation matrix, shape (3, 3), of a unit quaternion."""
    return geometry.matrix_of(wxyz_to_xyzw(quat))


def normalised(quat: Sequence[float]) -> Quat:
    """Return the quaternion with norm 1."""
    w, x, y, z = map(float, quat)
    return xyzw_to_wxyz(geometry.normalize((x, y, z, w)))


def from_euler(degrees: Sequence[float] | np.ndarray) -> Quat:
    """Return the rotation of (roll, pitch, yaw) in degrees."""
    roll, pitch, yaw = (math.radians(angle) for angle in degrees)
    return xyzw_to_wxyz(geometry.quaternion_of_rpy(roll, pitch, yaw))


def to_euler(quat: Sequence[float]) -> Vector:
    """Return (roll, pitch, yaw) in degrees; straight up or down, roll is 0."""
    roll, pitch, yaw = geometry.rpy_of(wxyz_to_xyzw(quat))
    return math.degrees(roll), math.degrees(pitch), math.degrees(yaw)


def looking_along(direction: Sequence[float]) -> Quat:
    """Return the rotation whose x axis is `direction` and whose y axis is level (z up)."""
    return xyzw_to_wxyz(geometry.looking_along(direction))


def to_wire(quat: Sequence[float]) -> list[float]:
    """Return w, x, y, z as the wire's x, y, z, w."""
    return [float(quat[1]), float(quat[2]), float(quat[3]), float(quat[0])]


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


def read_rotation(fields: Fields) -> Quat | None:
    """
    Return `rotation_quat` (x, y, z, w), else `rotation_euler` (degrees), else None.

    :raises OpError: bad_value.
    """
    quat = fields.vector('rotation_quat', size=4)
    if quat is not None:
        if not np.linalg.norm(quat) > 1e-6:
            raise bad_value('rotation_quat', quat.tolist(), 'a rotation x, y, z, w')
        return normalised((quat[3], quat[0], quat[1], quat[2]))
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
