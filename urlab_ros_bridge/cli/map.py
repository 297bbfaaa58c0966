# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab map`: draw the occupancy grid of a world, as map_server of Nav2 loads it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import math
from pathlib import Path
import sys
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.arguments import DEFAULT_WORLD
from urlab_ros_bridge.cli.commands import MAP
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.errors import ConflictingArguments
from urlab_ros_bridge.cli.errors import FileMissing
from urlab_ros_bridge.cli.errors import MujocoNotFound
from urlab_ros_bridge.cli.parser import from_launch_style
from urlab_ros_bridge.cli.parser import make_parser
from urlab_ros_bridge.cli.parser import plain_errors

if TYPE_CHECKING:
    from urlab_ros_bridge.sim.floor_map import FloorMap
    from urlab_ros_bridge.sim.world import World

WORDS = ('auto', 'scanner', 'robot')


def numbers(flag: str, text: str, separator: str, counts: tuple[int, ...]) -> list[float]:
    """
    Return the finite numbers of a text.

    :raises BadArgument: when they are not numbers, or not as many as they should be.
    """
    try:
        found = [float(word) for word in text.split(separator)]
    except ValueError:
        found = []
    if len(found) not in counts or not all(map(math.isfinite, found)):
        wanted = ' or '.join(map(str, counts))
        raise BadArgument(flag, text, f'{wanted} numbers with "{separator}" between them')
    return found


def load(values: argparse.Namespace) -> World:
    """
    Return the world that the arguments name.

    :raises MujocoNotFound: when the physics engine is not installed.
    :raises ConflictingArguments: when a world and a model are asked for.
    :raises FileMissing: when the model file is not there.
    """
    try:
        import mujoco  # noqa: F401
    except ImportError as error:
        raise MujocoNotFound(error) from None
    from urlab_ros_bridge.sim.config import ServerConfig
    from urlab_ros_bridge.sim.world import load_world

    if values.model and values.world != DEFAULT_WORLD:
        raise ConflictingArguments('--world', '--model')
    if values.model and not Path(values.model).is_file():
        raise FileMissing('--model', values.model)
    model = Path(values.model) if values.model else None
    return load_world(ServerConfig(values.world, model, values.prefix or None))


def heights(world: World, text: str) -> tuple[float, float]:
    """
    Return the lowest and the highest plane that `--height` asks for (m).

    :raises BadArgument: when it is no height, or asks for a scanner where there is none.
    """
    from urlab_ros_bridge.sim.map_heights import robot_band
    from urlab_ros_bridge.sim.map_heights import scanner_height

    if text in WORDS:
        scanner = None if text == 'robot' else scanner_height(world)
        if scanner is not None:
            return scanner, scanner
        if text == 'scanner':
            raise BadArgument('--height', text, 'possible: no robot of this world has a scanner')
        return robot_band(world)
    try:
        found = numbers('--height', text, ':', (1, 2))
    except BadArgument:
        raise BadArgument(
            '--height', text, f'{", ".join(WORDS)}, a number, or two with ":" between them'
        ) from None
    if found[0] > found[-1]:
        raise BadArgument('--height', text, 'from a lower to a higher one')
    return found[0], found[-1]


def draw(values: argparse.Namespace) -> tuple[FloorMap, str]:
    """
    Return the map, and a line that says how it was made.

    :raises UrlabError: when the world or the arguments do not allow it.
    """
    world = load(values)
    from urlab_ros_bridge.sim.floor_map import draw_floor_map
    from urlab_ros_bridge.sim.map_heights import planes

    low, high = heights(world, values.height)
    region = None
    if values.region:
        region = tuple(numbers('--region', values.region, ',', (4,)))
    if values.resolution <= 0:
        raise BadArgument('--resolution', values.resolution, 'more than 0')
    drawn = draw_floor_map(
        world, planes(low, high), values.resolution, values.margin, region, values.movable
    )
    span = f'{low:.3g} m' if low == high else f'{low:.3g} m to {high:.3g} m'
    return drawn, f'{world.name}: what is solid at {span}'


def write(floor_map: FloorMap, comment: str, target: Path) -> list[Path]:
    """Write both files, and return their paths."""
    from urlab_ros_bridge.sim.map_files import description
    from urlab_ros_bridge.sim.map_files import picture

    target.parent.mkdir(parents=True, exist_ok=True)
    files = [target.with_name(target.name + suffix) for suffix in ('.pgm', '.yaml')]
    files[0].write_bytes(picture(floor_map))
    files[1].write_text(description(floor_map, files[0].name, comment), encoding='utf-8')
    return files


@plain_errors
def main(argv: Sequence[str]) -> int:
    """Run `urlab map` with the words after its name; return the exit code."""
    values = make_parser(MAP).parse_args(from_launch_style(argv, MAP.arguments))
    drawn, comment = draw(values)
    target = Path(values.output or (Path(values.model).stem if values.model else values.world))
    if target.suffix in ('.pgm', '.yaml'):
        target = target.with_suffix('')
    files = write(drawn, comment, target)
    rows, columns = drawn.cells.shape
    print(f'{comment}; {columns} x {rows} cells of {drawn.resolution:g} m')
    print(*files, sep='\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
