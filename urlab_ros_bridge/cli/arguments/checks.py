# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Checks of values beyond their types: `check` functions of keys.

Each returns the problem, or an empty string.  An empty value means "not given".
"""

from __future__ import annotations

import ipaddress
import math
import os
from pathlib import Path
import re
import socket

from urlab_ros_bridge.files.folders import shipped_names
from urlab_ros_bridge.robot_import.options import pairs
from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.schema import read_yaml
from urlab_ros_bridge.schema import SchemaError
from urlab_ros_bridge.schema import shown

PROFILES = 'config/chiral'
POLICIES = 'config/policy'
_ROS_NAMESPACE = re.compile(r'/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*/?')


def existing_file(path: str) -> str:
    """Check that a file exists."""
    if not path or os.path.isfile(path):  # total, unlike Path.is_file
        return ''
    if os.path.isdir(path):
        return f'{shown(path)} is a folder, not a file'
    return f'there is no file {shown(path)}'


def model_file(path: str) -> str:
    """Check that a path is a file, or the folder of an SDF model."""
    if os.path.isfile(os.path.join(path, 'model.config')):
        return ''
    return existing_file(path)


def four_numbers(text: str) -> str:
    """
    Check that a text is four finite numbers.

    >>> four_numbers('1 2 0')
    "'1 2 0' are not four numbers (x y z yaw)"
    """
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    if not text or (len(values) == 4 and all(map(math.isfinite, values))):
        return ''
    return f'{shown(text)} are not four numbers (x y z yaw)'


def folder(path: str) -> str:
    """Check that a path is a folder or does not exist."""
    if not os.path.exists(path) or os.path.isdir(path):
        return ''
    return f'{shown(path)} is a file, not a folder'


def parameter_file(path: str) -> str:
    """
    Check that a file has ROS parameters: node names with `ros__parameters` below.

    The YAML parser of rcl would report a mistake only when the node starts.
    """
    if not path or (problem := existing_file(path)):
        return problem if path else ''
    try:
        nodes = read_yaml(Path(path)).mapping()
        for name, node in nodes.items():
            if not _has_parameters(node.value):
                return (
                    f'{path}: {name!r} has no "ros__parameters:" below it, which a ROS parameter '
                    'file requires'
                )
    except SchemaError as error:
        return str(error)
    return '' if nodes else f'{path} is empty: a ROS parameter file must have nodes and parameters'


def _has_parameters(node: object, depth: int = 0) -> bool:
    """Return whether `ros__parameters` is below a node name or its namespaces."""
    if not isinstance(node, dict) or depth > 10:
        return False
    if 'ros__parameters' in node:
        return isinstance(node['ros__parameters'], dict | None)
    return any(_has_parameters(value, depth + 1) for value in node.values())


def package_folders(text: str) -> str:
    """
    Check that a text names folders of ROS packages.

    >>> package_folders('my_robot')
    "'my_robot' must be written NAME=VALUE"
    """
    try:
        found = pairs(text, os.pathsep, '=')
    except ValueError as error:
        return str(error)
    missing = [path for path in found.values() if not os.path.isdir(path)]
    return f'there is no folder {shown(missing[0])}' if missing else ''


def xacro_arguments(text: str) -> str:
    """Check that a text gives arguments of xacro, as xacro's own command line does."""
    try:
        pairs(text, ' ', ':=')
    except ValueError as error:
        return str(error)
    return ''


def ros_namespace(name: str) -> str:
    """
    Check that a text is a ROS namespace.

    >>> ros_namespace('a-b')
    "'a-b' is not a ROS namespace (letters, digits and _, separated by /); did you mean 'a_b'?"
    """
    if name in ('', '/') or (_ROS_NAMESPACE.fullmatch(name) and '__' not in name):
        return ''
    near = re.sub(r'_+', '_', re.sub(r'[^A-Za-z0-9_/]', '_', name)).strip('/')
    near = '/'.join(f'_{part}' if part[:1].isdigit() else part for part in near.split('/') if part)
    problem = f'{shown(name)} is not a ROS namespace (letters, digits and _, separated by /)'
    return f'{problem}; did you mean {shown(near)}?' if near != name and near else problem


def bundled_world(name: str) -> str:
    """Check that a name is a bundled world."""
    from urlab_ros_bridge.models import world_names

    names = world_names()
    return '' if not name or name in names else f'unknown world {shown(name)}; {hint(name, names)}'


def bind_address(text: str) -> str:
    """Check that a text is an IP address, * or a network interface, as ZeroMQ binds them."""
    interfaces = [name for _, name in socket.if_nameindex()]
    if text in ('*', 'localhost', *interfaces):
        return ''
    try:
        ipaddress.ip_address(text.strip('[]'))
    except ValueError:
        valid = hint(text, ['127.0.0.1', '0.0.0.0', *interfaces])
        return f'{shown(text)} is neither an IP address nor a network interface; {valid}'
    return ''


def chiral_profile(name: str) -> str:
    """Check that a text is a bundled profile or a file."""
    return _bundled_or_file(name, PROFILES, 'profile')


def policy_file(name: str) -> str:
    """Check that a text is a bundled policy or a file."""
    return _bundled_or_file(name, POLICIES, 'policy')


def _bundled_or_file(name: str, folder: str, what: str) -> str:
    names = shipped_names(folder, '.yaml')
    if not name or name in names or not existing_file(name):
        return ''
    return f'there is no file and no bundled {what} {shown(name)}; {hint(name, names)}'
