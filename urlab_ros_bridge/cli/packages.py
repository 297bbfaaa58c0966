# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Packages that only some commands need."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from urlab_ros_bridge.cli.errors import CliError
from urlab_ros_bridge.cli.errors import MujocoNotFound
from urlab_ros_bridge.cli.errors import PackageMissing
from urlab_ros_bridge.cli.errors import RosNotFound
from urlab_ros_bridge.cli.signals import ending_at_once

ROS = ('rclpy', 'tf2_msgs.msg', 'urlab_msgs.msg')
_ROS_PACKAGES = tuple(name.partition('.')[0] for name in ROS)


def require(*names: str, extra: str = '') -> None:
    """
    Import packages.

    :param extra: extra of this package that installs them.
    :raises CliError: when one cannot be imported; the message says how to install it.
    """
    for name in names:
        try:
            with ending_at_once():
                import_module(name)
        except ImportError as error:
            raise missing(name, error, extra) from None


def missing(name: str, cause: ImportError | str, extra: str = '') -> CliError:
    """Return the error for a package that cannot be imported."""
    if name.partition('.')[0] in _ROS_PACKAGES:
        return RosNotFound(str(cause))
    if name == 'mujoco':
        return MujocoNotFound(cause)
    return PackageMissing(extra, cause)


def is_importable(name: str) -> bool:
    """Return whether a top-level package is installed; it is not imported."""
    try:
        return find_spec(name) is not None
    except ValueError:  # sys.modules has None for it
        return False
