# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Poses, transforms, vectors, wrenches and twists of geometry_msgs and tf2_msgs."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from functools import partial
import math
from typing import Any

from geometry_msgs.msg import Point
from geometry_msgs.msg import PointStamped
from geometry_msgs.msg import Pose
from geometry_msgs.msg import PoseStamped
from geometry_msgs.msg import PoseWithCovarianceStamped
from geometry_msgs.msg import Quaternion
from geometry_msgs.msg import QuaternionStamped
from geometry_msgs.msg import Transform
from geometry_msgs.msg import TransformStamped
from geometry_msgs.msg import TwistStamped
from geometry_msgs.msg import Vector3
from geometry_msgs.msg import Vector3Stamped
from geometry_msgs.msg import WrenchStamped
import numpy as np
from std_msgs.msg import Header

from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.ros.messages.base import floats
from urlab_ros_bridge.ros.messages.base import NumbersTemplate
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.errors import WrongLength
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.rclpy_tools.compat import TF_MESSAGE
from urlab_ros_bridge.wire.stamp import NANOSECONDS

_NOT_MEASURED = (math.nan, math.nan, math.nan)


def pose_to_ros(position: Values, orientation: Values) -> Pose:
    """
    Return a pose.

    :param position: shape (3,), m.
    :param orientation: shape (4,), quaternion xyzw; it is normalised.
    """
    x, y, z, qx, qy, qz, qw = map(float, _pose(position, orientation))
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


def initial_pose_to_ros(
    header: Header, position: Values, orientation: Values, variances: Sequence[float]
) -> PoseWithCovarianceStamped:
    """
    Return a pose for a localisation; position and orientation as in `pose_to_ros`.

    :param variances: of x, y, z (m^2), roll, pitch, yaw (rad^2).
    """
    message = PoseWithCovarianceStamped(header=header)
    message.pose.pose = pose_to_ros(position, orientation)
    message.pose.covariance[:: 6 + 1] = variances
    return message


def static_transforms_to_ros(transforms: Sequence[tuple[str, str, Values, Values]]) -> Any:
    """
    Return a tf2_msgs/TFMessage for /tf_static.

    :param transforms: parent, child, position (m), quaternion xyzw of each.
    :raises InterfaceMissing: without tf2_msgs.
    """
    message = _frames_to_ros((parent, child) for parent, child, _, _ in transforms)
    for made, (_, _, position, orientation) in zip(message.transforms, transforms, strict=True):
        x, y, z, qx, qy, qz, qw = map(float, _pose(position, orientation))
        made.transform = Transform(
            translation=Vector3(x=x, y=y, z=z), rotation=Quaternion(x=qx, y=qy, z=qz, w=qw)
        )
    return message


def _frames_to_ros(frames: Iterable[tuple[str, str]]) -> Any:
    return load_interface(TF_MESSAGE)(
        transforms=[
            TransformStamped(header=Header(frame_id=parent), child_frame_id=child)
            for parent, child in frames
        ]
    )


def _pose(position: Values, orientation: Values) -> tuple[float, ...]:
    return (*floats(position, 3), *normalize(floats(orientation, 4)))


def _three(values: Values) -> Sequence[float]:
    return floats(values, 3)


def _six(sign: float, first: Values | None, second: Values | None = None) -> list[float]:
    both = (_NOT_MEASURED if part is None else floats(part, 3) for part in (first, second))
    return [sign * number for part in both for number in part]


class PoseStampedTemplate(NumbersTemplate):
    """
    geometry_msgs/PoseStamped.

    Update it with a position, shape (3,), in m, and a quaternion xyzw, which is normalised.
    """

    def __init__(self, frame_id: str) -> None:
        super().__init__(PoseStamped(header=Header(frame_id=frame_id)), 'pose', _pose)


class Vector3StampedTemplate(NumbersTemplate):
    """geometry_msgs/Vector3Stamped.  Update it with a vector, shape (3,)."""

    def __init__(self, frame_id: str) -> None:
        super().__init__(Vector3Stamped(header=Header(frame_id=frame_id)), 'vector', _three)


class PointStampedTemplate(NumbersTemplate):
    """geometry_msgs/PointStamped.  Update it with a point, shape (3,), in m."""

    def __init__(self, frame_id: str) -> None:
        super().__init__(PointStamped(header=Header(frame_id=frame_id)), 'point', _three)


class QuaternionStampedTemplate(NumbersTemplate):
    """geometry_msgs/QuaternionStamped.  Update it with a quaternion xyzw, which is normalised."""

    def __init__(self, frame_id: str) -> None:
        super().__init__(
            QuaternionStamped(header=Header(frame_id=frame_id)),
            'quaternion',
            lambda values: normalize(floats(values, 4)),
        )


class WrenchStampedTemplate(NumbersTemplate):
    """
    geometry_msgs/WrenchStamped: what the child side exerts on the parent, about the site's origin.

    Update it with force (N) and torque (N m) in the frame of the site, as MuJoCo's sensors give
    them; None: not measured.
    """

    def __init__(self, frame_id: str) -> None:
        sample = WrenchStamped(header=Header(frame_id=frame_id))
        super().__init__(sample, 'wrench', partial(_six, -1.0))


class TwistStampedTemplate(NumbersTemplate):
    """
    geometry_msgs/TwistStamped: the velocity of a site in its own frame.

    Update it with linear (m/s) and angular velocity (rad/s); None: not measured.
    """

    def __init__(self, frame_id: str) -> None:
        sample = TwistStamped(header=Header(frame_id=frame_id))
        super().__init__(sample, 'twist', partial(_six, 1.0))


class PosesTemplate(RosMessageTemplate):
    """A message of a fixed number of stamped poses, which are written as one table."""

    def __init__(self, sample: Any, members: Sequence[str], pose: str) -> None:
        """
        Serialise a sample.

        :param members: paths of the parts with a header and a pose.
        :param pose: path of the pose in each of them.
        """
        super().__init__(sample, stamp='')
        table = self._template.table
        self._count = len(members)
        self._write_sec = table([f'{path}.header.stamp.sec' for path in members], 'i4', 1)
        self._write_nanosec = table([f'{path}.header.stamp.nanosec' for path in members], 'u4', 1)
        self._write_poses = table([f'{path}.{pose}' for path in members], 'f8', 7)

    def update(self, stamp_ns: int, poses: np.ndarray | Sequence[Values]) -> bytes:
        """
        Return the serialised message.

        :param poses: position (m) and quaternion xyzw of length one, shape (n, 7).
        :raises WrongLength: when there are not n rows of 7.
        """
        rows = np.asarray(poses, np.float64)
        if rows.shape != (self._count, 7):
            raise WrongLength(7 * self._count, rows.size)
        sec, nanosec = divmod(stamp_ns, NANOSECONDS)
        self._write_sec(sec)
        self._write_nanosec(nanosec)
        self._write_poses(rows)
        return self._to_bytes()


class TFTemplate(PosesTemplate):
    """tf2_msgs/TFMessage of a fixed set of frames."""

    def __init__(self, frames: Sequence[tuple[str, str]]) -> None:
        """
        Fix the frames.

        :param frames: pairs of parent and child.
        :raises InterfaceMissing: without tf2_msgs.
        """
        members = [f'transforms[{index}]' for index in range(len(frames))]
        super().__init__(_frames_to_ros(frames), members, 'transform')
