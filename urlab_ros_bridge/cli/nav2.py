# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What launch/nav2.launch.py takes and starts beside Nav2, as tables; and which files Nav2 gets.

Arguments have the names of Nav2's own launch files.  There is no namespace: the topics in the
parameters of Nav2 are absolute, as Jazzy needs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import replace
import os
from pathlib import Path

from urlab_ros_bridge.cli.arguments import Argument
from urlab_ros_bridge.cli.arguments import UP_ARGUMENTS
from urlab_ros_bridge.cli.errors import CliError
from urlab_ros_bridge.cli.errors import FileMissing
from urlab_ros_bridge.cli.processes import Process
from urlab_ros_bridge.cli.processes import PROCESSES
from urlab_ros_bridge.cli.shipped import shipped_file

GROUND_TRUTH = 'ground_truth'
LOCALIZATIONS = (GROUND_TRUTH, 'amcl')
# A launch configuration that follows from the localisation.
MAP_TO_ODOM = 'publish_map_to_odom'


class Nav2NotFound(CliError):
    """The package nav2_bringup is not installed."""

    def __init__(self, distribution: str) -> None:
        start = f'ros-{distribution or "DISTRO"}'
        super().__init__(
            f'Nav2 is not installed: sudo apt install {start}-navigation2 {start}-nav2-bringup'
        )


class NoNav2File(CliError):
    """A world has no map or no parameters of its own, and none were given."""

    def __init__(self, argument: str, world: str, remedy: str) -> None:
        super().__init__(f'no file is shipped as {argument} of {world!r}: {remedy}')


_BY_HAND = (
    Argument(
        'map',
        'Map for map_server; default: config/nav2/maps/WORLD.yaml of the package. "urlab map" '
        'draws one.',
        metavar='FILE',
    ),
    Argument(
        'params_file',
        'Parameters of Nav2; default: config/nav2/WORLD.yaml of the package.',
        metavar='FILE',
    ),
    Argument(
        'localization',
        'ground_truth: the bridge says where the map is, so the robot knows its true place. amcl: '
        'AMCL finds it out from scans.',
        GROUND_TRUTH,
        LOCALIZATIONS,
    ),
    Argument('autostart', 'Start the nodes of Nav2 at once, without asking.', True),
    Argument('use_composition', 'Run the nodes of Nav2 in one process.', True),
)
_INSTEAD = {
    'params_file': Argument(
        'bridge_params_file',
        'YAML file with the parameters of the bridge.',
        shipped='config/bridge.yaml',
        metavar='FILE',
    ),
    'rviz': Argument('rviz', 'Start RViz, when it is installed: 2D Goal Pose sends a goal.', True),
    'rviz_config': Argument(
        'rviz_config', 'What RViz shows.', shipped='config/nav2/nav2.rviz', metavar='FILE'
    ),
}
_LEFT_OUT = ('namespace', 'chiral', 'chiral_port', 'chiral_profile')


def _arguments() -> Iterator[Argument]:
    yield from _BY_HAND
    for argument in UP_ARGUMENTS:
        if argument.name not in _LEFT_OUT:
            yield _INSTEAD.get(argument.name, argument)


def _processes() -> Iterator[Process]:
    for process in PROCESSES:
        if process.name == 'bridge':
            yield replace(
                process,
                params_file='bridge_params_file',
                ros_parameters=(*process.ros_parameters, (MAP_TO_ODOM, MAP_TO_ODOM)),
            )
        elif process.name != 'chiral':
            yield process


NAV2_ARGUMENTS = tuple(_arguments())
NAV2_PROCESSES = tuple(_processes())


def nav2_files(values: Mapping[str, str]) -> tuple[str, str]:
    """
    Return the map and the parameters that Nav2 gets.

    :param values: the launch arguments by name.
    :raises NoNav2File: when none was given and none is shipped for the world.
    :raises FileMissing: when the one that was given is not there.
    """
    model = values.get('model', '')
    world = Path(model).stem if model else values['world']
    source = f'--model {model}' if model else f'--world {world}'
    remedies = {
        'map': (
            'config/nav2/maps',
            f'draw one with "urlab map {source} --height robot", and give map:={world}.yaml',
        ),
        'params_file': (
            'config/nav2',
            'copy config/nav2/rover.yaml, set radius and speeds of your robot, and give '
            'params_file:=FILE',
        ),
    }
    found = []
    for name, (folder, remedy) in remedies.items():
        given = values.get(name, '')
        own = shipped_file(f'{folder}/{world}.yaml')
        if given and not Path(given).is_file():
            raise FileMissing(name, given)
        if not given and (model or not own.is_file()):
            raise NoNav2File(name, world, remedy)
        found.append(given or str(own))
    return found[0], found[1]


def find_nav2(environ: Mapping[str, str] = os.environ) -> Path:
    """
    Return the share folder of nav2_bringup.

    :raises Nav2NotFound: when it is in none of the prefixes.
    """
    for prefix in environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        share = Path(prefix, 'share', 'nav2_bringup')
        if prefix and (share / 'launch' / 'bringup_launch.py').is_file():
            return share
    raise Nav2NotFound(environ.get('ROS_DISTRO', ''))
