# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Rewrite the masses and joints of a URDF so that MuJoCo's reader takes them as ROS means them.

A link without `<inertial>` has no mass; masses, inertias and limits that no body or joint can have
are repaired.
"""

from __future__ import annotations

from collections.abc import Iterator
import math
import xml.etree.ElementTree as ElementTree

import numpy as np

from urlab_ros_bridge.robot_import.report import ImportReport

_TENSOR = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
# Of a link that moves but has no mass: small beside any part of a robot (kg, kg m^2).
TINY_MASS, _TINY_INERTIA = 1e-3, 1e-6
_LEAST = 1e-14  # kg, kg m^2; above what MuJoCo takes for zero, also after a rotation
_LOCKED = 1e-6  # rad or m; half the range of a joint that is locked
_ROUNDING = 1e-8  # relative; MuJoCo tests the sums after rotating the tensor
_POINT = 1e-5  # m^2; inertia of a mass that has none, as of a sphere of 5 mm radius


def repair_inertials(
    robot: ElementTree.Element, root: str, report: ImportReport, *, floats: bool
) -> None:
    """
    Make masses and inertias such that every moving part has them.

    :param floats: whether the root link moves.
    """
    for link in robot.findall('link'):
        if problem := _repair(link):
            report.repaired(f'link {link.get("name")!r}', problem)
    for links in moving_parts(robot, root, floats):
        if not any(link.find('inertial') is not None for link in links):
            _set_inertial(links[0], TINY_MASS, np.eye(3) * _TINY_INERTIA)
            report.repaired(
                f'link {links[0].get("name")!r}', f'moves but has no mass: {TINY_MASS} kg assumed'
            )


def moving_parts(
    robot: ElementTree.Element, root: str, floats: bool
) -> Iterator[list[ElementTree.Element]]:
    """Yield the links of each rigid part that moves, the one that carries the others first."""
    links = {link.get('name', ''): link for link in robot.findall('link')}
    fixed: dict[str, list[str]] = {name: [] for name in links}
    starts = [root] if floats else []
    for joint in robot.findall('joint'):
        parent, child = joint_ends(joint)
        if joint.get('type') == 'fixed':
            fixed[parent].append(child)
        else:
            starts.append(child)
    for start in starts:
        part = [start]
        for name in part:
            part += fixed[name]
        yield [links[name] for name in part]


def repair_joints(robot: ElementTree.Element, report: ImportReport) -> None:
    """Repair limits that allow no movement, and remove couplings with unknown joints."""
    names = {joint.get('name') for joint in robot.findall('joint')}
    for joint in robot.findall('joint'):
        part, mimic = f'joint {joint.get("name")!r}', joint.find('mimic')
        if joint.get('type') in ('revolute', 'prismatic') and (problem := _repair_limit(joint)):
            report.repaired(part, problem)
        if mimic is not None and mimic.get('joint') not in names - {joint.get('name')}:
            leader = mimic.get('joint')
            report.left_out(part, f'it mimics {leader!r}, which is no other joint: it moves alone')
            joint.remove(mimic)


def _repair_limit(joint: ElementTree.Element) -> str:
    """Make the limits of a joint such that MuJoCo keeps them; return what was changed."""
    limit = joint.find('limit')
    if limit is None or not {'lower', 'upper'} & limit.attrib.keys():
        return 'it has no lower and upper limit: it moves freely'
    lower, upper = _number(limit, 'lower'), _number(limit, 'upper')
    if lower < upper:
        return ''
    if lower == upper:
        # MuJoCo takes an empty range for none.
        limit.set('lower', repr(lower - _LOCKED))
        limit.set('upper', repr(upper + _LOCKED))
        return f'its limits are both {lower:g}: it is locked there'
    limit.attrib.pop('lower', None)
    limit.attrib.pop('upper', None)
    return f'its lower limit {lower:g} is above the upper, {upper:g}: it moves freely'


def joint_limits(robot: ElementTree.Element) -> dict[str, dict[str, float]]:
    """Return the limits of velocity and effort by joint, for joints that have one."""
    found = {}
    for joint in robot.findall('joint'):
        limit = joint.find('limit')
        values = {name: _number(limit, name) for name in ('velocity', 'effort')}
        given = {name: value for name, value in values.items() if value > 0}
        if given and joint.get('type') in ('revolute', 'continuous', 'prismatic'):
            found[joint.get('name', '')] = given
    return found


def joint_ends(joint: ElementTree.Element) -> tuple[str, str]:
    """Return the names of parent and child link."""
    parent, child = joint.find('parent'), joint.find('child')
    assert parent is not None and child is not None  # as read_description has checked
    return parent.get('link', ''), child.get('link', '')


def _repair(link: ElementTree.Element) -> str:
    """Make the inertial of one link physical, or remove it; return what was changed."""
    inertial = link.find('inertial')
    if inertial is None:
        return ''
    mass_element, tensor_element = inertial.find('mass'), inertial.find('inertia')
    mass = _number(mass_element, 'value')
    if mass < _LEAST:
        link.remove(inertial)
        return '' if mass == 0 else f'a mass of {mass} kg is taken for none'
    xx, yy, zz, xy, xz, yz = (_number(tensor_element, name) for name in _TENSOR)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    sizes, axes = np.linalg.eigh(tensor)
    repaired = physical_inertia(sizes, mass)
    if np.array_equal(repaired, sizes):
        return ''
    _set_inertial(link, mass, axes @ np.diag(repaired) @ axes.T)
    if np.allclose(repaired, sizes, rtol=0.0, atol=10 * _ROUNDING * sizes[2]):
        return ''
    return f'no body has the principal inertias {sizes}: {repaired} kg m^2 taken instead'


def physical_inertia(sizes: np.ndarray, mass: float) -> np.ndarray:
    """
    Return principal inertias that a body can have: positive, and none above the sum of the others.

    :param sizes: in ascending order (kg m^2).
    """
    sizes = np.where(sizes < _LEAST, max(_POINT * mass, 10 * _LEAST), sizes)
    sizes.sort()
    missing = sizes[2] - sizes[0] - sizes[1]
    if missing > -_ROUNDING * sizes[2]:
        sizes[:2] += max(missing, 0.0) / 2 + _ROUNDING * sizes[2]
    return sizes


def _number(element: ElementTree.Element | None, name: str) -> float:
    """Return an attribute as a number, 0 when it is none."""
    try:
        value = float('' if element is None else element.get(name, ''))
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0


def _set_inertial(link: ElementTree.Element, mass: float, tensor: np.ndarray) -> None:
    inertial = link.find('inertial')
    if inertial is None:
        inertial = ElementTree.SubElement(link, 'inertial')
    for name in ('mass', 'inertia'):
        for old in inertial.findall(name):
            inertial.remove(old)
    ElementTree.SubElement(inertial, 'mass', value=repr(float(mass)))
    values = (tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2])
    texts = {name: repr(float(value)) for name, value in zip(_TENSOR, values, strict=True)}
    ElementTree.SubElement(inertial, 'inertia', texts)
