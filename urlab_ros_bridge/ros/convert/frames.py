# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Rotations and projections.

A quaternion is a sequence (x, y, z, w) as in ROS unless a name says wxyz, as in MuJoCo; it rotates
vectors of the child frame into the parent frame.  Everything here works on plain floats: for one
pose that is several times faster than numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from urlab_ros_bridge.ros.convert.errors import WrongLength

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)
# MuJoCo's camera (x right, y up, looks along -z) -> optical frame (x right, y down, z forward).
CAMERA_TO_OPTICAL: Quaternion = (1.0, 0.0, 0.0, 0.0)
# Body frame (x forward, y left, z up) -> optical frame of a camera that looks along x (REP-103).
BODY_TO_OPTICAL: Quaternion = (-0.5, 0.5, -0.5, 0.5)
# MuJoCo's camera -> body frame with x along the view, z up in the picture.
CAMERA_TO_BODY: Quaternion = (0.5, -0.5, -0.5, -0.5)

# As mju_normalize4: shorter quaternions become the identity.
_SHORTEST = 1e-15


def floats(values: Sequence[float] | np.ndarray, count: int) -> Sequence[float]:
    """
    Return the values as Python numbers.

    :raises WrongLength: when they are not `count` many.
    """
    found = values.tolist() if isinstance(values, np.ndarray) else values
    if len(found) != count:
        raise WrongLength(count, len(found))
    return found


def normalize(quaternion: Sequence[float]) -> Quaternion:
    """
    Scale a quaternion to length one.

    One without a direction becomes the identity, as in MuJoCo; NaN stays NaN.
    """
    x, y, z, w = quaternion
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if length < _SHORTEST:
        return IDENTITY
    return x / length, y / length, z / length, w / length


def wxyz_to_xyzw(quaternion: Sequence[float]) -> Quaternion:
    """Turn MuJoCo's order into that of ROS."""
    w, x, y, z = quaternion
    return x, y, z, w


def xyzw_to_wxyz(quaternion: Sequence[float]) -> Quaternion:
    """Turn the order of ROS into MuJoCo's."""
    x, y, z, w = quaternion
    return w, x, y, z


def conjugate(quaternion: Sequence[float]) -> Quaternion:
    """Return the inverse of a rotation."""
    x, y, z, w = quaternion
    return -x, -y, -z, w


def multiply(left: Sequence[float], right: Sequence[float]) -> Quaternion:
    """Chain two rotations: a vector is turned by `right` first."""
    ax, ay, az, aw = left
    bx, by, bz, bw = right
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def rotate(quaternion: Sequence[float], vector: Sequence[float]) -> Vector:
    """Turn a vector of the child frame into the parent frame; `quaternion` has length one."""
    x, y, z, w = quaternion
    vx, vy, vz = vector
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


def rotate_inverse(quaternion: Sequence[float], vector: Sequence[float]) -> Vector:
    """Turn a vector of the parent frame into the child frame; `quaternion` has length one."""
    x, y, z, w = quaternion
    return rotate((-x, -y, -z, w), vector)


def compose(
    position: Sequence[float],
    quaternion: Sequence[float],
    child_position: Sequence[float],
    child_quaternion: Sequence[float],
) -> tuple[Vector, Quaternion]:
    """Return the pose of a grandchild in the parent frame."""
    x, y, z = rotate(quaternion, child_position)
    return (
        (position[0] + x, position[1] + y, position[2] + z),
        multiply(quaternion, child_quaternion),
    )


def yaw_of(quaternion: Sequence[float]) -> float:
    """
    Return the heading in rad: the angle of the projected x axis, counter-clockwise from x.

    It is the yaw of fixed axes roll, pitch, yaw.  With the x axis straight up or down there is no
    heading: then the result is 0, or whatever rounding makes of it.
    """
    x, y, z, w = quaternion
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def yaw_quaternion(yaw: float) -> Quaternion:
    """Return a rotation by `yaw` rad about z."""
    return 0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)


def footprint(
    position: Sequence[float], quaternion: Sequence[float], ground: float = 0.0
) -> tuple[Vector, Quaternion]:
    """
    Project a base to the floor, in the frame of its pose.

    :param ground: height of the floor (m).
    :return: the point below the base, and its heading; roll and pitch are 0 (REP-120).
    """
    return (position[0], position[1], ground), yaw_quaternion(yaw_of(quaternion))


def footprint_in_base(
    position: Sequence[float], quaternion: Sequence[float], ground: float = 0.0
) -> tuple[Vector, Quaternion]:
    """
    Return the pose of the footprint in the frame of the base.

    That makes the footprint a child of the base, which keeps odom -> base as it is.

    :param quaternion: of length one.
    """
    _, heading = footprint(position, quaternion, ground)
    return (
        rotate_inverse(quaternion, (0.0, 0.0, ground - position[2])),
        multiply(conjugate(quaternion), heading),
    )
