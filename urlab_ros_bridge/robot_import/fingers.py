# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Grippers: fingers of one link that slide towards each other."""

from __future__ import annotations

from collections.abc import Iterator
import re
import xml.etree.ElementTree as ElementTree

import numpy as np

from urlab_ros_bridge.geometry import quaternion_of_rpy
from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.robot_import.links import joint_ends
from urlab_ros_bridge.wire.names import numbered

_OPPOSITE = -0.9  # cosine between the directions in which two fingers of a gripper close


def find_grippers(robot: ElementTree.Element) -> dict[str, list[str]]:
    """
    Return the grippers of a description by name: the joints that move their fingers.

    Fingers are prismatic joints of one link that carry no other joint that moves, and that go in
    opposite directions. One that mimics another is moved by it, and is not listed.
    """
    found: dict[str, list[str]] = {}
    by_link: dict[str, list[ElementTree.Element]] = {}
    for joint in _last_slides(robot):
        by_link.setdefault(joint_ends(joint)[0], []).append(joint)
    for link, joints in by_link.items():
        ways = [_way(joint) for joint in joints]
        if any(np.dot(one, other) < _OPPOSITE for one in ways for other in ways):
            stem = re.sub(r'\W+', '_', link, flags=re.ASCII).strip('_') or 'gripper'
            name = next(name for name in numbered(stem) if name not in found)
            driven = [joint.get('name', '') for joint in joints if joint.find('mimic') is None]
            if driven:
                found[name] = driven
    return {'gripper': next(iter(found.values()))} if len(found) == 1 else found


def finger_joints(robot: ElementTree.Element) -> set[str]:
    """Return the joints that move the fingers of all grippers."""
    return {name for joints in find_grippers(robot).values() for name in joints}


def _last_slides(robot: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Yield the prismatic joints whose links carry nothing that moves."""
    below: dict[str, list[ElementTree.Element]] = {}
    for joint in robot.findall('joint'):
        below.setdefault(joint_ends(joint)[0], []).append(joint)
    for joint in robot.findall('joint'):
        part = [joint_ends(joint)[1]]
        carried = []
        for link in part:
            carried += below.get(link, [])
            part += [joint_ends(each)[1] for each in below.get(link, [])]
        if joint.get('type') == 'prismatic' and all(j.get('type') == 'fixed' for j in carried):
            yield joint


def _way(joint: ElementTree.Element) -> np.ndarray:
    """Return the direction in the parent link in which a finger goes as its gripper opens."""
    axis, origin, mimic = joint.find('axis'), joint.find('origin'), joint.find('mimic')
    x, y, z = _triple(axis, 'xyz', '1 0 0')
    roll, pitch, yaw = _triple(origin, 'rpy', '0 0 0')
    sign = float('1' if mimic is None else mimic.get('multiplier', '1'))
    way = np.array(rotate(quaternion_of_rpy(roll, pitch, yaw), (x, y, z)))
    return np.sign(sign) * way / max(float(np.linalg.norm(way)), 1e-9)


def _triple(
    element: ElementTree.Element | None, name: str, default: str
) -> tuple[float, float, float]:
    words = (default if element is None else element.get(name, default)).split()
    x, y, z = (float(word) for word in words)
    return x, y, z
