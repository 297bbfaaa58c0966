# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab setup`: make the virtual environment of the simulator and the gateways."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import PATH
from urlab_ros_bridge.cli.own_environment import make_environment
from urlab_ros_bridge.cli.own_environment import unknown_part
from urlab_ros_bridge.schema import key


@dataclass(frozen=True, kw_only=True)
class SetupArguments(Arguments):
    """The arguments of `urlab setup`."""

    with_: str = key(
        '',
        'Further parts, separated by commas: chiral, webxr, urdf, robots, bags, eval, video, '
        'policy, ray, lerobot. Parts that are installed stay.',
        metavar='PART,...',
        longest=4096,
        separator=',',
        check=unknown_part,
    )
    wheelhouse: str = key(
        '',
        'Folder of wheels to install from, without network.',
        **{**PATH, 'metavar': 'DIR'},
    )


def run(given: ParsedArguments[SetupArguments]) -> int:
    """Make the environment, or add to it."""
    values = given.values
    parts = {part for part in values.with_.split(',') if part}
    print(make_environment(parts, Path(values.wheelhouse) if values.wheelhouse else None))
    return 0


COMMAND = Command(
    name='setup',
    summary='Install the simulator and the gateways beside ROS.',
    text='Install MuJoCo and what the gateways need into a virtual environment of their own, in\n'
    'the pinned versions; the Python of the system and of ROS stays as it is. Launch files and\n'
    '`urlab` find the environment without activation. Run again, it does only what is missing.',
    section=SetupArguments,
    run=run,
    examples=(
        ('urlab setup', 'the simulator'),
        ('urlab setup --with webxr,urdf', 'also the browser page, and robots from URDF'),
        ('urlab setup --wheelhouse wheels', 'on a machine without internet'),
    ),
)
