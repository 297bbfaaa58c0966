# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab import`: convert a URDF, xacro or SDF to MJCF, meshes and a sidecar."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from urlab_ros_bridge.cli.arguments.checks import model_file
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import FOLDER
from urlab_ros_bridge.cli.arguments.groups import ImportArguments
from urlab_ros_bridge.cli.arguments.groups import LogLevel
from urlab_ros_bridge.cli.arguments.groups import PATH
from urlab_ros_bridge.cli.logs import set_up_logging
from urlab_ros_bridge.cli.packages import require
from urlab_ros_bridge.robot_import.options import is_sdf
from urlab_ros_bridge.schema import key


@dataclass(frozen=True, kw_only=True)
class FileArguments(ImportArguments):
    """Files."""

    robot: str = key(
        text='URDF, xacro or SDF file, or the folder of an SDF model.', positional=True,
        check=model_file, **PATH,
    )  # fmt: skip
    out: str = key('robot', 'Folder to write to.', **FOLDER)
    overwrite: bool = key(False, 'Replace files that are in the folder already.')
    check: bool = key(
        False,
        'Write nothing; print what of the robot is repaired, left out or guessed, and how much of '
        'it is served.',
    )


@dataclass(frozen=True, kw_only=True)
class RobotFileArguments(FileArguments, LogLevel):
    """The arguments of `urlab import`."""


def run(given: ParsedArguments[RobotFileArguments]) -> int:
    """Write the files and print the command that serves them, or what would be changed."""
    values = given.values
    # What is printed is not logged as well.
    printed = values.check and not is_sdf(Path(values.robot))
    set_up_logging('error' if printed else values.log_level)
    require('import')
    from urlab_ros_bridge.robot_import.descriptions import check_description
    from urlab_ros_bridge.robot_import.descriptions import export_world

    if values.check:
        print('\n'.join(check_description(Path(values.robot), values.import_options())))
        return 0
    sidecar = export_world(
        Path(values.robot), values.import_options(), Path(values.out), values.overwrite
    )
    print(f'urlab server --model {sidecar}')
    return 0


COMMAND = Command(
    name='import',
    summary='Write a URDF, xacro or SDF as MJCF, meshes and a sidecar.',
    text='Write a robot (URDF, xacro, SDF) or a world (SDF) into a self-contained folder: MJCF,\n'
    'meshes, a scene, and the sidecar for "urlab server --model". To serve it without editing,\n'
    '"urlab server --model" takes the file itself. Needs no ROS and no server.',
    section=RobotFileArguments,
    run=run,
    examples=(
        ('urlab import my_robot.urdf', 'into the folder robot'),
        (
            'urlab import my_robot.xacro --xacro-arg hand:=true --out with_hand',
            'a xacro with an argument',
        ),
        ('urlab import my_robot.urdf --check', 'what differs from the URDF; writes nothing'),
    ),
)
