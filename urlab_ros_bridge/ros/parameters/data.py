# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The data folder, for all that reads and writes files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from urlab_ros_bridge.files import default_data_dir
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class DataParameters:
    """Where files are read and written."""

    data_dir: str = key(
        '',
        "Data folder; bags are written to Bags below it. Empty: urlab in the user's data folder "
        '($XDG_DATA_HOME or ~/.local/share).',
    )
    allow_absolute_paths: bool = key(
        False,
        'Allow bag_start to write bags outside the data folder, and the standard services to '
        'spawn and list models outside it and ROS packages.',
    )

    @property
    def data_folder(self) -> Path:
        """The data folder, which may not exist yet."""
        return Path(self.data_dir or default_data_dir())
