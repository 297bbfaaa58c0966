# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Joint states and odometry of a robot.

MuJoCo, and with it the wire, has the linear velocity of a free joint in the world frame and the
angular velocity in the body frame; nav_msgs/Odometry has both in the child frame.
"""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import PoseWithCovariance
from geometry_msgs.msg import TwistWithCovariance
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import rotate_inverse
from urlab_ros_bridge.geometry import yaw_quaternion
from urlab_ros_bridge.ros.messages.base import floats
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.covariance import pose_or_twist
from urlab_ros_bridge.ros.messages.errors import WrongLength

_COLUMNS = ('position', 'velocity', 'effort')


class JointStateTemplate(RosMessageTemplate):
    """sensor_msgs/JointState of a fixed set of joints."""

    def __init__(self, names: Sequence[str]) -> None:
        zeros = [0.0] * len(names)
        super().__init__(JointState(name=list(names), **dict.fromkeys(_COLUMNS, zeros)))
        self._count = len(names)
        self._columns = [self._template.array(name) for name in _COLUMNS]

    def update(self, stamp_ns: int, position: Values, velocity: Values, effort: Values) -> bytes:
        """
        Return the serialised message.

        :param position: shape (n,), rad or m.
        :param velocity: shape (n,), rad/s or m/s.
        :param effort: shape (n,), N m or N; NaN: not known.
        :raises WrongLength: when one of them has not one value for each joint.
        """
        for column, values in zip(self._columns, (position, velocity, effort), strict=True):
            # numpy would stretch an array of length one over all joints.
            if len(values) != self._count:
                raise WrongLength(self._count, len(values))
            column[...] = values
        return self._stamped(stamp_ns)


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


class OdometryTemplate(RosMessageTemplate):
    """nav_msgs/Odometry of one floating base."""

    def __init__(
        self,
        frame_id: str,
        child_frame_id: str,
        pose_stddev: Sequence[float] | None = None,
        twist_stddev: Sequence[float] | None = None,
    ) -> None:
        """
        Fix frames and covariances.

        :param frame_id: frame of the pose; its origin is that of the world.
        :param child_frame_id: frame of the base, and of the twist.
        :param pose_stddev: x, y, z (m), about x, y, z (rad); None: unknown.
        :param twist_stddev: the same of the velocities.
        """
        super().__init__(
            Odometry(
                header=Header(frame_id=frame_id),
                child_frame_id=child_frame_id,
                pose=PoseWithCovariance(covariance=pose_or_twist(pose_stddev)),
                twist=TwistWithCovariance(covariance=pose_or_twist(twist_stddev)),
            )
        )
        self._write_pose = self._template.writer('pose.pose')
        self._write_twist = self._template.writer('twist.twist')

    def update_planar(
        self,
        stamp_ns: int,
        pose: Sequence[float],
        twist: Sequence[float],
        pose_covariance: Sequence[float],
        twist_covariance: Sequence[float] | None,
    ) -> bytes:
        """
        Return the serialised message of a base that moves in the plane.

        :param pose: x, y, z (m) and yaw (rad).
        :param twist: forward, to the left (m/s), yaw rate (rad/s).
        :param pose_covariance: 36 numbers, as in the message.
        :param twist_covariance: the same; None: as it was fixed.
        """
        self._write_pose(*pose[:3], *yaw_quaternion(pose[3]))
        self._write_twist(*twist[:2], 0.0, 0.0, 0.0, twist[2])
        self._template.array('pose.covariance')[:] = pose_covariance
        if twist_covariance is not None:
            self._template.array('twist.covariance')[:] = twist_covariance
        return self._stamped(stamp_ns)

    def update(self, stamp_ns: int, base_state: Values) -> bytes:
        """
        Return the serialised message.

        :param base_state: see `odometry_values`.
        """
        values = odometry_values(base_state)
        self._write_pose(*values[:7])
        self._write_twist(*values[7:])
        return self._stamped(stamp_ns)
