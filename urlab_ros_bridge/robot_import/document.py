# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Read a URDF or xacro file as one XML tree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
import re
import xml.etree.ElementTree as ElementTree

from urlab_ros_bridge.files import FileRefused
from urlab_ros_bridge.geometry import rpy_of
from urlab_ros_bridge.robot_import.errors import InvalidDescription
from urlab_ros_bridge.robot_import.errors import MissingExtra
from urlab_ros_bridge.robot_import.options import ImportOptions
from urlab_ros_bridge.robot_import.packages import Packages
from urlab_ros_bridge.robot_import.report import ImportReport
from urlab_ros_bridge.robot_import.xml_tree import BadXml
from urlab_ros_bridge.robot_import.xml_tree import parse_xml
from urlab_ros_bridge.schema import hint

_NOT_FINITE = re.compile(r'(?<![^\s])[+-]?(nan|inf|infinity)(?![^\s])', re.IGNORECASE)
# Elements of which an element has one.
_SINGLE = {
    'link': ('inertial',),
    'joint': ('origin', 'parent', 'child', 'axis', 'limit', 'dynamics', 'mimic'),
    **dict.fromkeys(('visual', 'collision'), ('origin', 'geometry', 'material')),
}
_NUMBERS = {
    'origin': ('xyz', 'rpy', 'quat_xyzw'),
    'axis': ('xyz',),
    'limit': ('lower', 'upper', 'effort', 'velocity'),
    'dynamics': ('damping', 'friction'),
    'mimic': ('multiplier', 'offset'),
    'mass': ('value',),
    'inertia': ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'),
}


def read_description(
    path: Path, packages: Packages, options: ImportOptions, report: ImportReport
) -> ElementTree.Element:
    """
    Return the element `robot`: links with unique names that are one tree of joints.

    :raises InvalidDescription: naming what is wrong.
    :raises MissingExtra: when a xacro file is given and xacro is not installed.
    """
    robot = _parsed(path, _text(path, options))
    if path.suffix.lower() == '.xacro' or _has_macros(robot):
        robot = _parsed(path, _expanded(path, packages, options))
    if robot.tag != 'robot':
        raise InvalidDescription(path, f'the root element is <{robot.tag}>, not <robot>')
    _drop_repeated(robot, report)
    root_link(robot, path)
    _check_numbers(robot, path)
    _write_angles(robot, path)
    return robot


def _parsed(path: Path, text: str | bytes) -> ElementTree.Element:
    try:
        return parse_xml(text)
    except BadXml as error:
        raise InvalidDescription(path, f'not valid XML: {error}') from error


def _has_macros(robot: ElementTree.Element) -> bool:
    """Return whether a file, whatever its name, is a xacro file that nobody has expanded."""
    return any(element.tag.startswith('xacro:') for element in robot.iter())


def _drop_repeated(robot: ElementTree.Element, report: ImportReport) -> None:
    """Keep the first of the elements of which urdfdom reads the first alone."""
    for owner in (*robot.findall('link'), *robot.findall('joint')):
        for element in (owner, *owner.findall('visual'), *owner.findall('collision')):
            for tag in _SINGLE.get(element.tag, ()):
                for other in element.findall(tag)[1:]:
                    element.remove(other)
                    report.left_out(f'{owner.tag} {owner.get("name")!r}', f'a second <{tag}>')


def _check_numbers(robot: ElementTree.Element, path: Path) -> None:
    """
    See that numbers of links and joints are finite; limits may be infinite.

    :raises InvalidDescription: naming the first that is not.
    """
    for owner in (*robot.findall('link'), *robot.findall('joint')):
        for element in owner.iter():
            for name in _NUMBERS.get(element.tag, ()):
                value = element.get(name, '')
                # What is no number at all is left to MuJoCo's reader.
                found = _NOT_FINITE.search(value)
                if found and (element.tag != 'limit' or 'nan' in found[0].lower()):
                    where = f'<{element.tag}> of {owner.tag} {owner.get("name")!r}'
                    raise InvalidDescription(
                        path, f'{where}: {name}={value!r:.80} is not a finite number'
                    )


def _write_angles(robot: ElementTree.Element, path: Path) -> None:
    """
    Write the quaternions of URDF 1.2 as the angles that MuJoCo reads.

    :raises InvalidDescription: naming what is none.
    """
    for origin in robot.iter('origin'):
        text = origin.attrib.pop('quat_xyzw', '')
        if not text:
            continue
        try:
            x, y, z, w = map(float, text.split())
        except ValueError:
            raise InvalidDescription(
                path, f'<origin>: quat_xyzw={text!r:.80} is not four numbers'
            ) from None
        origin.set('rpy', ' '.join(map(repr, rpy_of((x, y, z, w)))))


def root_link(robot: ElementTree.Element, path: Path) -> str:
    """
    Return the name of the link that is no child.

    :raises InvalidDescription: when links and joints are not one tree.
    """
    links = [link.get('name', '') for link in robot.findall('link')]
    joints = [joint.get('name', '') for joint in robot.findall('joint')]
    for kind, names in (('link', links), ('joint', joints)):
        repeated = [name for name, count in Counter(names).items() if count > 1 or not name]
        if repeated:
            raise InvalidDescription(path, f'{kind} names must be unique: {repeated}')
        unprintable = [name for name in names if not name.isprintable()]
        if unprintable:
            problem = f'{kind} names must have no line breaks and control characters'
            raise InvalidDescription(path, f'{problem}: {unprintable}')
    if not links:
        raise InvalidDescription(path, 'there are no links')
    children: list[str] = []
    known = set(links)
    for joint in robot.findall('joint'):
        for role in ('parent', 'child'):
            element = joint.find(role)
            name = '' if element is None else element.get('link', '')
            if name not in known:
                problem = f'joint {joint.get("name")!r}: {role} link {name!r} is unknown'
                raise InvalidDescription(path, f'{problem}; {hint(name, links)}')
            if role == 'child':
                children.append(name)
    twice = [name for name, count in Counter(children).items() if count > 1]
    if twice:
        raise InvalidDescription(path, f'links with more than one parent: {twice}')
    below = set(children)
    roots = [name for name in links if name not in below]
    if len(roots) != 1:
        raise InvalidDescription(path, f'there must be one root link, not {roots}')
    return roots[0]


def _text(path: Path, options: ImportOptions) -> bytes:
    try:
        return options.read(path)
    except FileRefused as error:
        raise InvalidDescription(path, str(error)) from error


def _expanded(path: Path, packages: Packages, options: ImportOptions) -> str:
    if options.readable is not None:
        raise InvalidDescription(path, 'xacro is expanded for its owner only: expand it first')
    try:
        import xacro
        from xacro import substitution_args
    except ImportError as error:
        raise MissingExtra('xacro', 'urdf', f'{path.name}') from error
    # xacro finds packages by ament_index_python alone, which needs a ROS installation.
    original = substitution_args._eval_find
    substitution_args._eval_find = lambda package: str(packages.folder(package))
    try:
        document = xacro.process_file(str(path), mappings=dict(options.xacro_arguments))
    except Exception as error:  # whatever an expression of the file raises
        raise InvalidDescription(path, f'xacro: {error}') from error
    finally:
        substitution_args._eval_find = original
    return document.toxml()
