# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Which ROS message a MuJoCo sensor becomes: two tables for code and documentation.

A type of sensor is one row of `SENSOR_KINDS`; a message that no type has yet is one of `MESSAGES`.

The keys are the names of mjtSensor without ``mjSENS_``, in lower case; the numbers of that
enumeration change between MuJoCo versions and are used nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import Any

from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.ros.messages.base import floats
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.geometry import PointStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import QuaternionStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import TwistStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import Vector3StampedTemplate
from urlab_ros_bridge.ros.messages.geometry import WrenchStampedTemplate
from urlab_ros_bridge.ros.messages.imu import ImuTemplate
from urlab_ros_bridge.ros.messages.imu import MagneticFieldTemplate
from urlab_ros_bridge.ros.messages.lidar import RangeTemplate
from urlab_ros_bridge.ros.messages.sensor_stamped import SensorStampedTemplate

# Returns the template of a message: for its frame, its sensors in order (None for one that the
# model lacks), and a standard deviation for each name in `stddevs`.
MakeTemplate = Callable[[str, list[Any], list[float]], RosMessageTemplate]


@dataclass(frozen=True)
class SensorMessage:
    """
    A ROS message that is made from one sensor, or from several of one site.

    :ivar type_name: its ROS type.
    :ivar topic: below the robot's namespace; ``{site}`` and ``{sensor}`` are local names.
    :ivar when: which robots have the topic.
    :ivar template: makes its template.
    :ivar parts: kinds of the sensors of one site, in the order of the template; none: any one.
    :ivar stddevs: parameters of standard deviations.
    :ivar alone: topic of a robot that makes one such message only; empty: the same.
    :ivar when_alone: which robots have that one.
    :ivar can_be_set: whether the server may set topic and rate, under the name of the site.
    """

    type_name: str
    topic: str
    when: str
    template: MakeTemplate
    parts: tuple[str, ...] = ()
    stddevs: tuple[str, ...] = ()
    alone: str = ''
    when_alone: str = ''
    can_be_set: bool = True

    @property
    def is_of_site(self) -> bool:
        """Whether its topic has the name of a site."""
        return '{site}' in self.topic


def _imu(frame: str, sensors: list[Any], stddevs: list[float]) -> RosMessageTemplate:
    known = (None if each is None else value for each, value in zip(sensors, stddevs, strict=True))
    return ImuTemplate(frame, *known)


def _range(frame: str, sensors: list[Any], stddevs: list[float]) -> RosMessageTemplate:
    return RangeTemplate(frame, max_range=sensors[0].cutoff or math.inf)


def _numbers(frame: str, sensors: list[Any], stddevs: list[float]) -> RosMessageTemplate:
    (sensor,) = sensors
    return SensorStampedTemplate(frame, sensor.name, sensor.kind.name, sensor.unit, sensor.dim)


IMU = SensorMessage(
    'sensor_msgs/msg/Imu',
    'imu/{site}/data',
    'several such sites',
    _imu,
    parts=('framequat', 'gyro', 'accelerometer'),
    stddevs=('orientation_stddev', 'angular_velocity_stddev', 'linear_acceleration_stddev'),
    alone='imu/data',
    when_alone='one site with gyro or accelerometer',
)
MAGNETIC_FIELD = SensorMessage(
    'sensor_msgs/msg/MagneticField',
    'imu/{site}/mag',
    'several magnetometers',
    lambda frame, sensors, stddevs: MagneticFieldTemplate(frame, *stddevs),
    stddevs=('magnetic_field_stddev',),
    alone='imu/mag',
    when_alone='one magnetometer',
)
WRENCH = SensorMessage(
    'geometry_msgs/msg/WrenchStamped',
    '{site}/wrench',
    'force or torque sensors',
    lambda frame, sensors, stddevs: WrenchStampedTemplate(frame),
    parts=('force', 'torque'),
)
TWIST = SensorMessage(
    'geometry_msgs/msg/TwistStamped',
    '{site}/twist',
    'velocimeters',
    lambda frame, sensors, stddevs: TwistStampedTemplate(frame),
    parts=('velocimeter', 'gyro'),
    can_be_set=False,  # the name of the site is for its IMU
)
RANGE = SensorMessage('sensor_msgs/msg/Range', '{sensor}/range', 'rangefinders', _range)


def _other(type_name: str, template: MakeTemplate) -> SensorMessage:
    return SensorMessage(type_name, 'sensor/{sensor}', 'all other sensors', template)


POINT = _other(
    'geometry_msgs/msg/PointStamped', lambda frame, sensors, stddevs: PointStampedTemplate(frame)
)
VECTOR3 = _other(
    'geometry_msgs/msg/Vector3Stamped',
    lambda frame, sensors, stddevs: Vector3StampedTemplate(frame),
)
QUATERNION = _other(
    'geometry_msgs/msg/QuaternionStamped',
    lambda frame, sensors, stddevs: QuaternionStampedTemplate(frame),
)
SENSOR = _other('urlab_msgs/msg/SensorStamped', _numbers)
# In the order of their topics.
MESSAGES = (IMU, MAGNETIC_FIELD, WRENCH, TWIST, RANGE, POINT, VECTOR3, QUATERNION, SENSOR)

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
    :ivar message: what it becomes, or is a part of.
    :ivar frame: what the header's frame_id is: that of the object the sensor is attached to, that
        of its reference object, the world, or none.
    """

    name: str
    dim: int
    unit: str
    message: SensorMessage = SENSOR
    frame: str = NO_FRAME
    unit_of_slide: str = ''

    def reading(self, values: Values) -> Values:
        """
        Return the values in the order of ROS: quaternions turn from wxyz to xyzw.

        :raises WrongLength: for a quaternion that has not four values.
        """
        return wxyz_to_xyzw(floats(values, 4)) if self.message is QUATERNION else values


_KINDS = (
    SensorKind('touch', 1, 'N', frame=AT_OBJECT),
    SensorKind('accelerometer', 3, 'm/s^2', IMU, AT_OBJECT),
    SensorKind('velocimeter', 3, 'm/s', TWIST, AT_OBJECT),
    SensorKind('gyro', 3, 'rad/s', IMU, AT_OBJECT),
    SensorKind('force', 3, 'N', WRENCH, AT_OBJECT),
    SensorKind('torque', 3, 'N m', WRENCH, AT_OBJECT),
    SensorKind('magnetometer', 3, 'G', MAGNETIC_FIELD, AT_OBJECT),
    SensorKind('rangefinder', 1, 'm', RANGE, AT_OBJECT),
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
