# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the user may say about an import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from urlab_ros_bridge.files import FileRefused
from urlab_ros_bridge.files import read_regular
from urlab_ros_bridge.files import ReadableFolders
from urlab_ros_bridge.robot_import.xml_tree import root_tag

BASES = ('auto', 'fixed', 'floating')
UP_AXES = ('raw', 'file')
_ENDINGS = ('.urdf', '.xacro')
_SDF_ENDINGS = ('.sdf', '.world')
_MAX_BYTES = 512 << 20  # of a file


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """
    Settings of one import.

    :ivar package_paths: folders of ROS packages by name; they take precedence.
    :ivar xacro_arguments: arguments of a xacro file by name.
    :ivar srdf: semantic description, whose disabled collisions are excluded; None: the file of the
        same stem beside the URDF, if there is one.
    :ivar base: one of `BASES`: whether the root link is fixed to the world; `auto` decides by the
        robot's shape.
    :ivar allow_missing_meshes: leave out meshes that are missing or unreadable.
    :ivar mesh_up_axis: one of `UP_AXES`: whether the up axis of Collada files is ignored, as in
        RViz, or applied.
    :ivar readable: the folders of a robot from somebody else, who may have files read only there
        and no xacro expanded, which can run code; None: it is the user's own.
    """

    package_paths: Mapping[str, Path] = field(default_factory=dict)
    xacro_arguments: Mapping[str, str] = field(default_factory=dict)
    srdf: Path | None = None
    base: str = 'auto'
    allow_missing_meshes: bool = False
    mesh_up_axis: str = 'raw'
    readable: ReadableFolders | None = None

    def read(self, path: Path) -> bytes:
        """
        Return the content of a file that belongs to the robot.

        :raises FileRefused: with the reason.
        """
        if self.readable is None:
            return read_regular(path, _MAX_BYTES)
        return self.readable.read(path, _MAX_BYTES)


def pairs(text: str, separator: str, sign: str) -> dict[str, str]:
    """
    Return what a text of pairs says.

    >>> pairs('prefix:=left_ gripper:=true', ' ', ':=')
    {'prefix': 'left_', 'gripper': 'true'}

    :raises ValueError: naming the pair that has no sign, or no name before it.
    """
    found = {}
    for part in text.split(separator):
        name, middle, value = part.partition(sign)
        if part and not (name and middle):
            raise ValueError(f'{part!r} must be written NAME{sign}VALUE')
        if part:
            found[name] = value
    return found


def is_robot_description(path: Path) -> bool:
    """Return whether a path is that of a URDF or xacro file, or of SDF."""
    return path.suffix.lower() in _ENDINGS or is_sdf(path) or _is_urdf(path)


def _is_urdf(path: Path) -> bool:
    """Return whether a file called .xml is a URDF or xacro rather than MJCF."""
    if path.suffix.lower() != '.xml':
        return False
    try:
        return root_tag(read_regular(path, _MAX_BYTES)) == 'robot'
    except FileRefused:
        return False


def is_sdf(path: Path) -> bool:
    """Return whether a path is that of an SDF file, or the folder of a model."""
    return path.suffix.lower() in _SDF_ENDINGS or path.is_dir()
