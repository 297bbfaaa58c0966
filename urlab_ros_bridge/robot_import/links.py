# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Rewrite the links of a URDF so that MuJoCo's reader takes them as ROS means them.

Meshes become files that MuJoCo reads, one `<visual>` a colour; a link without `<inertial>` has no
mass; masses and inertias that no body can have are repaired.  Every repair is logged.
"""

from __future__ import annotations

from collections.abc import Iterator
import copy
import logging
import math
import xml.etree.ElementTree as ElementTree

import numpy as np

from urlab_ros_bridge.robot_import.errors import MissingMeshes
from urlab_ros_bridge.robot_import.errors import PackageNotFound
from urlab_ros_bridge.robot_import.meshes import Color
from urlab_ros_bridge.robot_import.meshes import MeshCache
from urlab_ros_bridge.robot_import.meshes import MeshPart
from urlab_ros_bridge.robot_import.meshes import UnreadableMesh
from urlab_ros_bridge.robot_import.packages import Packages

_LOG = logging.getLogger(__name__)
_TENSOR = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
# Of a link that moves but has no mass: small beside any part of a robot (kg, kg m^2).
TINY_MASS, _TINY_INERTIA = 1e-3, 1e-6
_LEAST = 1e-15  # what MuJoCo takes for zero
_ROUNDING = 1e-8  # relative; MuJoCo tests the sums after rotating the tensor
_POINT = 1e-5  # m^2; inertia of a mass that has none, as of a sphere of 5 mm radius


def replace_meshes(
    robot: ElementTree.Element, packages: Packages, cache: MeshCache, allow_missing: bool
) -> None:
    """
    Put converted meshes in the place of those that the URDF names.

    :param allow_missing: leave out what cannot be used, and log it, instead of raising.
    :raises MissingMeshes: naming all meshes that cannot be used.
    """
    problems: dict[str, str] = {}
    colors = _materials(robot)
    for link in robot.findall('link'):
        for kind in ('visual', 'collision'):
            for element in link.findall(kind):
                # Names repeat, and MuJoCo names shapes by themselves.
                element.attrib.pop('name', None)
                mesh = element.find('geometry/mesh')
                if mesh is None:
                    continue
                name = mesh.get('filename', '')
                place = list(link).index(element)
                link.remove(element)
                try:
                    parts = cache.parts(packages.file(name))
                except (UnreadableMesh, PackageNotFound) as error:
                    problems[name] = str(error)
                    continue
                given = _has_color(element, colors)
                for part in reversed(parts):
                    link.insert(place, _with_mesh(element, part, colored=not given))
    if problems and not allow_missing:
        raise MissingMeshes(problems)
    for name, reason in problems.items():
        _LOG.warning('mesh left out: %s: %s', name, reason)


def _materials(robot: ElementTree.Element) -> set[str]:
    """Return the names of the materials that have a colour."""
    return {
        item.get('name', '') for item in robot.iter('material') if item.find('color') is not None
    }


def _has_color(element: ElementTree.Element, colors: set[str]) -> bool:
    material = element.find('material')
    return material is not None and (
        material.find('color') is not None or material.get('name', '') in colors
    )


def _with_mesh(
    element: ElementTree.Element, part: MeshPart, *, colored: bool
) -> ElementTree.Element:
    """Return a copy of a `<visual>` or `<collision>` with another mesh, in its own colour."""
    changed = copy.deepcopy(element)
    mesh = changed.find('geometry/mesh')
    assert mesh is not None
    mesh.set('filename', str(part.path))
    if colored and part.color is not None and element.tag == 'visual':
        for old in changed.findall('material'):
            changed.remove(old)
        changed.append(_material(part.color))
    return changed


def _material(color: Color) -> ElementTree.Element:
    text = ' '.join(f'{part:.4g}' for part in color)
    material = ElementTree.Element('material', name=f'color {text}')
    ElementTree.SubElement(material, 'color', rgba=text)
    return material


def repair_inertials(robot: ElementTree.Element, root: str, floats: bool) -> None:
    """
    Make masses and inertias such that every moving part has them.

    :param floats: whether the root link moves.
    """
    for link in robot.findall('link'):
        if problem := _repair(link):
            _LOG.warning('link %r: %s', link.get('name'), problem)
    for links in moving_parts(robot, root, floats):
        if not any(link.find('inertial') is not None for link in links):
            _set_inertial(links[0], TINY_MASS, np.eye(3) * _TINY_INERTIA)
            _LOG.warning(
                'link %r moves but has no mass: %g kg assumed', links[0].get('name'), TINY_MASS
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


def repair_joints(robot: ElementTree.Element) -> None:
    """Remove limits that allow no movement, and couplings with joints that do not exist."""
    names = {joint.get('name') for joint in robot.findall('joint')}
    for joint in robot.findall('joint'):
        limit, mimic = joint.find('limit'), joint.find('mimic')
        movable = joint.get('type') in ('revolute', 'prismatic')
        if movable and (limit is None or not _number(limit, 'lower') < _number(limit, 'upper')):
            _LOG.warning(
                'joint %r: its lower limit is not below the upper: it has none', joint.get('name')
            )
            if limit is not None:
                limit.attrib.pop('lower', None)
                limit.attrib.pop('upper', None)
        if mimic is not None and mimic.get('joint') not in names:
            _LOG.warning(
                'joint %r mimics %r, which does not exist: it moves by itself',
                joint.get('name'), mimic.get('joint'),
            )  # fmt: skip
            joint.remove(mimic)


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
    sizes = np.where(sizes < _LEAST, _POINT * mass, sizes)
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
