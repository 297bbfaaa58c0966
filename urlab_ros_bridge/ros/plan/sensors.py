# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The sensors of one robot, and which of them share a message."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.model import Sensor
from urlab_ros_bridge.model.elements import SLIDE
from urlab_ros_bridge.ros.plan.frame_tree import FrameTree
from urlab_ros_bridge.ros.plan.sensor_table import AT_OBJECT
from urlab_ros_bridge.ros.plan.sensor_table import AT_WORLD
from urlab_ros_bridge.ros.plan.sensor_table import IMU
from urlab_ros_bridge.ros.plan.sensor_table import NO_FRAME
from urlab_ros_bridge.ros.plan.sensor_table import RANGE
from urlab_ros_bridge.ros.plan.sensor_table import sensor_kind
from urlab_ros_bridge.ros.plan.sensor_table import SensorKind
from urlab_ros_bridge.ros.plan.sensor_table import SensorMessage
from urlab_ros_bridge.ros.plan.sensor_table import TWIST


@dataclass(frozen=True, slots=True)
class PlannedSensor:
    """
    One sensor of the model.

    :ivar name: local name, as in the row's topic.
    :ivar kind: row of the table.
    :ivar dim: number of values.
    :ivar unit: SI unit, with the kind of the joint looked up; empty when not known.
    :ivar frame_id: frame of the reading; empty when it has none.
    :ivar site: local name of the site it is attached to, else empty.
    :ivar plain: whether a frame sensor has no reference object, so that it is in the world frame.
    :ivar cutoff: limit of the reading, 0 when there is none.
    """

    name: str
    kind: SensorKind
    dim: int
    unit: str
    frame_id: str
    site: str = ''
    plain: bool = True
    cutoff: float = 0.0


@dataclass(slots=True)
class SensorGroup:
    """
    The sensors that make one message: any one, or several of one site.

    :ivar site: local name of their site, empty for none.
    :ivar sensors: by the name of their kind.
    """

    message: SensorMessage
    site: str
    frame_id: str
    sensors: dict[str, PlannedSensor]

    @property
    def name(self) -> str:
        """The local name of the site, where the topic has it, else of the first sensor."""
        first = next(iter(self.sensors.values()))
        return self.site if self.site and self.message.is_of_site else first.name

    @property
    def in_order(self) -> list[PlannedSensor | None]:
        """The sensors in the order of the template; None for one that the site lacks."""
        parts = self.message.parts or tuple(self.sensors)
        return [self.sensors.get(part) for part in parts]


def describe_sensors(
    robot: RobotModel,
    tree: FrameTree,
    world_frame: str = 'map',
    leave_out: Container[str] = (),
) -> list[PlannedSensor]:
    """
    List the sensors of a robot, in order of their id.

    :param world_frame: frame of readings in world coordinates.
    :param leave_out: local names, e.g. those of the planar scanners.
    """
    frames = _Frames(robot, tree, world_frame)
    return [
        _describe(frames, sensor)
        for name, sensor in robot.sensors.items()
        if name not in leave_out
    ]


def group_sensors(sensors: list[PlannedSensor]) -> list[SensorGroup]:
    """Put together what shares a message: same site, and at most one of each kind."""
    groups: list[SensorGroup] = []
    for sensor in sensors:
        if sensor.kind.message.parts:
            _add_to_site(groups, sensor)
    imus = {group.site: group for group in groups if group.message is IMU}
    for group in groups:
        # A gyro is also a part of the twist of its site.
        if group.message is TWIST and group.site in imus and 'gyro' in imus[group.site].sensors:
            group.sensors['gyro'] = imus[group.site].sensors['gyro']
    for sensor in sensors:
        if sensor.kind.message.parts:
            continue
        imu = imus.get(sensor.site)
        is_orientation = sensor.kind.name == 'framequat' and sensor.plain
        if imu and is_orientation and 'framequat' not in imu.sensors:
            imu.sensors['framequat'] = sensor
        else:
            groups.append(_group_of(sensor))
    return groups


def _group_of(sensor: PlannedSensor) -> SensorGroup:
    return SensorGroup(
        sensor.kind.message, sensor.site, sensor.frame_id, {sensor.kind.name: sensor}
    )


def _add_to_site(groups: list[SensorGroup], sensor: PlannedSensor) -> None:
    for group in groups:
        fits = group.message is sensor.kind.message and group.site == sensor.site
        if fits and sensor.kind.name not in group.sensors:
            group.sensors[sensor.kind.name] = sensor
            return
    groups.append(_group_of(sensor))


def plain_sensors(sensors: list[PlannedSensor]) -> list[SensorGroup]:
    """Return groups of one sensor each."""
    return [_group_of(sensor) for sensor in sensors]


@dataclass(frozen=True, slots=True)
class _Frames:
    """Finds the frames of readings."""

    robot: RobotModel
    tree: FrameTree
    world_frame: str

    def of(self, sensor: Sensor, kind: SensorKind) -> str:
        """Return the frame of a reading, or nothing when it has none."""
        if kind.frame == NO_FRAME:
            return ''
        if kind.frame == AT_WORLD:
            return self.world_frame
        if kind.frame == AT_OBJECT:
            if kind.message is RANGE:
                # A rangefinder looks along the view of a camera, x of the camera's frame.
                is_camera = sensor.object_kind == 'camera'
                frames = self.tree.cameras if is_camera else self.tree.ranges
                return frames.get(sensor.object_id, '')
            return self._of_object(sensor.object_kind, sensor.object_id)
        if sensor.object_kind == 'joint':
            world = self.robot.world
            parent = world.bodies[world.joints[sensor.object_id].body].parent
            return self.tree.bodies.get(parent, self.world_frame)
        if not sensor.reference_kind:
            return self.world_frame
        if kind.name == 'camprojection':
            return self.tree.optical.get(sensor.reference_id, '')
        return self._of_object(sensor.reference_kind, sensor.reference_id)

    def _of_object(self, kind: str, index: int) -> str:
        """Return the frame of an object, or nothing when it has none of ours."""
        if kind == 'site':
            return self.tree.sites.get(index, '')
        if kind == 'xbody':
            return self.tree.bodies.get(index, '')
        if kind == 'joint':
            return self.tree.bodies.get(self.robot.world.joints[index].body, '')
        # "body" is MuJoCo's name for the inertial frame, and its camera frame is not ours.
        return ''


def _describe(frames: _Frames, sensor: Sensor) -> PlannedSensor:
    kind = sensor_kind(sensor.kind, sensor.dim)
    site = ''
    if sensor.object_kind == 'site':
        site = frames.robot.name_of(frames.robot.world.sites[sensor.object_id])
    return PlannedSensor(
        sensor.name,
        kind,
        sensor.dim,
        _unit(frames.robot, sensor, kind),
        frames.of(sensor, kind),
        site,
        not sensor.reference_kind,
        sensor.cutoff,
    )


def _unit(robot: RobotModel, sensor: Sensor, kind: SensorKind) -> str:
    """Look up whether the joint behind a reading turns or slides."""
    world = robot.world
    joint = sensor.object_id if sensor.object_kind == 'joint' else -1
    if sensor.object_kind == 'tendon':
        # The length of a fixed tendon mixes joints: it has no unit.
        if world.tendons[sensor.object_id].is_fixed:
            return ''
    elif sensor.object_kind == 'actuator':
        joint = world.actuators[sensor.object_id].joint_id
        if joint < 0:
            return ''
    if joint >= 0 and kind.unit_of_slide and world.joints[joint].kind == SLIDE:
        return kind.unit_of_slide
    return kind.unit
