# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The sensor topics of one robot: IMU, magnetometer, scans, points, wrenches and all others."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import Any

from urlab_ros_bridge.client.replies.handshake import Lidar
from urlab_ros_bridge.client.replies.handshake import PointLidar
from urlab_ros_bridge.client.replies.handshake import SensorTopic
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Clearable
from urlab_ros_bridge.ros.features.feed import RateLimiter
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.base import Values
from urlab_ros_bridge.ros.messages.errors import ConvertError
from urlab_ros_bridge.ros.messages.lidar import LaserScanTemplate
from urlab_ros_bridge.ros.messages.lidar import LidarPointsTemplate
from urlab_ros_bridge.ros.messages.lidar import ScanGeometry
from urlab_ros_bridge.ros.parameters.checks import rate_key
from urlab_ros_bridge.ros.parameters.checks import stddev_key
from urlab_ros_bridge.ros.plan.names import ros_name
from urlab_ros_bridge.ros.plan.names import ros_path
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import Scanner
from urlab_ros_bridge.ros.plan.sensor_table import MESSAGES
from urlab_ros_bridge.ros.plan.sensors import SensorGroup
from urlab_ros_bridge.wire.errors import UrlabError


def _row(name: str, when: str, *types: str) -> Topic:
    return Topic(
        f'{{robot}}/{name}', types, 'sensor', when=when, rate='sensor_rate', each_instant=True
    )


_SCAN_TYPE, _POINTS_TYPE = 'sensor_msgs/msg/LaserScan', 'sensor_msgs/msg/PointCloud2'
SCAN = _row('scan', 'one planar scanner', _SCAN_TYPE)
SCAN_OF_SCANNER = _row('scan/{scanner}', 'several scanners', _SCAN_TYPE)
POINTS = _row('points', 'one 3-D lidar', _POINTS_TYPE)
POINTS_OF_LIDAR = _row('points/{lidar}', 'several 3-D lidars', _POINTS_TYPE)


def _topics_of_messages() -> dict[str, Topic]:
    """Return the topics of the table, by their names there; some may have several types."""
    types: dict[str, list[str]] = {}
    when: dict[str, str] = {}
    for message in MESSAGES:
        for name, worlds in ((message.alone, message.when_alone), (message.topic, message.when)):
            if name:
                types.setdefault(name, []).append(message.type_name)
                when[name] = worlds
    return {name: _row(name, when[name], *types[name]) for name in types}


MESSAGE_TOPICS = _topics_of_messages()
TOPICS = (*MESSAGE_TOPICS.values(), SCAN, SCAN_OF_SCANNER, POINTS, POINTS_OF_LIDAR)


@dataclass(frozen=True)
class SensorParameters:
    """Rate and standard deviations of sensors."""

    sensor_rate: float = rate_key(100.0, 'every other sensor topic')
    orientation_stddev: float = stddev_key(
        -1.0, 'orientation_stddev', "Standard deviation of an IMU's orientation (rad)."
    )
    angular_velocity_stddev: float = stddev_key(
        -1.0,
        'angular_velocity_stddev',
        "Standard deviation of an IMU's angular velocity (rad/s).",
    )
    linear_acceleration_stddev: float = stddev_key(
        -1.0,
        'linear_acceleration_stddev',
        "Standard deviation of an IMU's linear acceleration (m/s^2).",
    )
    magnetic_field_stddev: float = stddev_key(
        -1.0, 'magnetic_field_stddev', 'Standard deviation of a magnetometer (T).'
    )


class SensorFeeds:
    """Makes the sensor topics of one robot."""

    def __init__(self, robot: RobotTopics) -> None:
        self._robot = robot
        self._topics: set[str] = set()

    def make(self) -> None:
        """Make all of them; what has no message type here is noted and left out."""
        plan = self._robot.plan
        for message in MESSAGES:
            groups = [group for group in plan.sensors if group.message is message]
            for group in groups:
                self.attempt(group.name, self.group, group, len(groups) > 1)
        for scanner in plan.scanners:
            self.attempt(scanner.lidar.name, self.scan, scanner, len(plan.scanners) > 1)
        for lidar in plan.point_scanners:
            self.attempt(lidar.lidar.name, self.points, lidar, len(plan.point_scanners) > 1)

    def attempt(self, name: str, make: Callable[..., None], *arguments: Any) -> None:
        """Make one topic; a problem of one sensor does not stop the others."""
        try:
            make(*arguments)
        except UrlabError as error:
            prefix = self._robot.plan.prefix
            self._robot.notes.append(f'{prefix}: {name} is not published: {error}')

    def group(self, group: SensorGroup, several: bool) -> None:
        """
        Publish the readings of a group in one message.

        :param several: whether the robot has several such messages.
        """
        message, sensors, read = group.message, group.in_order, self._robot.state.sensor
        template = template_of(group, [self.stddev(name) for name in message.stddevs])

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

        topic = MESSAGE_TOPICS[message.topic if several else message.alone or message.topic]
        # Below imu/, names are one level deep.
        name = ros_name(group.name) if message.alone else ros_path(group.name)
        parts = {'site': name, 'sensor': name}
        wire = [each.name for each in sensors if each]
        self.add(topic, template, build, wire, parts, name=group.name * message.can_be_set)

    def scan(self, scanner: Scanner[Lidar], several: bool) -> None:
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
        scans, state = Scans(lidar.rate), self._robot.state

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

        topic = SCAN_OF_SCANNER if several else SCAN
        parts = {'scanner': ros_name(lidar.name)}
        self.add(topic, template, build, [lidar.name], parts, scans, lidar.name)

    def points(self, scanner: Scanner[PointLidar], several: bool) -> None:
        """Publish a 3-D lidar; the server casts its rays only for subscribers."""
        robot, name = self._robot, scanner.lidar.name
        template, state = LidarPointsTemplate(scanner.frame, scanner.lidar), robot.state

        def build(stamp_ns: int) -> Any:
            row = state.points(name)
            return None if row is None else template.update(stamp_ns, *row)

        topic, rate = as_set(robot.plan, name, POINTS_OF_LIDAR if several else POINTS)
        wire, parts = state.points_row(name), {'lidar': ros_name(name)}
        robot.feed(topic, build, wire=wire, parts=parts, rate=rate)

    def stddev(self, name: str) -> float:
        """Return a standard deviation: the parameter, else what the server reported, else 0."""
        override = getattr(self._robot.settings(SensorParameters), name)
        reported: Mapping[str, Any] = self._robot.plan.covariances
        return override if override >= 0 else float(reported.get(name) or 0.0)

    def add(
        self,
        topic: Topic,
        template: RosMessageTemplate,
        build: Callable[[int], Any],
        sensors: list[str],
        parts: Mapping[str, str],
        memory: Clearable | None = None,
        name: str = '',
    ) -> None:
        """Make the feed of a topic."""
        robot = self._robot
        topic, rate = as_set(robot.plan, name, topic)
        full_name = topic.named(robot.namespace, parts)
        if full_name in self._topics:
            raise ConvertError(f'its topic {full_name!r} is already in use')
        self._topics.add(full_name)
        robot.feed(
            topic,
            build,
            wire=[f'{robot.plan.prefix}/sensor/{sensor}'.encode() for sensor in sensors],
            message_type=template.message_type,
            memory=memory,
            parts=parts,
            rate=rate,
        )


def as_set(plan: RobotPlan, name: str, topic: Topic) -> tuple[Topic, float]:
    """Return topic and limit (Hz, 0: as the parameter) of a sensor, where the server sets them."""
    chosen = plan.sensor_topics.get(name, SensorTopic())
    if chosen.topic:
        topic = replace(topic, name=f'{{robot}}/{chosen.topic}')
    return topic, chosen.rate


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


def template_of(group: SensorGroup, stddevs: Sequence[float]) -> RosMessageTemplate:
    """
    Make the template of a group.

    Feed it with ``update(stamp_ns, *readings)``, each ``sensor.kind.reading(values)`` or None.

    :param stddevs: one for each name in `SensorMessage.stddevs`.
    :raises InterfaceMissing: without urlab_msgs, for a sensor without a standard message.
    """
    return group.message.template(group.frame_id, group.in_order, list(stddevs))


def feeds(robot: RobotTopics) -> None:
    """Make the topics of a robot's sensors."""
    SensorFeeds(robot).make()


FEATURE = Feature(
    'sensors', SensorParameters, group='What is published', topics=TOPICS, feeds=feeds
)
