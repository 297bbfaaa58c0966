# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Inertial measurements (REP-145).

MuJoCo's accelerometer gives specific force, +g upwards at rest, as the REP wants it.
"""

from __future__ import annotations

from geometry_msgs.msg import Quaternion
from geometry_msgs.msg import Vector3
from sensor_msgs.msg import Imu
from sensor_msgs.msg import MagneticField

from urlab_ros_bridge.geometry import IDENTITY
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.ros.messages.base import floats
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import isotropic
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.cdr import Template
from urlab_ros_bridge.wire.stamp import NANOSECONDS

TESLA_PER_GAUSS = 1e-4
_ZERO = (0.0, 0.0, 0.0)


def imu_to_ros(
    stamp_ns: int,
    frame_id: str,
    orientation: Values | None,
    angular_velocity: Values | None,
    linear_acceleration: Values | None,
    orientation_stddev: float = 0.0,
    angular_velocity_stddev: float = 0.0,
    linear_acceleration_stddev: float = 0.0,
) -> Imu:
    """
    Return a measurement; what is None is marked as not reported.

    :param frame_id: frame of the sensor.
    :param orientation: quaternion xyzw of the sensor frame in the world; it is normalised.
    :param angular_velocity: shape (3,), rad/s in the sensor frame.
    :param linear_acceleration: shape (3,), m/s^2 in the sensor frame, +g up at rest.
    :param orientation_stddev: rad; this and the others are 0 when unknown.
    """
    imu = Imu(header=header_to_ros(stamp_ns, frame_id))
    if orientation is not None:
        imu.orientation = _quaternion(orientation)
    if angular_velocity is not None:
        imu.angular_velocity = _vector(angular_velocity)
    if linear_acceleration is not None:
        imu.linear_acceleration = _vector(linear_acceleration)
    imu.orientation_covariance = isotropic(None if orientation is None else orientation_stddev)
    imu.angular_velocity_covariance = isotropic(
        None if angular_velocity is None else angular_velocity_stddev
    )
    imu.linear_acceleration_covariance = isotropic(
        None if linear_acceleration is None else linear_acceleration_stddev
    )
    return imu


def magnetic_field_to_ros(
    stamp_ns: int, frame_id: str, gauss: Values, stddev: float = 0.0
) -> MagneticField:
    """
    Return a magnetometer reading, in tesla.

    :param gauss: shape (3,), in the sensor frame, as MuJoCo gives it.
    :param stddev: tesla; 0 when unknown.
    """
    x, y, z = floats(gauss, 3)
    field = Vector3(x=x * TESLA_PER_GAUSS, y=y * TESLA_PER_GAUSS, z=z * TESLA_PER_GAUSS)
    return MagneticField(
        header=header_to_ros(stamp_ns, frame_id),
        magnetic_field=field,
        magnetic_field_covariance=isotropic(stddev),
    )


def _vector(values: Values) -> Vector3:
    x, y, z = floats(values, 3)
    return Vector3(x=float(x), y=float(y), z=float(z))


def _quaternion(values: Values) -> Quaternion:
    x, y, z, w = normalize(floats(values, 4))
    return Quaternion(x=x, y=y, z=z, w=w)


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

        :param orientation_stddev: rad, 0 when unknown; None: the field is not reported, and the
            argument of `update` is not looked at.  The other two likewise.
        """
        self._frame_id = frame_id
        self._stddevs = (orientation_stddev, angular_velocity_stddev, linear_acceleration_stddev)
        super().__init__(self.message(0, IDENTITY, _ZERO, _ZERO))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        writers = [
            template.writer(path)
            for path in ('orientation', 'angular_velocity', 'linear_acceleration')
        ]
        self._orientation, self._angular_velocity, self._linear_acceleration = (
            None if stddev is None else writer
            for writer, stddev in zip(writers, self._stddevs, strict=True)
        )

    def message(
        self,
        stamp_ns: int,
        orientation: Values | None,
        angular_velocity: Values | None,
        linear_acceleration: Values | None,
    ) -> Imu:
        of_orientation, of_velocity, of_acceleration = self._stddevs
        return imu_to_ros(
            stamp_ns,
            self._frame_id,
            None if of_orientation is None else orientation,
            None if of_velocity is None else angular_velocity,
            None if of_acceleration is None else linear_acceleration,
            of_orientation or 0.0,
            of_velocity or 0.0,
            of_acceleration or 0.0,
        )

    def update(
        self,
        stamp_ns: int,
        orientation: Values | None,
        angular_velocity: Values | None,
        linear_acceleration: Values | None,
    ) -> bytes:
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        if self._orientation and orientation is not None:
            self._orientation(*normalize(floats(orientation, 4)))
        if self._angular_velocity and angular_velocity is not None:
            self._angular_velocity(*floats(angular_velocity, 3))
        if self._linear_acceleration and linear_acceleration is not None:
            self._linear_acceleration(*floats(linear_acceleration, 3))
        return self._to_bytes()


class MagneticFieldTemplate(RosMessageTemplate):
    """sensor_msgs/MagneticField of one sensor."""

    def __init__(self, frame_id: str, stddev: float = 0.0) -> None:
        self._frame_id = frame_id
        self._stddev = stddev
        super().__init__(self.message(0, _ZERO))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._field = template.writer('magnetic_field')

    def message(self, stamp_ns: int, gauss: Values) -> MagneticField:
        return magnetic_field_to_ros(stamp_ns, self._frame_id, gauss, self._stddev)

    def update(self, stamp_ns: int, gauss: Values) -> bytes:
        x, y, z = floats(gauss, 3)
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._field(x * TESLA_PER_GAUSS, y * TESLA_PER_GAUSS, z * TESLA_PER_GAUSS)
        return self._to_bytes()
