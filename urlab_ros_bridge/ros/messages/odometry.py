# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Odometry from a free joint.

MuJoCo, and with it the wire, has the linear velocity in the world frame and the angular velocity
in the body frame; nav_msgs/Odometry has both in the child frame.
"""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import Point
from geometry_msgs.msg import Quaternion
from geometry_msgs.msg import Vector3
from nav_msgs.msg import Odometry

from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import rotate_inverse
from urlab_ros_bridge.ros.messages.base import floats
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import pose_or_twist
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.cdr import Template
from urlab_ros_bridge.wire.stamp import NANOSECONDS

_AT_REST = (0.0,) * 6 + (1.0,) + (0.0,) * 6


def odometry_values(base_state: Values) -> tuple[float, ...]:
    """
    Turn the 13 numbers of a base_state row into those of an Odometry.

    :param base_state: position (m), quaternion xyzw, linear velocity (m/s, world frame), angular
        velocity (rad/s, body frame); the origin is that of the body, not its centre of mass.
    :return: position, unit quaternion xyzw, linear and angular velocity, both in the body frame.
    :raises WrongLength: when they are not 13.
    """
    x, y, z, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz = floats(base_state, 13)
    quaternion = normalize((qx, qy, qz, qw))
    return (x, y, z, *quaternion, *rotate_inverse(quaternion, (vx, vy, vz)), wx, wy, wz)


def odometry_to_ros(
    stamp_ns: int,
    frame_id: str,
    child_frame_id: str,
    base_state: Values,
    pose_stddev: Sequence[float] | None = None,
    twist_stddev: Sequence[float] | None = None,
) -> Odometry:
    """
    Return the odometry of a floating base.

    :param frame_id: frame of the pose; its origin is that of the world.
    :param child_frame_id: frame of the base, and of the twist.
    :param base_state: see `odometry_values`.
    :param pose_stddev: x, y, z (m), about x, y, z (rad); None: unknown.
    :param twist_stddev: the same of the velocities.
    """
    values = [float(value) for value in odometry_values(base_state)]
    odometry = Odometry(header=header_to_ros(stamp_ns, frame_id), child_frame_id=child_frame_id)
    pose, twist = odometry.pose, odometry.twist
    pose.pose.position = Point(x=values[0], y=values[1], z=values[2])
    pose.pose.orientation = Quaternion(x=values[3], y=values[4], z=values[5], w=values[6])
    twist.twist.linear = Vector3(x=values[7], y=values[8], z=values[9])
    twist.twist.angular = Vector3(x=values[10], y=values[11], z=values[12])
    pose.covariance = pose_or_twist(pose_stddev)
    twist.covariance = pose_or_twist(twist_stddev)
    return odometry


class OdometryTemplate(RosMessageTemplate):
    """nav_msgs/Odometry of one base."""

    def __init__(
        self,
        frame_id: str,
        child_frame_id: str,
        pose_stddev: Sequence[float] | None = None,
        twist_stddev: Sequence[float] | None = None,
    ) -> None:
        self._static = (frame_id, child_frame_id)
        self._stddevs = (pose_stddev, twist_stddev)
        super().__init__(self.message(0, _AT_REST))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._pose = template.writer('pose.pose')
        self._twist = template.writer('twist.twist')

    def message(self, stamp_ns: int, base_state: Values) -> Odometry:
        return odometry_to_ros(stamp_ns, *self._static, base_state, *self._stddevs)

    def update(self, stamp_ns: int, base_state: Values) -> bytes:
        values = odometry_values(base_state)
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._pose(*values[:7])
        self._twist(*values[7:])
        return self._to_bytes()
