# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A plan from the topics of the wire alone, for when there is no compiled model to read."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.plan.frame_tree import FrameTree
from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.plan.plan import AUTO
from urlab_ros_bridge.ros.plan.plan import DEFAULT_BASE
from urlab_ros_bridge.ros.plan.plan import frame_names
from urlab_ros_bridge.ros.plan.plan import namespaces
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import Scanner
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.plan.sensor_table import UNKNOWN_KIND
from urlab_ros_bridge.ros.plan.sensors import plain_sensors
from urlab_ros_bridge.ros.plan.sensors import PlannedSensor
from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.rows import parse_topic
from urlab_ros_bridge.wire.rows import unpack_joint
from urlab_ros_bridge.wire.rows import unpack_sensor


class _Found:
    """Members of one robot: name -> id or dimension."""

    def __init__(self) -> None:
        self.joints: dict[str, int] = {}
        self.bases: list[str] = []
        self.sensors: dict[str, int] = {}
        self.drives = False


def plan_topics(
    rows: Mapping[bytes, bytes],
    settings: SettingsReader,
    handshake: Handshake | None = None,
    notes: Iterable[str] = (),
) -> WorldPlan:
    """
    Plan from rows that were seen.

    Sensors become SensorStamped without type, unit and frame; what the handshake contains about
    scanners, covariances and the base's frame is used when there is one.

    :param rows: topic -> a payload; rows that cannot be decoded are left out.
    """
    robots, entities = _find(rows)
    names = settings(NamesParameters)
    wanted = (
        list(robots)
        if names.robots == (AUTO,)
        else [prefix for prefix in robots if prefix in names.robots]
    )
    spaces = namespaces(wanted, names)
    plans = tuple(
        _plan_robot(prefix, robots[prefix], spaces[prefix], names, handshake) for prefix in wanted
    )
    return WorldPlan(plans, tuple(entities), tuple(notes))


def missing_robot(rows: Mapping[bytes, bytes], settings: SettingsReader) -> UnknownName | None:
    """Return an error for the first robot that the parameter `robots` names and no row is of."""
    robots, _ = _find(rows)
    for name in settings(NamesParameters).robots:
        if name not in (AUTO, *robots):
            return UnknownName('robot', name, robots)
    return None


def _find(rows: Mapping[bytes, bytes]) -> tuple[dict[str, _Found], dict[str, None]]:
    """Return the robots and the entities of rows."""
    robots: dict[str, _Found] = {}
    entities: dict[str, None] = {}
    for topic, payload in rows.items():
        try:
            _add(robots, entities, topic, payload)
        except WireError:
            continue
    return robots, entities


def _add(
    robots: dict[str, _Found], entities: dict[str, None], topic: bytes, payload: bytes
) -> None:
    parsed = parse_topic(topic)
    if parsed.kind == 'scene':
        entities[parsed.name] = None
    if not parsed.prefix:
        return
    found = robots.setdefault(parsed.prefix, _Found())
    if parsed.kind == 'joint':
        found.joints[parsed.name] = unpack_joint(payload).id
    elif parsed.kind == 'base_state':
        found.bases.append(parsed.name)
    elif parsed.kind == 'sensor':
        found.sensors[parsed.name] = len(unpack_sensor(payload).values)
    elif parsed.kind == 'twist':
        found.drives = True


def _plan_robot(
    prefix: str,
    found: _Found,
    namespace: str,
    names: NamesParameters,
    handshake: Handshake | None,
) -> RobotPlan:
    robot = handshake.articulations.get(prefix) if handshake else None
    reported = robot.frames.get('base', '') if robot else ''
    base = robot.frames.get(reported, reported) if robot and reported else DEFAULT_BASE
    frames = frame_names(prefix, names, base or DEFAULT_BASE)
    lidars = robot.lidars if robot else {}
    singles = [
        PlannedSensor(name, UNKNOWN_KIND, dim, '', '')
        for name, dim in found.sensors.items()
        if name not in lidars
    ]
    return RobotPlan(
        prefix,
        namespace,
        '' if names.frame_prefix else namespace,
        frames,
        tuple(sorted(found.joints, key=lambda name: found.joints[name])),
        base_joint=found.bases[0] if found.bases else '',
        tree=FrameTree(frames.base),
        sensors=plain_sensors(singles),
        scanners=tuple(Scanner(lidar, frames.base) for lidar in lidars.values()),
        drives=found.drives or bool(robot and robot.twist_controller),
        covariances=robot.covariances if robot else {},
    )
