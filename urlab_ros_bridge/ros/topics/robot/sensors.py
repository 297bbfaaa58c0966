# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The sensor topics of one robot: IMU, magnetometer, scans, wrenches and all the others."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.feed import join
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.feed import RateLimiter
from urlab_ros_bridge.ros.features.robot_topics import RobotTopics
from urlab_ros_bridge.ros.features.tick_state import RobotState
from urlab_ros_bridge.ros.messages import ConvertError
from urlab_ros_bridge.ros.messages import ImuTemplate
from urlab_ros_bridge.ros.messages import LaserScanTemplate
from urlab_ros_bridge.ros.messages import RosMessageTemplate
from urlab_ros_bridge.ros.messages import ScanGeometry
from urlab_ros_bridge.ros.messages import TwistStampedTemplate
from urlab_ros_bridge.ros.messages import WrenchStampedTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.geometry import PointStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import QuaternionStampedTemplate
from urlab_ros_bridge.ros.messages.geometry import Vector3StampedTemplate
from urlab_ros_bridge.ros.messages.imu import MagneticFieldTemplate
from urlab_ros_bridge.ros.messages.laser import RangeTemplate
from urlab_ros_bridge.ros.messages.urlab import SensorStampedTemplate
from urlab_ros_bridge.ros.parameters.checks import LARGEST_STDDEV
from urlab_ros_bridge.ros.parameters.checks import rate
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.plan.names import ros_name
from urlab_ros_bridge.ros.plan.names import ros_path
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import Scanner
from urlab_ros_bridge.ros.plan.sensor_table import MAGNETIC_FIELD
from urlab_ros_bridge.ros.plan.sensor_table import POINT
from urlab_ros_bridge.ros.plan.sensor_table import QUATERNION
from urlab_ros_bridge.ros.plan.sensor_table import RANGE
from urlab_ros_bridge.ros.plan.sensor_table import VECTOR3
from urlab_ros_bridge.ros.plan.sensors import PlannedSensor
from urlab_ros_bridge.ros.plan.sensors import SiteSensors
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.errors import UrlabError

_RATE = 'sensor_rate'


_STDDEV_TEXT = 'A negative value: as reported by the server for the robot, else 0 (unknown).'


@dataclass(frozen=True)
class SensorParameters:
    """How often sensors are published, and how sure they are."""

    sensor_rate: float = key(
        100.0,
        'Maximum rate of every other sensor topic (Hz of simulation time), 0: every tick.',
        low=0.0,
        check=rate,
        high=10000.0,
        live=True,
    )
    orientation_stddev: float = key(
        -1.0,
        "Standard deviation of an IMU's orientation (rad). " + _STDDEV_TEXT,
        high=LARGEST_STDDEV,
        name='covariance.orientation_stddev',
        group='Covariances',
    )
    angular_velocity_stddev: float = key(
        -1.0,
        "Standard deviation of an IMU's angular velocity (rad/s). " + _STDDEV_TEXT,
        high=LARGEST_STDDEV,
        name='covariance.angular_velocity_stddev',
        group='Covariances',
    )
    linear_acceleration_stddev: float = key(
        -1.0,
        "Standard deviation of an IMU's linear acceleration (m/s^2). " + _STDDEV_TEXT,
        high=LARGEST_STDDEV,
        name='covariance.linear_acceleration_stddev',
        group='Covariances',
    )
    magnetic_field_stddev: float = key(
        -1.0,
        'Standard deviation of a magnetometer (T). ' + _STDDEV_TEXT,
        high=LARGEST_STDDEV,
        name='covariance.magnetic_field_stddev',
        group='Covariances',
    )


def sensor_names(plan: RobotPlan) -> tuple[str, ...]:
    """Return the local names of all sensors of a robot, each once."""
    groups = plan.sensors
    names = [
        sensor.name
        for group in (*groups.imus, *groups.wrenches, *groups.twists)
        for sensor in group.sensors.values()
    ]
    names += [sensor.name for sensor in groups.singles]
    names += [scanner.lidar.name for scanner in plan.scanners]
    return tuple(dict.fromkeys(names))


def numbered(base: str, name: str, several: bool) -> str:
    """
    Put the name of an instrument into its topic when there are several of its kind.

    >>> numbered('imu/data', 'torso', True), numbered('scan', 'front', True)
    ('imu/torso/data', 'scan/front')
    """
    if not several:
        return base
    first, _, rest = base.partition('/')
    return '/'.join(part for part in (first, ros_name(name), rest) if part)


class SensorFeeds:
    """
    Makes the sensor topics of one robot.

    :ivar notes: what could not be published, and why.
    """

    def __init__(
        self, plan: RobotPlan, state: RobotState, publishers: Publishers, settings: Settings
    ) -> None:
        self.plan = plan
        self.state = state
        self.publishers = publishers
        self.settings = settings
        self.notes: list[str] = []
        self.feeds: list[Feed] = []

    def make(self) -> list[Feed]:
        """Return all of them; what has no message type here is noted and left out."""
        groups = self.plan.sensors
        magnetometers = [
            sensor for sensor in groups.singles if sensor.kind.message == MAGNETIC_FIELD
        ]
        for group in groups.imus:
            self.attempt(group.site, self.imu, group, len(groups.imus) > 1)
        for scanner in self.plan.scanners:
            self.attempt(scanner.lidar.name, self.scan, scanner, len(self.plan.scanners) > 1)
        for group in groups.wrenches:
            self.attempt(
                group.site,
                self.pair,
                group,
                ('force', 'torque'),
                WrenchStampedTemplate(group.frame_id),
            )
        for group in groups.twists:
            self.attempt(
                group.site,
                self.pair,
                group,
                ('velocimeter', 'gyro'),
                TwistStampedTemplate(group.frame_id),
            )
        for sensor in groups.singles:
            self.attempt(sensor.name, self.single, sensor, len(magnetometers) > 1)
        return self.feeds

    def attempt(self, name: str, make: Callable[..., None], *arguments: Any) -> None:
        """Make one topic; a problem of one sensor does not stop the others."""
        try:
            make(*arguments)
        except UrlabError as error:
            self.notes.append(f'{self.plan.prefix}: {name} is not published: {error}')

    def imu(self, group: SiteSensors, several: bool) -> None:
        """Merge gyro, accelerometer and orientation of one site."""
        kinds = ('framequat', 'gyro', 'accelerometer')
        sensors = [group.sensors.get(kind) for kind in kinds]
        names = ('orientation_stddev', 'angular_velocity_stddev', 'linear_acceleration_stddev')
        template = ImuTemplate(
            group.frame_id,
            *(
                None if sensor is None else self.stddev(name)
                for sensor, name in zip(sensors, names, strict=True)
            ),
        )
        read = self.state.sensor

        def build(stamp_ns: int) -> Any:
            values: list[Values | None] = []
            for sensor in sensors:
                if sensor is None:
                    values.append(None)
                    continue
                found = read(sensor.name)
                if found is None:
                    return None
                values.append(sensor.kind.reading(found))
            return template.update(stamp_ns, *values)

        self.add(
            numbered('imu/data', group.site, several),
            template,
            build,
            [sensor.name for sensor in sensors if sensor],
        )

    def pair(
        self, group: SiteSensors, kinds: tuple[str, str], template: RosMessageTemplate
    ) -> None:
        """Publish two vectors of one site; one of them may be missing."""
        sensors = [group.sensors.get(kind) for kind in kinds]
        present = [sensor for sensor in sensors if sensor is not None]
        read = self.state.sensor

        def build(stamp_ns: int) -> Any:
            values = [None if sensor is None else read(sensor.name) for sensor in sensors]
            if sum(value is not None for value in values) < len(present):
                return None
            return template.update(stamp_ns, *values)

        names = [sensor.name for sensor in present]
        self.add(ros_path(present[0].topic), template, build, names)

    def single(self, sensor: PlannedSensor, several_magnetometers: bool) -> None:
        """Publish a sensor that has a message of its own."""
        template = single_template(sensor, self.stddev('magnetic_field_stddev'))
        read, name, reading = self.state.sensor, sensor.name, sensor.kind.reading
        turned = sensor.kind.message == QUATERNION

        def build(stamp_ns: int) -> Any:
            values = read(name)
            if values is None:
                return None
            return template.update(stamp_ns, reading(values) if turned else values)

        topic = ros_path(sensor.topic)
        if sensor.kind.message == MAGNETIC_FIELD:
            topic = numbered(topic, sensor.site or sensor.name, several_magnetometers)
        self.add(topic, template, build, [sensor.name])

    def scan(self, scanner: Scanner, several: bool) -> None:
        """
        Publish a planar scanner.

        Its row comes only in ticks with a new scan.  A snapshot repeats the last scan in every
        tick: there it is published once, with the time at which it was made.
        """
        lidar = scanner.lidar
        geometry = ScanGeometry(
            lidar.angle_min,
            lidar.angle_max,
            lidar.rays,
            lidar.range_min,
            lidar.range_max,
            1.0 / lidar.rate if lidar.rate > 0 else 0.0,
        )
        template = LaserScanTemplate(scanner.frame, geometry)
        scans, state = Scans(lidar.rate), self.state

        def build(stamp_ns: int) -> Any:
            values = state.sensor(lidar.name)
            if values is None:
                return None
            made_ns: int | None
            if state.snapshot is None:
                made_ns = scans.row(stamp_ns)
            else:
                made_ns = scans.snapshot(stamp_ns, state.scan_stamp(lidar.name))
            return None if made_ns is None else template.update(made_ns, values)

        feed = self.add(numbered('scan', lidar.name, several), template, build, [lidar.name])
        feed.own_limiter = scans

    def stddev(self, name: str) -> float:
        """Return a standard deviation: the parameter, else what the server reported, else 0."""
        override = getattr(self.settings, name)
        reported: Mapping[str, Any] = self.plan.covariances
        return override if override >= 0 else float(reported.get(name) or 0.0)

    def add(
        self,
        name: str,
        template: RosMessageTemplate,
        build: Callable[[int], Any],
        sensors: list[str],
    ) -> Feed:
        """Make the feed of a topic."""
        topic = join(self.plan.namespace, name)
        if any(feed.topic == topic for feed in self.feeds):
            raise ConvertError(f'its topic {topic!r} is already in use')
        wire = [f'{self.plan.prefix}/sensor/{sensor}'.encode() for sensor in sensors]
        publisher = self.publishers.get(template.message_type, topic)
        feed = Feed(topic, publisher, build, wire=wire, rate_name=_RATE, each_instant=True)
        self.feeds.append(feed)
        return feed


class Scans:
    """
    Which scans are new.

    That of the present tick may be published again: for a new subscriber while time is frozen.
    """

    def __init__(self, rate: float) -> None:
        self._limiter = RateLimiter(rate)
        self._last: int | None = None

    def clear(self) -> None:
        """Forget the time before a jump."""
        self._limiter.clear()
        self._last = None

    def row(self, stamp_ns: int) -> int:
        """Take a row; return the time of its scan."""
        self._last = stamp_ns
        return stamp_ns

    def snapshot(self, stamp_ns: int, made_ns: int | None) -> int | None:
        """
        Take a snapshot; return the time of its scan when it is to be published.

        :param made_ns: None when the server does not report it; then the scanner's rate decides.
        """
        if made_ns is None:
            if not self._limiter.due(stamp_ns):
                return None
            self._limiter.count(stamp_ns)
            return stamp_ns
        if self._last is not None and made_ns <= self._last and made_ns != stamp_ns:
            return None
        self._last = made_ns
        return made_ns


def feeds(robot: RobotTopics) -> list[Feed]:
    """Make the topics of a robot's sensors."""
    sensors = SensorFeeds(robot.plan, robot.state, robot.publishers, robot.settings)
    made = sensors.make()
    robot.notes.extend(sensors.notes)
    return made


_IMU = ('sensor_msgs/msg/Imu',)
_MAG = ('sensor_msgs/msg/MagneticField',)
_SCAN = ('sensor_msgs/msg/LaserScan',)
_WRENCH = ('geometry_msgs/msg/WrenchStamped',)
_TWIST = ('geometry_msgs/msg/TwistStamped',)
_SINGLES = (
    'geometry_msgs/msg/PointStamped',
    'geometry_msgs/msg/Vector3Stamped',
    'geometry_msgs/msg/QuaternionStamped',
    'urlab_msgs/msg/SensorStamped',
)
TOPICS = tuple(
    Topic(name, types, 'sensor', when, _RATE)
    for name, types, when in (
        ('{robot}/imu/data', _IMU, 'one site with gyro or accelerometer'),
        ('{robot}/imu/{site}/data', _IMU, 'several such sites'),
        ('{robot}/imu/mag', _MAG, 'one magnetometer'),
        ('{robot}/imu/{site}/mag', _MAG, 'several magnetometers'),
        ('{robot}/scan', _SCAN, 'one planar scanner'),
        ('{robot}/scan/{scanner}', _SCAN, 'several scanners'),
        ('{robot}/{site}/wrench', _WRENCH, 'force or torque sensors'),
        ('{robot}/{site}/twist', _TWIST, 'velocimeters'),
        ('{robot}/{sensor}/range', ('sensor_msgs/msg/Range',), 'rangefinders'),
        ('{robot}/sensor/{sensor}', _SINGLES, 'all other sensors'),
    )
)
FEATURE = Feature(
    'sensors', SensorParameters, group='What is published', topics=TOPICS, feeds=feeds
)


def single_template(
    sensor: PlannedSensor, magnetic_field_stddev: float = 0.0
) -> RosMessageTemplate:
    """
    Make the template of a sensor that has a message of its own.

    Feed it with ``update(stamp_ns, sensor.kind.reading(values))``.

    :param magnetic_field_stddev: tesla, for magnetometers.
    :raises InterfaceMissing: without urlab_msgs, for a sensor without a standard message.
    """
    simple: dict[str, Callable[[str], RosMessageTemplate]] = {
        VECTOR3: Vector3StampedTemplate,
        POINT: PointStampedTemplate,
        QUATERNION: QuaternionStampedTemplate,
    }
    message = sensor.kind.message
    if message in simple:
        return simple[message](sensor.frame_id)
    if message == MAGNETIC_FIELD:
        return MagneticFieldTemplate(sensor.frame_id, magnetic_field_stddev)
    if message == RANGE:
        return RangeTemplate(sensor.frame_id, max_range=sensor.cutoff or math.inf)
    return SensorStampedTemplate(
        sensor.frame_id, sensor.name, sensor.kind.name, sensor.unit, sensor.dim
    )
