# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Stamped geometry: PoseStamped, Vector3Stamped, PointStamped, QuaternionStamped."""

from __future__ import annotations

from geometry_msgs.msg import Point
from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import Pose
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Quaternion
from geometry_msgs.msg import QuaternionStamped
from geometry_msgs.msg import Vector3
from geometry_msgs.msg import Vector3Stamped

from urlab_ros_bridge.ros.cdr import Template
from urlab_ros_bridge.ros.convert.base import header_to_ros
from urlab_ros_bridge.ros.convert.base import MessageTemplate
from urlab_ros_bridge.ros.convert.base import Values
from urlab_ros_bridge.ros.convert.frames import floats
from urlab_ros_bridge.ros.convert.frames import IDENTITY
from urlab_ros_bridge.ros.convert.frames import normalize
from urlab_ros_bridge.wire.stamp import NANOSECONDS

_ZERO = (0.0, 0.0, 0.0)


def pose_to_ros(
    stamp_ns: int, frame_id: str, position: Values, orientation: Values
) -> PoseStamped:
    """
    Return a pose in `frame_id`.

    :param position: shape (3,), m.
    :param orientation: shape (4,), quaternion xyzw; it is normalised.
    """
    x, y, z = floats(position, 3)
    qx, qy, qz, qw = normalize(floats(orientation, 4))
    return PoseStamped(
        header=header_to_ros(stamp_ns, frame_id),
        pose=Pose(
            position=Point(x=float(x), y=float(y), z=float(z)),
            orientation=Quaternion(x=qx, y=qy, z=qz, w=qw),
        ),
    )


def vector3_to_ros(stamp_ns: int, frame_id: str, vector: Values) -> Vector3Stamped:
    """Return a vector of shape (3,) in the axes of `frame_id`."""
    x, y, z = floats(vector, 3)
    return Vector3Stamped(
        header=header_to_ros(stamp_ns, frame_id),
        vector=Vector3(x=float(x), y=float(y), z=float(z)),
    )


def point_to_ros(stamp_ns: int, frame_id: str, point: Values) -> PointStamped:
    """Return a point of shape (3,), in m, in `frame_id`."""
    x, y, z = floats(point, 3)
    return PointStamped(
        header=header_to_ros(stamp_ns, frame_id), point=Point(x=float(x), y=float(y), z=float(z))
    )


def quaternion_to_ros(stamp_ns: int, frame_id: str, quaternion: Values) -> QuaternionStamped:
    """Return an orientation xyzw in `frame_id`; it is normalised."""
    x, y, z, w = normalize(floats(quaternion, 4))
    return QuaternionStamped(
        header=header_to_ros(stamp_ns, frame_id), quaternion=Quaternion(x=x, y=y, z=z, w=w)
    )


class PoseStampedTemplate(MessageTemplate):
    """geometry_msgs/PoseStamped."""

    def __init__(self, frame_id: str) -> None:
        self._frame_id = frame_id
        super().__init__(self.message(0, _ZERO, IDENTITY))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._pose = template.writer('pose')

    def message(self, stamp_ns: int, position: Values, orientation: Values) -> PoseStamped:
        return pose_to_ros(stamp_ns, self._frame_id, position, orientation)

    def update(self, stamp_ns: int, position: Values, orientation: Values) -> bytes:
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._pose(*floats(position, 3), *normalize(floats(orientation, 4)))
        return self._to_bytes()


class Vector3StampedTemplate(MessageTemplate):
    """geometry_msgs/Vector3Stamped."""

    def __init__(self, frame_id: str) -> None:
        self._frame_id = frame_id
        super().__init__(self.message(0, _ZERO))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._vector = template.writer('vector')

    def message(self, stamp_ns: int, vector: Values) -> Vector3Stamped:
        return vector3_to_ros(stamp_ns, self._frame_id, vector)

    def update(self, stamp_ns: int, vector: Values) -> bytes:
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._vector(*floats(vector, 3))
        return self._to_bytes()


class PointStampedTemplate(MessageTemplate):
    """geometry_msgs/PointStamped."""

    def __init__(self, frame_id: str) -> None:
        self._frame_id = frame_id
        super().__init__(self.message(0, _ZERO))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._point = template.writer('point')

    def message(self, stamp_ns: int, point: Values) -> PointStamped:
        return point_to_ros(stamp_ns, self._frame_id, point)

    def update(self, stamp_ns: int, point: Values) -> bytes:
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._point(*floats(point, 3))
        return self._to_bytes()


class QuaternionStampedTemplate(MessageTemplate):
    """geometry_msgs/QuaternionStamped."""

    def __init__(self, frame_id: str) -> None:
        self._frame_id = frame_id
        super().__init__(self.message(0, IDENTITY))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._quaternion = template.writer('quaternion')

    def message(self, stamp_ns: int, quaternion: Values) -> QuaternionStamped:
        return quaternion_to_ros(stamp_ns, self._frame_id, quaternion)

    def update(self, stamp_ns: int, quaternion: Values) -> bytes:
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._quaternion(*normalize(floats(quaternion, 4)))
        return self._to_bytes()
