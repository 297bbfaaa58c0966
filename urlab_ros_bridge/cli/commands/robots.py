# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab robots`: list the robots of --robot."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.packages import require
from urlab_ros_bridge.schema import key


@dataclass(frozen=True, kw_only=True)
class RobotListArguments(Arguments):
    """The arguments of `urlab robots`."""

    kind: str = key('', 'Only robots of this kind, such as arm or quadruped.', metavar='KIND')


def run(given: ParsedArguments[RobotListArguments]) -> int:
    """Print a line for each robot."""
    require('robots')
    from urlab_ros_bridge.robot_import.menagerie import named_robots

    robots = named_robots()
    chosen = [robot for robot in robots if given.values.kind in ('', robot.kind)]
    for robot in chosen:
        names = f'{robot.name} ({robot.short})' if robot.short else robot.name
        print(f'{names:36} {robot.kind:20} {robot.licence:22} {robot.title}')
    if not chosen:
        print(f'kinds: {", ".join(sorted({robot.kind for robot in robots}))}')
    return 0 if chosen else 1


COMMAND = Command(
    name='robots',
    summary='List the robots that --robot takes.',
    text='List the robots of MuJoCo Menagerie that --robot takes: name, our short name, kind and\n'
    'licence. A robot is downloaded at its first use; with MENAGERIE_ROOT set to a checkout of\n'
    'the Menagerie, nothing is downloaded.',
    section=RobotListArguments,
    run=run,
    examples=(
        ('urlab robots', 'all'),
        ('urlab robots --kind quadruped', 'one kind'),
    ),
)
