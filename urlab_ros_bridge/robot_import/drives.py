# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How `cmd_vel` drives a robot, from the drive plugins of Gazebo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import logging
import math
from typing import Any
import xml.etree.ElementTree as ElementTree

_LOG = logging.getLogger(__name__)
# Where the plugin does not say (m/s, rad/s).
_LINEAR, _ANGULAR = 1.0, 2.0
_TIMEOUT = 0.5  # s
_OTHERS = ('ackermann', 'planar_move', 'skid_steer', 'tricycle')
_CORNERS = (('front', 'left'), ('front', 'right'), ('back', 'left'), ('back', 'right'))


@dataclass(frozen=True, slots=True)
class GazeboDrive:
    """
    A drive.

    :ivar wheels: the joints that it turns.
    :ivar twist: section `twist` of the sidecar; actuators are called as their joints.
    """

    wheels: frozenset[str]
    twist: dict[str, Any]


def find_drive(robot: ElementTree.Element) -> GazeboDrive | None:
    """Return the drive of the first plugin that is known and whose joints exist."""
    joints = {joint.get('name', '') for joint in robot.findall('joint')}
    for plugin in robot.findall('gazebo/plugin'):
        drive = _read(plugin)
        if drive is None:
            if any(word in _words(plugin) for word in _OTHERS):
                _LOG.warning('drive plugin %r has no counterpart', plugin.get('filename'))
            continue
        unknown = sorted(drive.wheels - joints)
        if not unknown and drive.wheels:
            return drive
        _LOG.warning(
            'drive plugin %r is left out: unknown joints %s', plugin.get('filename'), unknown
        )
    return None


def _read(plugin: ElementTree.Element) -> GazeboDrive | None:
    words = _words(plugin)
    if 'drive' not in words:
        return None
    if 'mecanum' in words:
        return _mecanum(plugin)
    return _differential(plugin) if 'diff' in words else None


def _words(plugin: ElementTree.Element) -> str:
    """Return what a plugin is known by: file and name, as Gazebo's versions spell them."""
    return f'{plugin.get("filename", "")} {plugin.get("name", "")}'.lower()


def _differential(plugin: ElementTree.Element) -> GazeboDrive:
    left = list(_texts(plugin, 'left_joint', 'leftJoint'))
    right = list(_texts(plugin, 'right_joint', 'rightJoint'))
    twist = {
        'kind': 'differential',
        'left': left,
        'right': right,
        'wheel_radius': _radius(plugin),
        'track_width': _value(plugin, 0.4, 'wheel_separation', 'wheelSeparation'),
        'limits': _limits(plugin),
        'timeout': _TIMEOUT,
    }
    return GazeboDrive(frozenset((*left, *right)), twist)


def _mecanum(plugin: ElementTree.Element) -> GazeboDrive:
    width = _value(plugin, 0.4, 'wheel_separation', 'wheelSeparation')
    length = _value(plugin, 0.4, 'wheelbase')
    wheels = []
    for end, side in _CORNERS:
        x, y = (1 if end == 'front' else -1), (1 if side == 'left' else -1)
        for name in _texts(plugin, f'{end}_{side}_joint'):
            wheels.append(
                {
                    'actuator': name,
                    'position': [x * length / 2, y * width / 2],
                    'axis': math.pi / 2,
                    'roller': -x * y * math.pi / 4,
                    'radius': _radius(plugin),
                }
            )
    _LOG.warning('mecanum drive: wheels without rollers do not move the robot sideways')
    twist = {'kind': 'omni', 'wheels': wheels, 'limits': _limits(plugin), 'timeout': _TIMEOUT}
    return GazeboDrive(frozenset(str(wheel['actuator']) for wheel in wheels), twist)


def _limits(plugin: ElementTree.Element) -> dict[str, float]:
    found = {
        'linear': _value(plugin, _LINEAR, 'max_linear_velocity', 'linear_velocity/max'),
        'angular': _value(plugin, _ANGULAR, 'max_angular_velocity', 'angular_velocity/max'),
    }
    for name in ('linear', 'angular'):
        acceleration = _value(plugin, 0.0, f'max_{name}_acceleration')
        if acceleration > 0:
            found[f'{name}_acceleration'] = acceleration
    return found


def _radius(plugin: ElementTree.Element) -> float:
    diameter = _value(plugin, 0.2, 'wheel_diameter', 'wheelDiameter')
    return _value(plugin, diameter / 2, 'wheel_radius', 'wheelRadius')


def _value(plugin: ElementTree.Element, default: float, *names: str) -> float:
    """Return the number that one of the elements holds."""
    for text in _texts(plugin, *names):
        try:
            return float(text)
        except ValueError:
            continue
    return default


def _texts(plugin: ElementTree.Element, *names: str) -> Iterator[str]:
    for name in names:
        for element in plugin.findall(name):
            yield (element.text or '').strip()
