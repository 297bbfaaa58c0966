# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of bags."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.files import COMPRESSIONS
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema.patterns import pattern_problem


def _patterns(value: tuple[str, ...]) -> str:
    """Return what is wrong with the first of some patterns that cannot be read."""
    return next(filter(None, map(pattern_problem, value)), '')


@dataclass(frozen=True)
class BagParameters:
    """Where and how bags are written."""

    bag: str = key(
        '',
        'Record a bag with this name from the first tick. "auto": a name made from the date; '
        'empty: no bag until the service bag_start is called.',
    )
    bag_topics: tuple[str, ...] = key(
        ('auto',),
        'Default topics of a bag: names, or regular expressions for whole names. ["auto"]: all '
        'except images, camera_info and point clouds, which would be rendered for it. Time and '
        'transforms are always included.',
        check=_patterns,
        live=True,
    )
    bag_compression: str = key(
        'zstd',
        'Compression of bags, in chunks of about one megabyte.',
        choices=COMPRESSIONS,
        live=True,
    )
