# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a semantic description (SRDF), as MoveIt's setup assistant writes it, says of a robot."""

from __future__ import annotations

from pathlib import Path

from urlab_ros_bridge.files import FileRefused
from urlab_ros_bridge.robot_import.errors import InvalidDescription
from urlab_ros_bridge.robot_import.options import ImportOptions
from urlab_ros_bridge.robot_import.xml_tree import BadXml
from urlab_ros_bridge.robot_import.xml_tree import parse_xml


def disabled_collisions(description: Path, options: ImportOptions) -> set[tuple[str, str]]:
    """
    Return the pairs of links whose collisions an SRDF disables.

    :param description: the robot's file; the SRDF beside it counts if the options name none.
    :raises InvalidDescription: when the SRDF cannot be read.
    """
    path = options.srdf or _beside(description)
    if options.srdf is None and not path.is_file():
        return set()
    try:
        root = parse_xml(options.read(path))
    except (FileRefused, BadXml) as error:
        raise InvalidDescription(path, str(error)) from error
    return {
        (pair.get('link1', ''), pair.get('link2', '')) for pair in root.iter('disable_collisions')
    }


def _beside(description: Path) -> Path:
    return description.parent / f'{description.name.partition(".")[0]}.srdf'
