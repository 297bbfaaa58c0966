# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of descriptions that are imported, by the names of their files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from urlab_ros_bridge.robot_import.importing import export_robot
from urlab_ros_bridge.robot_import.importing import import_robot
from urlab_ros_bridge.robot_import.importing import import_robot_world
from urlab_ros_bridge.robot_import.options import ImportOptions
from urlab_ros_bridge.robot_import.options import is_sdf
from urlab_ros_bridge.robot_import.sdf.importing import export_sdf
from urlab_ros_bridge.robot_import.sdf.importing import import_sdf
from urlab_ros_bridge.robot_import.sdf.importing import import_sdf_world


def import_world(path: Path, options: ImportOptions) -> Path:
    """
    Import a description into the cache, and return the sidecar of the world with it.

    :raises RobotImportError: with the reason; one class a cause.
    """
    return (import_sdf_world if is_sdf(path) else import_robot_world)(path, options)


def check_description(path: Path, options: ImportOptions) -> list[str]:
    """
    Import a description without writing anything but the caches.

    :return: a line for everything that is repaired, left out (meshes that are missing, too) or
        guessed, part by part, and a summary for each robot.
    :raises RobotImportError: as `import_world`.
    """
    options = replace(options, allow_missing_meshes=True)
    if not is_sdf(path):
        return import_robot(path, options).report.lines()
    robots = import_sdf(path, options).robots
    return [f'{robot.name}: {line}' for robot in robots for line in robot.report.lines()]


def export_world(path: Path, options: ImportOptions, folder: Path, overwrite: bool) -> Path:
    """
    Import a description into a folder of its own, meshes included, and return the sidecar.

    :param overwrite: whether files in the folder may be replaced.
    :raises RobotImportError: as `import_world`; FilesExist.
    :raises OSError: when the folder cannot be written.
    """
    return (export_sdf if is_sdf(path) else export_robot)(path, options, folder, overwrite)
