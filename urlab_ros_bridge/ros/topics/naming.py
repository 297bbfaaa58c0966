# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which robots have topics, and how their namespaces and frames are called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.parameters.checks import frame_name
from urlab_ros_bridge.ros.parameters.checks import frame_name_or_empty
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.schema import key


def _robots(value: tuple[str, ...]) -> str:
    empty = not value or not all(value)
    return 'contains an empty name; ["auto"] takes all robots' if empty else ''


def _frame_prefix(value: str) -> str:
    wanted = 'tf2 does not allow a leading slash'
    return f'{wanted}, it must not be {value!r}' if value.startswith('/') else ''


@dataclass(frozen=True)
class NamesParameters:
    """Which robots are bridged, and the names of namespaces and frames."""

    robots: tuple[str, ...] = key(
        ('auto',), 'Robots to bridge, by prefix or actor id; ["auto"]: all.', check=_robots
    )
    namespace_robots: str = key(
        'auto',
        'Put a robot\'s topics below its prefix. "auto": only if there are several robots.',
        choices=('auto', 'always', 'never'),
    )
    frame_prefix: str = key(
        '',
        "Prepended to every frame name of a robot; {prefix} stands for the robot's prefix (quote "
        'the value in YAML). Empty: plain names, and a robot with a namespace has its transforms '
        'on tf below that namespace. Otherwise all transforms are on /tf.',
        check=_frame_prefix,
    )
    base_frame: str = key(
        '',
        "Frame of the base. Empty: the server's choice, else base_link.",
        check=frame_name_or_empty,
    )
    footprint_frame: str = key(
        'base_footprint',
        'Frame of the base projected to the floor.',
        check=frame_name,
    )
    odom_frame: str = key(
        'odom',
        'Frame of odometry, with the origin of the world.',
        check=frame_name,
    )
    map_frame: str = key('map', 'Frame of the world: ground truth and entities.', check=frame_name)


def frames_differ(settings: Settings) -> Iterator[str]:
    """Yield which frames have the same name."""
    frames = {
        'base_frame': settings.base_frame or 'base_link',
        'footprint_frame': settings.footprint_frame,
        'odom_frame': settings.odom_frame,
        'map_frame': settings.map_frame,
    }
    for name, frame in frames.items():
        for other in frames:
            if frames[other] == frame and other > name:
                yield f'{name} and {other} are both {frame!r}, must differ'


FEATURE = Feature('names', NamesParameters, group='Names', check=frames_differ)
