# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Inertial measurements (REP-145).

MuJoCo's accelerometer gives specific force, +g upwards at rest, as REP-145 requires.
"""

from __future__ import annotations

from sensor_msgs.msg import Imu
from sensor_msgs.msg import MagneticField
from std_msgs.msg import Header

from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.ros.messages.base import floats
from urlab_ros_bridge.ros.messages.base import NumbersTemplate
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.covariance import isotropic

TESLA_PER_GAUSS = 1e-4


class ImuTemplate(RosMessageTemplate):
    """sensor_msgs/Imu of one sensor."""

    def __init__(
        self,
        frame_id: str,
        orientation_stddev: float | None = 0.0,
        angular_velocity_stddev: float | None = 0.0,
        linear_acceleration_stddev: float | None = 0.0,
    ) -> None:
        """
        Fix what is reported.

        :param frame_id: frame of the sensor.
        :param orientation_stddev: rad, 0 when unknown; None: the field is not reported, and
            `update` ignores its argument.  The other two likewise.
        """
        super().__init__(
            Imu(
                header=Header(frame_id=frame_id),
                orientation_covariance=isotropic(orientation_stddev),
                angular_velocity_covariance=isotropic(angular_velocity_stddev),
                linear_acceleration_covariance=isotropic(linear_acceleration_stddev),
            )
        )
        writer = self._template.writer
        self._orientation = None if orientation_stddev is None else writer('orientation')
        self._vectors = (
            None if angular_velocity_stddev is None else writer('angular_velocity'),
            None if linear_acceleration_stddev is None else writer('linear_acceleration'),
        )

    def update(
        self,
        stamp_ns: int,
        orientation: Values | None,
        angular_velocity: Values | None,
        linear_acceleration: Values | None,
    ) -> bytes:
        """
        Return the serialised message.

        :param orientation: quaternion xyzw of the sensor frame in the world; it is normalised.
        :param angular_velocity: shape (3,), rad/s in the sensor frame.
        :param linear_acceleration: shape (3,), m/s^2 in the sensor frame, +g up at rest.
        """
        if self._orientation and orientation is not None:
            self._orientation(*normalize(floats(orientation, 4)))
        write_velocity, write_acceleration = self._vectors
        if write_velocity and angular_velocity is not None:
            write_velocity(*floats(angular_velocity, 3))
        if write_acceleration and linear_acceleration is not None:
            write_acceleration(*floats(linear_acceleration, 3))
        return self._stamped(stamp_ns)


def _tesla(gauss: Values) -> list[float]:
    return [TESLA_PER_GAUSS * number for number in floats(gauss, 3)]


class MagneticFieldTemplate(NumbersTemplate):
    """
    sensor_msgs/MagneticField of one sensor, in tesla.

    Update it with the field in gauss in the sensor frame, shape (3,), as MuJoCo gives it.
    """

    def __init__(self, frame_id: str, stddev: float = 0.0) -> None:
        """
        Fix the covariance.

        :param stddev: tesla; 0 when unknown.
        """
        sample = MagneticField(
            header=Header(frame_id=frame_id), magnetic_field_covariance=isotropic(stddev)
        )
        super().__init__(sample, 'magnetic_field', _tesla)
