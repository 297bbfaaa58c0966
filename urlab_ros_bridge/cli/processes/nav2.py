# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Arguments, processes and files of launch/nav2.launch.py.

Arguments are named as in Nav2's own launch files.  There is no namespace: the topics in the
parameters of Nav2 are absolute, as Jazzy requires.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
import os
from pathlib import Path

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.checks import existing_file
from urlab_ros_bridge.cli.arguments.checks import parameter_file
from urlab_ros_bridge.cli.arguments.groups import BRIDGE_FILE
from urlab_ros_bridge.cli.arguments.groups import Interpreter
from urlab_ros_bridge.cli.arguments.groups import LogLevel
from urlab_ros_bridge.cli.arguments.groups import PATH
from urlab_ros_bridge.cli.arguments.groups import Respawn
from urlab_ros_bridge.cli.arguments.groups import Rviz
from urlab_ros_bridge.cli.arguments.suite import SimulationArguments
from urlab_ros_bridge.cli.errors import CliError
from urlab_ros_bridge.cli.processes.table import Process
from urlab_ros_bridge.cli.processes.table import PROCESSES
from urlab_ros_bridge.files.folders import shipped_file
from urlab_ros_bridge.models import world_names
from urlab_ros_bridge.schema import key

GROUND_TRUTH = 'ground_truth'
LOCALIZATIONS = (GROUND_TRUTH, 'amcl')
# Folders of the files that belong to bundled worlds.
_MAPS, _PARAMETERS = 'config/nav2/maps', 'config/nav2'
# Parameter of the bridge that depends on the localisation.
MAP_TO_ODOM = 'publish_map_to_odom'
# Whether the bridge draws the map.
PUBLISH_MAP = 'publish_map'
# Tells the other localisation about resets.
INITIAL_POSE = 'publish_initialpose'
# Wall time (s) for the nodes of Nav2 to read pending messages before time jumps back.  On an
# overloaded machine 0.05 s was too short: a transform of the old time reached a TF buffer that had
# been cleared, and the collision monitor held the robot.
JUMP_SETTLE, NAV2_SETTLES = 'jump_settle_time', 0.3


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
        ready = ', '.join(nav2_worlds())
        super().__init__(
            f'no {argument} is shipped for {world!r} (worlds with one: {ready}): {remedy}'
        )


@dataclass(frozen=True, kw_only=True)
class Navigation(Arguments):
    """Nav2."""

    map: str = key(
        '',
        'Map for map_server; default: config/nav2/maps/WORLD.yaml of the package, or else the map '
        'that the bridge draws of the world. AMCL needs a file: "urlab map" creates one.',
        check=existing_file,
        **PATH,
    )
    params_file: str = key(
        '',
        'Parameters of Nav2; default: config/nav2/WORLD.yaml of the package.',
        check=parameter_file,
        **PATH,
    )
    localization: str = key(
        GROUND_TRUTH,
        'ground_truth: the bridge publishes the true pose of the robot on the map. amcl: AMCL '
        'estimates the pose from scans.',
        choices=LOCALIZATIONS,
    )
    autostart: bool = key(True, 'Activate the nodes of Nav2 on start-up.')
    use_composition: bool = key(True, 'Run the nodes of Nav2 in one process.')


@dataclass(frozen=True, kw_only=True)
class BridgeFile(Arguments):
    """The parameters of the bridge; `params_file` is that of Nav2."""

    bridge_params_file: str = key(
        '',
        'YAML file with the parameters of the bridge.',
        **BRIDGE_FILE,
    )


@dataclass(frozen=True, kw_only=True)
class RvizOfNav2(Rviz):
    """RViz with the panel of Nav2."""

    rviz: bool = key(True, 'Start RViz, if it is installed: 2D Goal Pose sends a goal.')
    rviz_config: str = key(
        '',
        'RViz configuration file.',
        shipped='config/nav2/nav2.rviz',
        check=existing_file,
        **PATH,
    )


@dataclass(frozen=True, kw_only=True)
class Nav2Arguments(
    Navigation, SimulationArguments, BridgeFile, RvizOfNav2, Respawn, Interpreter, LogLevel
):
    """The arguments of nav2.launch.py."""


def _processes() -> Iterator[Process]:
    for process in PROCESSES:
        if process.name == 'bridge':
            yield replace(
                process,
                params_file='bridge_params_file',
                ros_parameters=(
                    *process.ros_parameters,
                    (MAP_TO_ODOM, MAP_TO_ODOM),
                    (PUBLISH_MAP, PUBLISH_MAP),
                    (INITIAL_POSE, INITIAL_POSE),
                    (JUMP_SETTLE, JUMP_SETTLE),
                ),
            )
        elif process.name in ('server', 'rviz'):
            yield process


NAV2_PROCESSES = tuple(_processes())


def nav2_worlds() -> list[str]:
    """Return the bundled worlds with a map and parameters of their own, in alphabetical order."""
    return [
        name
        for name in world_names()
        if all(shipped_file(f'{folder}/{name}.yaml').is_file() for folder in (_MAPS, _PARAMETERS))
    ]


def nav2_files(arguments: Nav2Arguments) -> tuple[str, str]:
    """
    Return the map, empty for that of the bridge, and the parameter file of Nav2.

    :raises NoNav2File: when one is needed, and neither given nor shipped for the world.
    """
    model = arguments.model
    world = Path(model).stem if model else arguments.world
    source = f'--model {model}' if model else f'--world {world}'
    remedies = {
        'map': (
            _MAPS,
            f'draw one with "urlab map {source} --height robot", and give map:={world}.yaml',
        ),
        'params_file': (
            _PARAMETERS,
            'copy config/nav2/rover.yaml, set the radius and speeds of your robot, and give '
            'params_file:=FILE',
        ),
    }
    found = []
    for name, (folder, remedy) in remedies.items():
        given = getattr(arguments, name)
        own = shipped_file(f'{folder}/{world}.yaml')
        shipped = '' if model or not own.is_file() else str(own)
        is_drawn = name == 'map' and arguments.localization == GROUND_TRUTH
        if not (given or shipped or is_drawn):
            raise NoNav2File(name, world, remedy)
        found.append(given or shipped)
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
