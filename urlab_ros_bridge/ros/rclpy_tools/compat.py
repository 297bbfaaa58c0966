# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Interfaces that may not be installed.

The standard messages come with rclpy.  `tf2_msgs`, `control_msgs`, `moveit_msgs` and others are
not among the wheels of a machine without a ROS installation, and `urlab_msgs` is built from this
project: they are imported here and nowhere else, so that the caller decides what to leave out, and
a message says once what to install.
"""

from __future__ import annotations

import importlib
from typing import Any

from urlab_ros_bridge.wire.errors import UnknownName
from urlab_ros_bridge.wire.errors import UrlabError

TF_MESSAGE = 'tf2_msgs/msg/TFMessage'
SENSOR_STAMPED = 'urlab_msgs/msg/SensorStamped'

_SET_UP = 'run `make setup`, then `. ./env.sh`'
_HOW_TO_INSTALL = {
    'simulation_interfaces': 'on a ROS installation, install its package simulation_interfaces; '
    f'else {_SET_UP}',
    'tf2_msgs': f'on a ROS installation, install its package tf2_msgs; else {_SET_UP}',
    'urlab_msgs': 'build it with `colcon build --base-paths . msg` and source '
    f'install/local_setup.bash; without a ROS installation {_SET_UP}',
}


class InterfaceMissing(UrlabError, ImportError):
    """The Python package of an interface cannot be imported."""

    def __init__(self, name: str, cause: ImportError) -> None:
        package = name.partition('/')[0]
        advice = _HOW_TO_INSTALL.get(package, f'install the ROS package {package}')
        super().__init__(f'{name} is not available ({cause}); {advice}')
        self.interface = name


def load_interface(name: str) -> Any:
    """
    Import an interface by its ROS name.

    :param name: package/msg/Type or package/srv/Type.
    :return: the message or service class.
    :raises InterfaceMissing: with what to install.
    :raises UnknownName: when the package is there, but has no such type.

    >>> load_interface('std_msgs/msg/Header').__name__
    'Header'
    """
    package, kind, typename = name.split('/')
    try:
        module = importlib.import_module(f'{package}.{kind}')
    except ImportError as error:
        raise InterfaceMissing(name, error) from error
    try:
        return getattr(module, typename)
    except AttributeError:
        names = [key for key in vars(module) if key[0].isupper()]
        raise UnknownName(f'{package} interface', typename, names) from None


def find_interface(name: str) -> Any | None:
    """Import an interface, or return None when its package is not installed."""
    try:
        return load_interface(name)
    except InterfaceMissing:
        return None
