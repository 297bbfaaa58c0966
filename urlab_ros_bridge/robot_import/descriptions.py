# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of descriptions that are imported, by the names of their files."""

from __future__ import annotations

from pathlib import Path

from urlab_ros_bridge.robot_import.importing import export_robot
from urlab_ros_bridge.robot_import.importing import import_robot_world
from urlab_ros_bridge.robot_import.options import ImportOptions
from urlab_ros_bridge.robot_import.options import is_sdf
from urlab_ros_bridge.robot_import.sdf.importing import export_sdf
from urlab_ros_bridge.robot_import.sdf.importing import import_sdf_world


def import_world(path: Path, options: ImportOptions) -> Path:
    """
    Import a description into the cache, and return the sidecar of the world with it.

    :raises RobotImportError: with the reason; one class a cause.
    """
    return (import_sdf_world if is_sdf(path) else import_robot_world)(path, options)


def export_world(path: Path, options: ImportOptions, folder: Path, overwrite: bool) -> Path:
    """
    Import a description into a folder of its own, meshes included, and return the sidecar.

    :param overwrite: whether files in the folder may be replaced.
    :raises RobotImportError: as `import_world`; FilesExist.
    :raises OSError: when the folder cannot be written.
    """
    return (export_sdf if is_sdf(path) else export_robot)(path, options, folder, overwrite)
