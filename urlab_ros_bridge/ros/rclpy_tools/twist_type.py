# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The type of cmd_vel, which differs between distributions."""

from __future__ import annotations

import os

from geometry_msgs.msg import Twist
from geometry_msgs.msg import TwistStamped

TWIST_TYPES = ('auto', 'twist', 'twist_stamped')
# Distributions whose Nav2 and teleop tools send plain Twist unless configured otherwise.
_PLAIN_TWIST = ('foxy', 'galactic', 'humble', 'iron', 'jazzy')


def message_type(setting: str, distribution: str | None = None) -> type:
    """
    Return the type of cmd_vel.

    :param setting: auto, twist or twist_stamped.
    :param distribution: ROS distribution for auto; None: ROS_DISTRO, else what rclpy reports.
    """
    if setting == 'auto':
        known = distribution or os.environ.get('ROS_DISTRO') or _installed_distribution()
        return Twist if known in _PLAIN_TWIST else TwistStamped
    return Twist if setting == 'twist' else TwistStamped


def _installed_distribution() -> str:
    """Distinguish Jazzy from later ones by the parameter API, where ROS is not sourced."""
    from importlib import metadata

    try:
        major = int(metadata.version('ros-rclpy').partition('.')[0])
    except (metadata.PackageNotFoundError, ValueError):
        return ''
    return 'jazzy' if major <= 7 else ''
