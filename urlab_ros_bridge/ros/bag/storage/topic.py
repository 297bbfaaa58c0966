# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The description of a topic in a bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclpy.qos import QoSProfile
import yaml

# rmw's "infinite", as rosbag2 writes it.
_FOREVER = {'sec': 9223372036, 'nsec': 854775807}
_SECOND = 1_000_000_000


@dataclass(frozen=True)
class BagTopic:
    """
    One topic.

    :ivar kind: package/msg/Type.
    :ivar qos: its profile in YAML, a list with one element, as rosbag2 stores it.
    """

    name: str
    kind: str
    qos: str


def kind_of(message_type: type[Any]) -> str:
    """
    Return the ROS name of a message class.

    >>> from std_msgs.msg import Header
    >>> kind_of(Header)
    'std_msgs/msg/Header'
    """
    package, folder, _ = message_type.__module__.split('.', 2)
    return f'{package}/{folder}/{message_type.__name__}'


def qos_text(profile: QoSProfile) -> str:
    """Return a profile in the YAML of rosbag2 (metadata version 9)."""
    return yaml.safe_dump(
        [
            {
                'history': _name(profile.history, 'keep_last'),
                'depth': profile.depth,
                'reliability': _name(profile.reliability, 'reliable'),
                'durability': _name(profile.durability, 'volatile'),
                'deadline': _time(profile.deadline.nanoseconds),
                'lifespan': _time(profile.lifespan.nanoseconds),
                'liveliness': _name(profile.liveliness, 'automatic'),
                'liveliness_lease_duration': _time(profile.liveliness_lease_duration.nanoseconds),
                'avoid_ros_namespace_conventions': profile.avoid_ros_namespace_conventions,
            }
        ],
        sort_keys=False,
    )


def _name(policy: Any, default: str) -> str:
    name = policy.name.lower()
    return default if name in ('system_default', 'unknown', 'best_available') else name


def _time(nanoseconds: int) -> dict[str, int]:
    # Zero is "not set", which is infinite.
    if nanoseconds <= 0:
        return dict(_FOREVER)
    second, rest = divmod(nanoseconds, _SECOND)
    return {'sec': second, 'nsec': rest}
