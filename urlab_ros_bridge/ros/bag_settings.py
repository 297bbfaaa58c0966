# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of bags."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.files import COMPRESSIONS
from urlab_ros_bridge.ros.setting_row import parameter

GROUP = 'Bags'


@dataclass(frozen=True)
class BagSettings:
    """A part of `settings.Settings`."""

    bag: str = parameter(
        '',
        'Record a bag of this name from the first tick on. "auto": a name made from the date; '
        'empty: none, until the service bag_start is called.',
        group=GROUP,
    )
    bag_topics: tuple[str, ...] = parameter(
        ('auto',),
        'Topics of bags that name none: names, or regular expressions for whole names. ["auto"]: '
        'all but pictures and point clouds. Time and transforms are always among them.',
        group=GROUP,
        live=True,
    )
    bag_compression: str = parameter(
        'zstd',
        'Compression of bags, of about a megabyte at a time.',
        group=GROUP,
        choices=COMPRESSIONS,
        live=True,
    )
    data_dir: str = parameter(
        '',
        'Data folder; bags lie in Bags below it. Empty: urlab in the data folder of the user '
        '($XDG_DATA_HOME or ~/.local/share).',
        group=GROUP,
    )
    allow_absolute_paths: bool = parameter(
        False, 'Let bag_start write bags outside the data folder too.', group=GROUP
    )
