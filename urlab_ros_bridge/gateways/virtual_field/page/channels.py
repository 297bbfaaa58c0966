# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The quantities that a page can plot: joints, sensors and controls of every robot."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from urlab_ros_bridge.client.model import read_robot
from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.client.replies.observations import ArticulationState
from urlab_ros_bridge.client.replies.observations import Snapshot
from urlab_ros_bridge.model import Sensor
from urlab_ros_bridge.model.elements import SLIDE

MAX_VALUES = 4096  # of one channel
_XYZ = ('x', 'y', 'z')
_QUATERNION = ('w', 'x', 'y', 'z')
_UNITS = {
    'gyro': 'rad/s', 'accelerometer': 'm/s²', 'velocimeter': 'm/s', 'force': 'N', 'torque': 'N m',
    'touch': 'N', 'magnetometer': 'G', 'rangefinder': 'm', 'framepos': 'm',
    'framelinvel': 'm/s', 'frameangvel': 'rad/s', 'framelinacc': 'm/s²', 'frameangacc': 'rad/s²',
    'actuatorfrc': 'N m', 'jointactuatorfrc': 'N m', 'tendonpos': 'm', 'tendonvel': 'm/s',
    'subtreecom': 'm', 'subtreelinvel': 'm/s', 'clock': 's', 'framequat': '', 'ballquat': '',
    'jointpos': 'rad', 'jointvel': 'rad/s', 'ballangvel': 'rad/s',
}  # fmt: skip

Read = Callable[[ArticulationState], Any]


@dataclass(frozen=True, slots=True)
class Channel:
    """
    One quantity over time.

    :ivar kind: ``position``, ``velocity``, ``effort``, ``control``, ``sensor`` or ``scan``.
    :ivar name: of the joint, actuator or sensor in its robot.
    :ivar width: how many numbers; `parts` their names when there are several.
    """

    robot: str
    kind: str
    name: str
    unit: str
    width: int
    parts: tuple[str, ...]
    read: Read

    def describe(self, number: int) -> dict[str, Any]:
        """Return the description that a page gets."""
        return {
            'id': number,
            'robot': self.robot,
            'kind': self.kind,
            'name': self.name,
            'unit': self.unit,
            'width': self.width,
            'parts': list(self.parts),
        }


def all_channels(handshake: Handshake) -> tuple[Channel, ...]:
    """Return the channels of a world; the index of each is its number."""
    found: list[Channel] = []
    for prefix, description in handshake.articulations.items():
        robot = read_robot(handshake, prefix)
        for index, joint in enumerate(robot.joints.values()):
            unit = 'm' if joint.kind == SLIDE else 'rad'
            effort = 'N' if joint.kind == SLIDE else 'N m'
            for kind, kind_unit, read in (
                ('position', unit, _at('qpos', joint.slot)),
                ('velocity', f'{unit}/s', _at('qvel', joint.dof)),
                ('effort', effort, _at('effort', index)),
            ):
                found.append(Channel(prefix, kind, joint.name, kind_unit, 1, (), read))
        for actuator in robot.actuators.values():
            found.append(
                Channel(prefix, 'control', actuator.name, '', 1, (), _at('ctrl', actuator.index))
            )
        for sensor in robot.sensors.values():
            if 0 < sensor.dim <= MAX_VALUES and sensor.name not in description.lidars:
                found.append(_sensor(prefix, sensor))
        for lidar in description.lidars.values():
            if 0 < lidar.rays <= MAX_VALUES:
                found.append(
                    Channel(prefix, 'scan', lidar.name, 'm', lidar.rays, (), _values(lidar.name))
                )
    return tuple(found)


def read_channels(channels: Sequence[Channel], seen: Snapshot) -> np.ndarray:
    """Return the values of channels, concatenated, float32; NaN where a value is missing."""
    out = np.full(sum(channel.width for channel in channels), np.nan, '<f4')
    start = 0
    for channel in channels:
        state = seen.articulations.get(channel.robot)
        values = None if state is None else channel.read(state)
        if values is not None and np.size(values) == channel.width:
            out[start : start + channel.width] = values
        start += channel.width
    return out


def _sensor(prefix: str, sensor: Sensor) -> Channel:
    parts: tuple[str, ...] = ()
    if sensor.dim == 3:
        parts = _XYZ
    elif sensor.dim == 4 and sensor.kind.endswith('quat'):
        parts = _QUATERNION
    elif sensor.dim > 1:
        parts = tuple(str(index) for index in range(sensor.dim))
    unit = _UNITS.get(sensor.kind, '')
    return Channel(prefix, 'sensor', sensor.name, unit, sensor.dim, parts, _values(sensor.name))


def _at(field: str, place: int) -> Read:
    def read(state: ArticulationState) -> Any:
        values = getattr(state, field)
        return values[place] if place < len(values) else None

    return read


def _values(name: str) -> Read:
    return lambda state: state.sensors.get(name)


__all__ = ['Channel', 'all_channels', 'read_channels']
