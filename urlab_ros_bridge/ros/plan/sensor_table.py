# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Which ROS message a MuJoCo sensor becomes: one table for code and documentation.

The keys are the names of mjtSensor without ``mjSENS_``, in lower case; the numbers of that
enumeration change between MuJoCo versions and are used nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.ros.messages.base import floats
from urlab_ros_bridge.ros.messages.base import Values

IMU = 'sensor_msgs/msg/Imu'
MAGNETIC_FIELD = 'sensor_msgs/msg/MagneticField'
RANGE = 'sensor_msgs/msg/Range'
WRENCH = 'geometry_msgs/msg/WrenchStamped'
TWIST = 'geometry_msgs/msg/TwistStamped'
VECTOR3 = 'geometry_msgs/msg/Vector3Stamped'
POINT = 'geometry_msgs/msg/PointStamped'
QUATERNION = 'geometry_msgs/msg/QuaternionStamped'
SENSOR = 'urlab_msgs/msg/SensorStamped'

# What the reading is expressed in.
AT_OBJECT = 'object'
AT_REFERENCE = 'reference'
AT_WORLD = 'world'
NO_FRAME = ''


@dataclass(frozen=True, slots=True)
class SensorKind:
    """
    How one type of sensor is published.

    :ivar name: as in MJCF, but geomdist, geomnormal, geomfromto (distance, normal, fromto there).
    :ivar dim: number of values; 0: it depends on the model.
    :ivar unit: SI unit on the wire; for `magnetometer` gauss, which the message has in tesla.
    :ivar unit_of_slide: unit when the joint is a slide.
    :ivar message: ROS type; sensors of one site share an Imu, a Wrench or a Twist.
    :ivar topic: below the robot's namespace; ``{site}`` and ``{name}`` are local names.
    :ivar frame: what the header's frame_id is: that of the object the sensor is attached to, that
        of its reference object, the world, or none.
    """

    name: str
    dim: int
    unit: str
    message: str = SENSOR
    topic: str = 'sensor/{name}'
    frame: str = NO_FRAME
    unit_of_slide: str = ''

    def reading(self, values: Values) -> Values:
        """
        Return the values in the order of ROS: quaternions turn from wxyz to xyzw.

        :raises WrongLength: for a quaternion that has not four values.
        """
        return wxyz_to_xyzw(floats(values, 4)) if self.message == QUATERNION else values


_KINDS = (
    SensorKind('touch', 1, 'N', frame=AT_OBJECT),
    SensorKind('accelerometer', 3, 'm/s^2', IMU, 'imu/data', AT_OBJECT),
    SensorKind('velocimeter', 3, 'm/s', TWIST, '{site}/twist', AT_OBJECT),
    SensorKind('gyro', 3, 'rad/s', IMU, 'imu/data', AT_OBJECT),
    SensorKind('force', 3, 'N', WRENCH, '{site}/wrench', AT_OBJECT),
    SensorKind('torque', 3, 'N m', WRENCH, '{site}/wrench', AT_OBJECT),
    SensorKind('magnetometer', 3, 'G', MAGNETIC_FIELD, 'imu/mag', AT_OBJECT),
    SensorKind('rangefinder', 1, 'm', RANGE, '{name}/range', AT_OBJECT),
    SensorKind('camprojection', 2, 'px', frame=AT_REFERENCE),
    SensorKind('jointpos', 1, 'rad', unit_of_slide='m'),
    SensorKind('jointvel', 1, 'rad/s', unit_of_slide='m/s'),
    SensorKind('tendonpos', 1, 'm'),
    SensorKind('tendonvel', 1, 'm/s'),
    SensorKind('actuatorpos', 1, 'rad', unit_of_slide='m'),
    SensorKind('actuatorvel', 1, 'rad/s', unit_of_slide='m/s'),
    SensorKind('actuatorfrc', 1, 'N m', unit_of_slide='N'),
    SensorKind('jointactfrc', 1, 'N m', unit_of_slide='N'),
    SensorKind('tendonactfrc', 1, 'N'),
    SensorKind('ballquat', 4, '1', QUATERNION, frame=AT_REFERENCE),
    SensorKind('ballangvel', 3, 'rad/s', VECTOR3, frame=AT_OBJECT),
    SensorKind('jointlimitpos', 1, 'rad', unit_of_slide='m'),
    SensorKind('jointlimitvel', 1, 'rad/s', unit_of_slide='m/s'),
    SensorKind('jointlimitfrc', 1, 'N m', unit_of_slide='N'),
    SensorKind('tendonlimitpos', 1, 'm'),
    SensorKind('tendonlimitvel', 1, 'm/s'),
    SensorKind('tendonlimitfrc', 1, 'N'),
    SensorKind('framepos', 3, 'm', POINT, frame=AT_REFERENCE),
    SensorKind('framequat', 4, '1', QUATERNION, frame=AT_REFERENCE),
    SensorKind('framexaxis', 3, '1', VECTOR3, frame=AT_REFERENCE),
    SensorKind('frameyaxis', 3, '1', VECTOR3, frame=AT_REFERENCE),
    SensorKind('framezaxis', 3, '1', VECTOR3, frame=AT_REFERENCE),
    SensorKind('framelinvel', 3, 'm/s', VECTOR3, frame=AT_REFERENCE),
    SensorKind('frameangvel', 3, 'rad/s', VECTOR3, frame=AT_REFERENCE),
    SensorKind('framelinacc', 3, 'm/s^2', VECTOR3, frame=AT_WORLD),
    SensorKind('frameangacc', 3, 'rad/s^2', VECTOR3, frame=AT_WORLD),
    SensorKind('subtreecom', 3, 'm', POINT, frame=AT_WORLD),
    SensorKind('subtreelinvel', 3, 'm/s', VECTOR3, frame=AT_WORLD),
    SensorKind('subtreeangmom', 3, 'kg m^2/s', VECTOR3, frame=AT_WORLD),
    SensorKind('insidesite', 1, '1'),
    SensorKind('geomdist', 1, 'm'),
    SensorKind('geomnormal', 3, '1', VECTOR3, frame=AT_WORLD),
    SensorKind('geomfromto', 6, 'm', frame=AT_WORLD),
    SensorKind('contact', 0, ''),
    SensorKind('e_potential', 1, 'J'),
    SensorKind('e_kinetic', 1, 'J'),
    SensorKind('clock', 1, 's'),
    SensorKind('tactile', 0, ''),
    SensorKind('plugin', 0, ''),
    SensorKind('user', 0, '', frame=AT_OBJECT),
)

SENSOR_KINDS: dict[str, SensorKind] = {kind.name: kind for kind in _KINDS}
# For a sensor type that this table does not know, or a server whose model cannot be read.
UNKNOWN_KIND = SensorKind('', 0, '')


def sensor_kind(name: str, dim: int) -> SensorKind:
    """
    Return how a sensor is published.

    A type that is unknown, or that has another dimension than its message (a rangefinder that
    also gives the normal), is published as plain numbers.

    :param name: key of `SENSOR_KINDS`.
    """
    kind = SENSOR_KINDS.get(name)
    if kind is None:
        return UNKNOWN_KIND if not name else SensorKind(name, dim, '')
    if kind.dim not in (0, dim):
        return SensorKind(name, dim, '', frame=kind.frame)
    return kind
