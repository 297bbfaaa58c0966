# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Stamped geometry: PoseStamped, Vector3Stamped, PointStamped, QuaternionStamped."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
import math
from typing import Any

from geometry_msgs.msg import Point
from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import Pose
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import Quaternion
from geometry_msgs.msg import QuaternionStamped
from geometry_msgs.msg import Transform
from geometry_msgs.msg import TransformStamped
from geometry_msgs.msg import Twist
from geometry_msgs.msg import TwistStamped
from geometry_msgs.msg import Vector3
from geometry_msgs.msg import Vector3Stamped
from geometry_msgs.msg import Wrench
from geometry_msgs.msg import WrenchStamped
import numpy as np

from urlab_ros_bridge.geometry import IDENTITY
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.ros.messages.base import floats
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.base import WrongLength
from urlab_ros_bridge.ros.messages.cdr import Template
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.rclpy_tools.compat import TF_MESSAGE
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


class PoseStampedTemplate(RosMessageTemplate):
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


class Vector3StampedTemplate(RosMessageTemplate):
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


class PointStampedTemplate(RosMessageTemplate):
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


class QuaternionStampedTemplate(RosMessageTemplate):
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


_IDENTITY_POSE = (0.0,) * 6 + (1.0,)

# Rows of position (m) and quaternion xyzw: an array of shape (n, 7), or n sequences of 7 floats.
Poses = np.ndarray | Sequence[Values]


def transform_to_ros(
    stamp_ns: int, parent: str, child: str, position: Values, orientation: Values
) -> TransformStamped:
    """
    Return the pose of `child` in `parent`.

    :param position: shape (3,), m.
    :param orientation: shape (4,), quaternion xyzw; it is normalised.
    """
    x, y, z = floats(position, 3)
    qx, qy, qz, qw = normalize(floats(orientation, 4))
    return TransformStamped(
        header=header_to_ros(stamp_ns, parent),
        child_frame_id=child,
        transform=Transform(
            translation=Vector3(x=float(x), y=float(y), z=float(z)),
            rotation=Quaternion(x=qx, y=qy, z=qz, w=qw),
        ),
    )


def transforms_to_ros(stamp_ns: int, frames: Sequence[tuple[str, str]], poses: Poses) -> Any:
    """
    Return a tf2_msgs/TFMessage.

    :param frames: n pairs of parent and child.
    :param poses: n rows, see `Poses`.
    :raises WrongLength: when there are not n rows of 7.
    :raises InterfaceMissing: without tf2_msgs.
    """
    if len(frames) != len(poses):
        raise WrongLength(len(frames), len(poses))
    rows = [floats(row, 7) for row in poses]
    return load_interface(TF_MESSAGE)(
        transforms=[
            transform_to_ros(stamp_ns, parent, child, row[:3], row[3:])
            for (parent, child), row in zip(frames, rows, strict=True)
        ]
    )


def static_transforms_to_ros(
    transforms: Iterable[tuple[str, str, Values, Values]], stamp_ns: int = 0
) -> Any:
    """
    Return a tf2_msgs/TFMessage for /tf_static.

    :param transforms: parent, child, position (m), quaternion xyzw of each.
    :raises InterfaceMissing: without tf2_msgs.
    """
    return load_interface(TF_MESSAGE)(
        transforms=[transform_to_ros(stamp_ns, *transform) for transform in transforms]
    )


class TFTemplate(RosMessageTemplate):
    """tf2_msgs/TFMessage of a fixed set of frames."""

    def __init__(self, frames: Sequence[tuple[str, str]]) -> None:
        """
        Fix the frames.

        :param frames: pairs of parent and child.
        :raises InterfaceMissing: without tf2_msgs.
        """
        self._frames = tuple(frames)
        super().__init__(self.message(0, [_IDENTITY_POSE] * len(self._frames)))

    def _bind(self, template: Template) -> None:
        paths = [f'transforms[{index}]' for index in range(len(self._frames))]
        self._writers = [
            (template.writer(f'{path}.header.stamp'), template.writer(f'{path}.transform'))
            for path in paths
        ]

    def message(self, stamp_ns: int, poses: Poses) -> Any:
        return transforms_to_ros(stamp_ns, self._frames, poses)

    def update(self, stamp_ns: int, poses: Poses) -> bytes:
        rows = poses.tolist() if isinstance(poses, np.ndarray) else poses
        if len(rows) != len(self._writers):
            raise WrongLength(len(self._writers), len(rows))
        sec, nanosec = divmod(stamp_ns, NANOSECONDS)
        for (write_stamp, write_pose), row in zip(self._writers, rows, strict=True):
            x, y, z, qx, qy, qz, qw = floats(row, 7)
            write_stamp(sec, nanosec)
            write_pose(x, y, z, *normalize((qx, qy, qz, qw)))
        return self._to_bytes()


_NOT_MEASURED = (math.nan, math.nan, math.nan)


def _six(first: Values | None, second: Values | None, sign: float) -> tuple[float, ...]:
    a, b, c = _NOT_MEASURED if first is None else floats(first, 3)
    d, e, f = _NOT_MEASURED if second is None else floats(second, 3)
    return sign * a, sign * b, sign * c, sign * d, sign * e, sign * f


def wrench_to_ros(
    stamp_ns: int, frame_id: str, force: Values | None, torque: Values | None
) -> WrenchStamped:
    """
    Return the wrench that the child side exerts on the parent, about the origin of the site.

    :param force: shape (3,), N in the frame of the site, as MuJoCo's sensor gives it.
    :param torque: shape (3,), N m likewise.
    """
    fx, fy, fz, tx, ty, tz = _six(force, torque, -1.0)
    return WrenchStamped(
        header=header_to_ros(stamp_ns, frame_id),
        wrench=Wrench(force=Vector3(x=fx, y=fy, z=fz), torque=Vector3(x=tx, y=ty, z=tz)),
    )


def twist_to_ros(
    stamp_ns: int, frame_id: str, linear: Values | None, angular: Values | None
) -> TwistStamped:
    """
    Return the velocity of a site in its own frame.

    :param linear: shape (3,), m/s, from a velocimeter.
    :param angular: shape (3,), rad/s, from a gyro at the same site.
    """
    vx, vy, vz, wx, wy, wz = _six(linear, angular, 1.0)
    return TwistStamped(
        header=header_to_ros(stamp_ns, frame_id),
        twist=Twist(linear=Vector3(x=vx, y=vy, z=vz), angular=Vector3(x=wx, y=wy, z=wz)),
    )


class WrenchStampedTemplate(RosMessageTemplate):
    """geometry_msgs/WrenchStamped."""

    def __init__(self, frame_id: str) -> None:
        self._frame_id = frame_id
        super().__init__(self.message(0, None, None))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._wrench = template.writer('wrench')

    def message(
        self, stamp_ns: int, force: Values | None, torque: Values | None = None
    ) -> WrenchStamped:
        return wrench_to_ros(stamp_ns, self._frame_id, force, torque)

    def update(self, stamp_ns: int, force: Values | None, torque: Values | None = None) -> bytes:
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._wrench(*_six(force, torque, -1.0))
        return self._to_bytes()


class TwistStampedTemplate(RosMessageTemplate):
    """geometry_msgs/TwistStamped."""

    def __init__(self, frame_id: str) -> None:
        self._frame_id = frame_id
        super().__init__(self.message(0, None, None))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._twist = template.writer('twist')

    def message(
        self, stamp_ns: int, linear: Values | None, angular: Values | None = None
    ) -> TwistStamped:
        return twist_to_ros(stamp_ns, self._frame_id, linear, angular)

    def update(self, stamp_ns: int, linear: Values | None, angular: Values | None = None) -> bytes:
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._twist(*_six(linear, angular, 1.0))
        return self._to_bytes()
