# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Poses as pairs of a position (m) and a quaternion xyzw, and the angles that URDF writes."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any
from typing import NamedTuple

from urlab_ros_bridge.ros.convert.frames import compose
from urlab_ros_bridge.ros.convert.frames import conjugate
from urlab_ros_bridge.ros.convert.frames import IDENTITY
from urlab_ros_bridge.ros.convert.frames import normalize
from urlab_ros_bridge.ros.convert.frames import Quaternion
from urlab_ros_bridge.ros.convert.frames import rotate_inverse
from urlab_ros_bridge.ros.convert.frames import Vector
from urlab_ros_bridge.ros.convert.frames import wxyz_to_xyzw

ORIGIN: Vector = (0.0, 0.0, 0.0)
# Nearer to straight up or down than this (of the sine), roll and yaw are one angle.
_VERTICAL = 1.0 - 1e-9


class Pose(NamedTuple):
    """Pose of a child in its parent."""

    position: Vector = ORIGIN
    orientation: Quaternion = IDENTITY

    def then(self, child: Pose) -> Pose:
        """Return the pose of a grandchild."""
        return Pose(*compose(*self, *child))

    def inverse(self) -> Pose:
        """Return the pose of the parent in the child."""
        x, y, z = rotate_inverse(self.orientation, self.position)
        return Pose((-x, -y, -z), conjugate(self.orientation))

    @property
    def is_identity(self) -> bool:
        """Whether the child is its parent, up to rounding."""
        return max(map(abs, (*self.position, *self.orientation[:3]))) < 1e-12


AT_ORIGIN = Pose()


def pose_of(position: Any, quaternion_wxyz: Any) -> Pose:
    """Return a pose from rows of a model."""
    return Pose(
        tuple(map(float, position)), normalize(wxyz_to_xyzw([float(q) for q in quaternion_wxyz]))
    )


def turned(axis: Sequence[float], angle: float) -> Quaternion:
    """Return the rotation by `angle` (rad) about an axis of length one."""
    sine = math.sin(0.5 * angle)
    return axis[0] * sine, axis[1] * sine, axis[2] * sine, math.cos(0.5 * angle)


def rpy_of(quaternion: Sequence[float]) -> Vector:
    """
    Return roll, pitch and yaw about fixed axes (rad): the rotation is Rz(yaw) Ry(pitch) Rx(roll).

    Straight up or down, where only the difference of roll and yaw counts, roll is 0.
    """
    x, y, z, w = normalize(quaternion)
    sine = 2.0 * (w * y - z * x)
    if abs(sine) > _VERTICAL:
        return 0.0, math.copysign(0.5 * math.pi, sine), 2.0 * math.atan2(z, w)
    return (
        math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
        math.asin(sine),
        math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
    )


def xyz_angles(quaternion: Sequence[float]) -> Vector:
    """
    Split a rotation into turns about x, then the new y, then the new z (rad).

    That is how a ball joint becomes three hinges: the rotation is Rx(a) Ry(b) Rz(c).
    """
    x, y, z, w = normalize(quaternion)
    # The inverse has the fixed axes of roll, pitch and yaw, in the other direction.
    roll, pitch, yaw = rpy_of((-x, -y, -z, w))
    return -roll, -pitch, -yaw
