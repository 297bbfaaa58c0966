# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Rotations, poses and the frames that conventions fix.

A quaternion is a sequence (x, y, z, w) as in ROS unless a name says wxyz, as in MuJoCo; it rotates
vectors of the child frame into the parent frame.  Angles are in rad, positions in m.  Roll, pitch
and yaw turn about the fixed axes x, y, z in this order (REP-103).  Everything but matrices works
on plain floats: for one pose that is several times faster than numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any
from typing import NamedTuple

import numpy as np

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

ORIGIN: Vector = (0.0, 0.0, 0.0)
IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)
# MuJoCo's camera (x right, y up, looks along -z) -> optical frame (x right, y down, z forward).
CAMERA_TO_OPTICAL: Quaternion = (1.0, 0.0, 0.0, 0.0)
# Body frame (x forward, y left, z up) -> optical frame of a camera that looks along x (REP-103).
BODY_TO_OPTICAL: Quaternion = (-0.5, 0.5, -0.5, 0.5)
# MuJoCo's camera -> body frame with x along the view, z up in the image.
CAMERA_TO_BODY: Quaternion = (0.5, -0.5, -0.5, -0.5)
# A rangefinder looks along the z axis of its site, a sensor_msgs/Range along x.
SITE_TO_RANGE: Quaternion = (0.0, -math.sqrt(0.5), 0.0, math.sqrt(0.5))

# As mju_normalize4: shorter quaternions become the identity.
_SHORTEST = 1e-15
_ROUNDING = 1e-15
# With a cosine of the pitch below this, roll and yaw are one angle.
_VERTICAL = 1e-9
_TINY = 1e-12


def normalize(quaternion: Sequence[float]) -> Quaternion:
    """
    Scale a quaternion to length one.

    One without a direction becomes the identity, as in MuJoCo; NaN stays NaN.  Twice is as once:
    one of length one, up to rounding, is kept.
    """
    x, y, z, w = quaternion
    length = math.hypot(x, y, z, w)
    if -_ROUNDING < length - 1.0 < _ROUNDING:
        return x, y, z, w
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


def axis_angle(axis: Sequence[float], angle: float) -> Quaternion:
    """Return the rotation by `angle` about an axis of length one."""
    sine = math.sin(0.5 * angle)
    return axis[0] * sine, axis[1] * sine, axis[2] * sine, math.cos(0.5 * angle)


def quaternion_of_rpy(roll: float, pitch: float, yaw: float) -> Quaternion:
    """Return the rotation Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, sr = math.cos(0.5 * roll), math.sin(0.5 * roll)
    cp, sp = math.cos(0.5 * pitch), math.sin(0.5 * pitch)
    cy, sy = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def rpy_of(quaternion: Sequence[float]) -> Vector:
    """
    Return roll, pitch and yaw of a rotation of any length.

    Straight up or down, where only the difference of roll and yaw counts, roll is 0.
    """
    x, y, z, w = normalize(quaternion)
    m00, m10, m20 = 1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)
    m01, m11 = 2 * (x * y - w * z), 1 - 2 * (x * x + z * z)
    level = math.hypot(m00, m10)
    pitch = math.atan2(-m20, level)
    if level < _VERTICAL:
        return 0.0, pitch, math.atan2(-m01, m11)
    # Where rounding turns the yaw a little, the roll makes up for it.
    cy, sy = m00 / level, m10 / level
    m02, m12 = 2 * (x * z + w * y), 2 * (y * z - w * x)
    roll = math.atan2(sy * m02 - cy * m12, cy * m11 - sy * m01)
    return roll, pitch, math.atan2(m10, m00)


def xyz_angles(quaternion: Sequence[float]) -> Vector:
    """
    Split a rotation into turns about x, then the new y, then the new z.

    That is how a ball joint becomes three hinges: the rotation is Rx(a) Ry(b) Rz(c).
    """
    # The inverse has the fixed axes of roll, pitch and yaw, in the other direction.
    roll, pitch, yaw = rpy_of(conjugate(quaternion))
    return -roll, -pitch, -yaw


def rotation_vector(quaternion: Sequence[float]) -> Vector:
    """Return axis times angle, of a length of at most pi."""
    x, y, z, w = normalize(quaternion)
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    sine = math.hypot(x, y, z)
    scale = 2.0 if sine < _TINY else 2.0 * math.atan2(sine, w) / sine
    return scale * x, scale * y, scale * z


def quaternion_of_rotation_vector(vector: Sequence[float]) -> Quaternion:
    """Return the rotation about the axis of a vector by its length."""
    angle = math.hypot(*vector)
    if angle < _TINY:
        return normalize((0.5 * vector[0], 0.5 * vector[1], 0.5 * vector[2], 1.0))
    scale = math.sin(0.5 * angle) / angle
    return scale * vector[0], scale * vector[1], scale * vector[2], math.cos(0.5 * angle)


def looking_along(direction: Sequence[float]) -> Quaternion:
    """Return the rotation whose x axis is `direction` and whose y axis is level (z up)."""
    x, y, z = direction
    yaw = math.atan2(y, x) if x or y else 0.0
    return quaternion_of_rpy(0.0, math.atan2(-z, math.hypot(x, y)), yaw)


def matrix_of(quaternion: Sequence[float]) -> np.ndarray:
    """Return the rotation matrix, shape (3, 3), of a quaternion of any length but 0."""
    x, y, z, w = normalize(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of_matrix(matrix: np.ndarray) -> Quaternion:
    """Return the quaternion with w >= 0 of a rotation matrix, shape (3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = np.asarray(matrix, float).reshape(3, 3).tolist()
    # Four times the product of each component with the largest one.
    candidates = (
        (1 + a - e - i, b + d, c + g, h - f),
        (b + d, 1 - a + e - i, f + h, c - g),
        (c + g, f + h, 1 - a - e + i, d - b),
        (h - f, c - g, d - b, 1 + a + e + i),
    )
    largest = max(range(4), key=lambda index: candidates[index][index])
    x, y, z, w = normalize(candidates[largest])
    return (-x, -y, -z, -w) if w < 0.0 else (x, y, z, w)


def matrix_of_two_rows(first: Sequence[float], second: Sequence[float]) -> np.ndarray:
    """
    Return the rotation matrix with these first two rows, made orthonormal (Gram-Schmidt).

    :raises ValueError: when they are zero or parallel.
    """
    one, two = np.asarray(first, float), np.asarray(second, float)
    length = float(np.linalg.norm(one))
    if not length >= _VERTICAL:
        raise ValueError('the first row is zero')
    x = one / length
    y = two - (two @ x) * x
    height = float(np.linalg.norm(y))
    if not height >= _VERTICAL * max(1.0, float(np.linalg.norm(two))):
        raise ValueError('the rows are parallel')
    y = y / height
    return np.stack((x, y, np.cross(x, y)))


class Pose(NamedTuple):
    """Pose of a child in its parent: position and quaternion xyzw."""

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
        return max(map(abs, (*self.position, *self.orientation[:3]))) < _TINY


AT_ORIGIN = Pose()


def pose_of(position: Any, quaternion_wxyz: Any) -> Pose:
    """Return a pose from rows of a MuJoCo model: shapes (3,) and (4,)."""
    x, y, z = map(float, position)
    return Pose((x, y, z), normalize(wxyz_to_xyzw([float(q) for q in quaternion_wxyz])))


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


def ray_directions(azimuths: np.ndarray, elevations: np.ndarray) -> np.ndarray:
    """
    Return the unit vectors of a scanner's rays in its frame, shape (elevations, azimuths, 3).

    :param azimuths: rad about z, 0 along x.
    :param elevations: rad above the xy plane, one for each ring of rays.
    """
    azimuth, elevation = azimuths[None, :], elevations[:, None]
    across, ones = np.cos(elevation), np.ones_like(azimuth)
    return np.stack(
        [across * np.cos(azimuth), across * np.sin(azimuth), np.sin(elevation) * ones], axis=-1
    )
