# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The sensors of one robot, and which of them share a message.

mujoco itself is not imported: the caller has the model already.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from dataclasses import field
import math
from typing import Any

from urlab_ros_bridge.ros.convert.base import MessageTemplate
from urlab_ros_bridge.ros.convert.frame_tree import enumeration
from urlab_ros_bridge.ros.convert.frame_tree import FrameTree
from urlab_ros_bridge.ros.convert.imu import MagneticFieldTemplate
from urlab_ros_bridge.ros.convert.laser import RangeTemplate
from urlab_ros_bridge.ros.convert.sensor_stamped import SensorStampedTemplate
from urlab_ros_bridge.ros.convert.sensor_table import AT_OBJECT
from urlab_ros_bridge.ros.convert.sensor_table import AT_WORLD
from urlab_ros_bridge.ros.convert.sensor_table import IMU
from urlab_ros_bridge.ros.convert.sensor_table import MAGNETIC_FIELD
from urlab_ros_bridge.ros.convert.sensor_table import NO_FRAME
from urlab_ros_bridge.ros.convert.sensor_table import POINT
from urlab_ros_bridge.ros.convert.sensor_table import QUATERNION
from urlab_ros_bridge.ros.convert.sensor_table import RANGE
from urlab_ros_bridge.ros.convert.sensor_table import sensor_kind
from urlab_ros_bridge.ros.convert.sensor_table import SensorKind
from urlab_ros_bridge.ros.convert.sensor_table import TWIST
from urlab_ros_bridge.ros.convert.sensor_table import VECTOR3
from urlab_ros_bridge.ros.convert.sensor_table import WRENCH
from urlab_ros_bridge.ros.convert.stamped import PointStampedTemplate
from urlab_ros_bridge.ros.convert.stamped import QuaternionStampedTemplate
from urlab_ros_bridge.ros.convert.stamped import Vector3StampedTemplate

_NO_OBJECT = ''


@dataclass(frozen=True, slots=True)
class Sensor:
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

    @property
    def topic(self) -> str:
        """Topic below the robot's namespace."""
        return self.kind.topic.format(name=self.name, site=self.site or self.name)


@dataclass(slots=True)
class SiteSensors:
    """Sensors of one site that make common messages; `sensors` maps kind names to them."""

    site: str
    frame_id: str
    sensors: dict[str, Sensor] = field(default_factory=dict)


@dataclass(slots=True)
class SensorGroups:
    """
    Sensors by message.

    :ivar imus: sites with gyro or accelerometer; keys gyro, accelerometer, framequat.
    :ivar wrenches: sites with force or torque; keys force, torque.
    :ivar twists: sites with a velocimeter; keys velocimeter, gyro.
    :ivar singles: all others, each with a message of its own.
    """

    imus: list[SiteSensors] = field(default_factory=list)
    wrenches: list[SiteSensors] = field(default_factory=list)
    twists: list[SiteSensors] = field(default_factory=list)
    singles: list[Sensor] = field(default_factory=list)


def describe_sensors(
    model: Any,
    prefix: str,
    tree: FrameTree,
    world_frame: str = 'map',
    leave_out: Container[str] = (),
) -> list[Sensor]:
    """
    List the sensors whose compiled names start with the robot's prefix, in order of their id.

    :param model: mujoco.MjModel.
    :param world_frame: frame of readings in world coordinates.
    :param leave_out: local names, e.g. those of the planar scanners.
    """
    start = f'{prefix}_' if prefix else ''
    found = []
    for index in range(model.nsensor):
        name = model.sensor(index).name
        local = name.removeprefix(start)
        if name and name.startswith(start) and local not in leave_out:
            found.append(_describe(_Reader(model, tree, world_frame, start), index, local))
    return found


def group_sensors(sensors: list[Sensor]) -> SensorGroups:
    """Put together what shares a message: same site, and at most one of each kind."""
    groups = SensorGroups()
    for sensor in sensors:
        if sensor.kind.message == IMU:
            _put(groups.imus, sensor)
        elif sensor.kind.message == WRENCH:
            _put(groups.wrenches, sensor)
        elif sensor.kind.message == TWIST:
            _put(groups.twists, sensor)
    imus = {group.site: group for group in groups.imus}
    for group in groups.twists:
        if group.site in imus and 'gyro' in imus[group.site].sensors:
            group.sensors['gyro'] = imus[group.site].sensors['gyro']
    for sensor in sensors:
        if sensor.kind.message in (IMU, WRENCH, TWIST):
            continue
        imu = imus.get(sensor.site)
        if (
            imu
            and sensor.kind.name == 'framequat'
            and sensor.plain
            and 'framequat' not in imu.sensors
        ):
            imu.sensors['framequat'] = sensor
        else:
            groups.singles.append(sensor)
    return groups


def single_template(sensor: Sensor, magnetic_field_stddev: float = 0.0) -> MessageTemplate:
    """
    Make the template of a sensor that has a message of its own.

    Feed it with ``update(stamp_ns, sensor.kind.reading(values))``.

    :param magnetic_field_stddev: tesla, for magnetometers.
    :raises InterfaceMissing: without urlab_msgs, for a sensor without a standard message.
    """
    simple = {
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


def _put(groups: list[SiteSensors], sensor: Sensor) -> None:
    for group in groups:
        if group.site == sensor.site and sensor.kind.name not in group.sensors:
            group.sensors[sensor.kind.name] = sensor
            return
    groups.append(SiteSensors(sensor.site, sensor.frame_id, {sensor.kind.name: sensor}))


@dataclass(frozen=True, slots=True)
class _Reader:
    """The model with what names its parts."""

    model: Any
    tree: FrameTree
    world_frame: str
    start: str

    def kind(self, index: int) -> str:
        """Return the key of the sensor table."""
        member = enumeration(self.model, 'mjtSensor')(int(self.model.sensor_type[index]))
        return member.name.removeprefix('mjSENS_').lower()

    def object_type(self, number: int) -> str:
        """Return site, body, camera, ... or nothing."""
        name = enumeration(self.model, 'mjtObj')(int(number)).name.removeprefix('mjOBJ_').lower()
        return _NO_OBJECT if name == 'unknown' else name

    def frame(self, kind: str, index: int) -> str:
        """Return the frame of an object, or nothing when it has none of ours."""
        if kind == 'site':
            return self.tree.sites.get(index, '')
        if kind == 'xbody':
            return self.tree.bodies.get(index, '')
        if kind == 'joint':
            return self.tree.bodies.get(int(self.model.jnt_bodyid[index]), '')
        # "body" is MuJoCo's name for the inertial frame, and its camera frame is not ours.
        return ''


def _describe(reader: _Reader, index: int, local: str) -> Sensor:
    model = reader.model
    name, dim = reader.kind(index), int(model.sensor_dim[index])
    kind = sensor_kind(name, dim)
    object_type = reader.object_type(model.sensor_objtype[index])
    object_id = int(model.sensor_objid[index])
    reference = reader.object_type(model.sensor_reftype[index])
    site = ''
    if object_type == 'site':
        site = model.site(object_id).name.removeprefix(reader.start)
    return Sensor(
        local,
        kind,
        dim,
        _unit(model, kind, object_type, object_id),
        _frame(reader, kind, index),
        site,
        not reference,
        float(model.sensor_cutoff[index]),
    )


def _frame(reader: _Reader, kind: SensorKind, index: int) -> str:
    model = reader.model
    object_type = reader.object_type(model.sensor_objtype[index])
    object_id = int(model.sensor_objid[index])
    if kind.frame == NO_FRAME:
        return ''
    if kind.frame == AT_WORLD:
        return reader.world_frame
    if kind.frame == AT_OBJECT:
        if kind.message == RANGE:
            # A rangefinder looks along the view of a camera, which is x of the camera's frame.
            frames = reader.tree.cameras if object_type == 'camera' else reader.tree.ranges
            return frames.get(object_id, '')
        return reader.frame(object_type, object_id)
    if object_type == 'joint':
        parent = int(model.body_parentid[model.jnt_bodyid[object_id]])
        return reader.tree.bodies.get(parent, reader.world_frame)
    reference = reader.object_type(model.sensor_reftype[index])
    if not reference:
        return reader.world_frame
    if kind.name == 'camprojection':
        return reader.tree.optical.get(int(model.sensor_refid[index]), '')
    return reader.frame(reference, int(model.sensor_refid[index]))


def _unit(model: Any, kind: SensorKind, object_type: str, object_id: int) -> str:
    """Look up whether the joint behind a reading turns or slides."""
    joint = object_id if object_type == 'joint' else -1
    if object_type == 'tendon':
        # The length of a fixed tendon mixes joints: it has no unit.
        wrap = enumeration(model, 'mjtWrap').mjWRAP_JOINT
        if model.wrap_type[model.tendon_adr[object_id]] == int(wrap):
            return ''
    elif object_type == 'actuator':
        joint_transmission = int(enumeration(model, 'mjtTrn').mjTRN_JOINT)
        if model.actuator_trntype[object_id] != joint_transmission:
            return ''
        joint = int(model.actuator_trnid[object_id][0])
    slide = int(enumeration(model, 'mjtJoint').mjJNT_SLIDE)
    if joint >= 0 and kind.unit_of_slide and model.jnt_type[joint] == slide:
        return kind.unit_of_slide
    return kind.unit
