# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How `cmd_vel` drives a robot, from the drive plugins of Gazebo."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
from dataclasses import dataclass
import math
from typing import Any
import xml.etree.ElementTree as ElementTree

from urlab_ros_bridge.geometry import AT_ORIGIN
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import quaternion_of_rpy
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.robot_import.actuators import POSITION
from urlab_ros_bridge.robot_import.actuators import VELOCITY
from urlab_ros_bridge.robot_import.links import joint_ends
from urlab_ros_bridge.robot_import.report import ImportReport

# Where the plugin does not say (m/s, rad/s).
_LINEAR, _ANGULAR = 1.0, 2.0
_TIMEOUT = 0.5  # s
_STEERING = 0.6  # rad
# Words of plugins that drive a robot in another way.
_OTHERS = ('drive', 'steer')
_CORNERS = (('front', 'left'), ('front', 'right'), ('back', 'left'), ('back', 'right'))
# Elements with the wheels of a side: differential drives, and skid-steer drives.
_WHEELS = ('{}_joint', '{}Joint', '{}FrontJoint', '{}RearJoint', '{}_front', '{}_rear')
# Joints of a base that moves in the plane, which the import adds.
PLANAR_JOINTS = {axis: f'planar_{axis}' for axis in ('x', 'y', 'yaw')}


@dataclass(frozen=True, slots=True)
class GazeboDrive:
    """
    A drive.

    :ivar interfaces: command interface of each joint that it turns or steers, '' for wheels that
        it leaves free; empty for a planar base, whose joints are added.
    :ivar twist: section `twist` of the sidecar; actuators are called as their joints.
    """

    interfaces: Mapping[str, str]
    twist: dict[str, Any]


def find_drive(robot: ElementTree.Element, report: ImportReport) -> GazeboDrive | None:
    """Return the drive of the first plugin that is known and whose joints exist."""
    joints = {joint.get('name', '') for joint in robot.findall('joint')}
    for plugin in robot.findall('gazebo/plugin'):
        part = f'plugin {plugin.get("filename")!r}'
        reader = next((read for words, read in _READERS.items() if _is(plugin, words)), None)
        if reader is None:
            if any(word in plugin_words(plugin) for word in _OTHERS):
                known = ', '.join(' '.join(words) for words in _READERS)
                report.left_out(part, f'it drives in an unknown way; known are those of {known}')
            continue
        drive = reader(plugin, robot)
        missing = sorted(set(drive.interfaces) - joints)
        if missing or not (drive.interfaces or drive.twist['kind'] == 'planar'):
            report.left_out(part, f'it drives unknown joints: {missing}')
            continue
        if drive.twist['kind'] == 'omni':
            report.guessed(part, 'wheels without rollers do not move the robot sideways')
        return drive
    return None


def _is(plugin: ElementTree.Element, words: tuple[str, ...]) -> bool:
    return all(word in plugin_words(plugin) for word in words)


def plugin_words(plugin: ElementTree.Element) -> str:
    """Return what a plugin is known by: file and name, as Gazebo's versions spell them."""
    return f'{plugin.get("filename", "")} {plugin.get("name", "")}'.lower()


def _differential(plugin: ElementTree.Element, robot: ElementTree.Element) -> GazeboDrive:
    left, right = (
        list(_texts(plugin, *(form.format(side) for form in _WHEELS)))
        for side in ('left', 'right')
    )
    found = _Geometry(robot, {'left': left, 'right': right})
    twist = {
        'kind': 'differential',
        'left': left,
        'right': right,
        'wheel_radius': _radius(plugin, found.radius),
        'track_width': _value(plugin, found.track, 'wheel_separation', 'wheelSeparation'),
        'axle': found.axle,
        'limits': _limits(plugin),
        'timeout': _TIMEOUT,
    }
    return GazeboDrive(dict.fromkeys((*left, *right), VELOCITY), twist)


def _mecanum(plugin: ElementTree.Element, robot: ElementTree.Element) -> GazeboDrive:
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
    twist = {'kind': 'omni', 'wheels': wheels, 'limits': _limits(plugin), 'timeout': _TIMEOUT}
    names = [str(wheel['actuator']) for wheel in wheels]
    return GazeboDrive(dict.fromkeys(names, VELOCITY), twist)


def _ackermann(plugin: ElementTree.Element, robot: ElementTree.Element) -> GazeboDrive:
    steering = [next(_texts(plugin, f'{side}_steering_joint'), '') for side in ('left', 'right')]
    steered = {_ends(robot, name)[1] for name in steering} - {''}
    below = [joint.get('name', '') for joint in robot.findall('joint')
             if joint_ends(joint)[0] in steered]  # fmt: skip
    sides = {
        side: [
            name
            for name in _texts(plugin, f'{side}_joint', f'rear_{side}_joint')
            if name not in below
        ]
        for side in ('left', 'right')
    }
    found = _Geometry(robot, sides, steering)
    limits = _limits(plugin)
    limits['linear'] = _value(plugin, limits['linear'], 'max_speed')
    twist = {
        'kind': 'ackermann',
        **sides,
        'left_steering': steering[0],
        'right_steering': steering[1],
        'wheel_radius': _value(plugin, found.radius, 'wheel_radius'),
        'track_width': _value(plugin, found.track, 'wheel_separation'),
        'wheelbase': _value(plugin, found.wheelbase, 'wheel_base'),
        'axle': found.axle,
        'steering_limit': min(_value(plugin, _STEERING, 'steering_limit', 'max_steer'), 1.4),
        'limits': limits,
        'timeout': _TIMEOUT,
    }
    interfaces = dict.fromkeys(below, '')
    interfaces |= dict.fromkeys((*sides['left'], *sides['right']), VELOCITY)
    interfaces |= dict.fromkeys(steering, POSITION)
    return GazeboDrive(interfaces, twist)


def _planar(plugin: ElementTree.Element, robot: ElementTree.Element) -> GazeboDrive:
    twist = {
        'kind': 'planar', **PLANAR_JOINTS, 'limits': _limits(plugin), 'timeout': _TIMEOUT,
    }  # fmt: skip
    return GazeboDrive({}, twist)


# By the words that a plugin's file and name have; the first that fits.
_READERS: dict[tuple[str, ...], Callable[..., GazeboDrive]] = {
    ('mecanum', 'drive'): _mecanum,
    ('ackermann',): _ackermann,
    ('planar_move',): _planar,
    ('velocity-control',): _planar,
    ('diff', 'drive'): _differential,
    ('skid', 'drive'): _differential,
}


class _Geometry:
    """
    Geometry of a car in its description, for plugins that do not state it.

    :ivar radius: of a driven wheel that collides as a cylinder or sphere (m).
    :ivar track, wheelbase: distances between the driven wheels, and between the axles (m).
    :ivar axle: x of the driven wheels in the root link (m), their mean.
    """

    def __init__(
        self,
        robot: ElementTree.Element,
        sides: Mapping[str, list[str]],
        steering: Sequence[str] = ('',),
    ) -> None:
        self._joints = {joint.get('name', ''): joint for joint in robot.findall('joint')}
        self._above = {joint_ends(joint)[1]: name for name, joint in self._joints.items()}
        left, right = (self._place(next(iter(sides[side]), '')) for side in ('left', 'right'))
        front = self._place(steering[0])
        places = [self._place(name)[0] for side in sides.values() for name in side]
        self.axle = round(sum(places) / max(len(places), 1), 6)
        self.track = math.dist(left, right) or 0.4
        self.wheelbase = abs(front[0] - left[0]) or 0.4
        wheel = _ends(robot, next(iter(sides['left']), ''))[1]
        shapes = [
            float(shape.get('radius', 0.0))
            for kind in ('cylinder', 'sphere')
            for shape in robot.findall(f"link[@name='{wheel}']/collision/geometry/{kind}")
        ]
        self.radius = next((radius for radius in shapes if radius > 0.0), 0.1)

    def _place(self, name: str) -> Vector:
        """Return where a joint is in the root link (m)."""
        pose = AT_ORIGIN
        while name in self._joints:
            joint = self._joints[name]
            origin = joint.find('origin')
            words = ('', '') if origin is None else (origin.get('xyz', ''), origin.get('rpy', ''))
            x, y, z, roll, pitch, yaw = (
                float(word) for words_of in words for word in (words_of.split() or '000')
            )
            pose = Pose((x, y, z), quaternion_of_rpy(roll, pitch, yaw)).then(pose)
            name = self._above.get(joint_ends(joint)[0], '')
        return pose.position


def _ends(robot: ElementTree.Element, name: str) -> tuple[str, str]:
    """Return parent and child link of a joint, '' for one that does not exist."""
    for joint in robot.findall('joint'):
        if joint.get('name') == name:
            return joint_ends(joint)
    return '', ''


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


def _radius(plugin: ElementTree.Element, default: float = 0.1) -> float:
    diameter = _value(plugin, 2 * default, 'wheel_diameter', 'wheelDiameter')
    return _value(plugin, diameter / 2, 'wheel_radius', 'wheelRadius')


def _value(plugin: ElementTree.Element, default: float, *names: str) -> float:
    """Return the number that one of the elements holds; all of them are positive."""
    for text in _texts(plugin, *names):
        with contextlib.suppress(ValueError):
            value = float(text)
            if 0 < value < math.inf:
                return value
    return default


def _texts(plugin: ElementTree.Element, *names: str) -> Iterator[str]:
    for name in names:
        for element in plugin.findall(name):
            yield (element.text or '').strip()
