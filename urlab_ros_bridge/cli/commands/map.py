# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab map`: draw the occupancy grid of a world for map_server of Nav2."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.checks import bundled_world
from urlab_ros_bridge.cli.arguments.checks import existing_file
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import DEFAULT_WORLD
from urlab_ros_bridge.cli.arguments.groups import PATH
from urlab_ros_bridge.cli.packages import require
from urlab_ros_bridge.maps.height_choice import height_problem
from urlab_ros_bridge.maps.height_choice import numbers
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import KeyProblem

if TYPE_CHECKING:
    from urlab_ros_bridge.maps.floor_map import FloorMap
    from urlab_ros_bridge.maps.floor_map import MappedWorld
    from urlab_ros_bridge.sim.model.world import World


def _region_problem(text: str) -> str:
    if not text or numbers(text, ',', (4,)):
        return ''
    return f'must be 4 numbers separated by ",", not {text!r}'


@dataclass(frozen=True, kw_only=True)
class MapArguments(Arguments):
    """The arguments of `urlab map`."""

    world: str = key(DEFAULT_WORLD, 'Bundled world to draw.', metavar='NAME', check=bundled_world)
    model: str = key(
        '',
        'MJCF file or sidecar (YAML) to draw instead of a bundled world.',
        check=existing_file,
        **PATH,
    )
    prefix: str = key(
        '',
        'Name of the robot on the wire, or of the first of several; default: from the world.',
        metavar='P',
    )
    output: str = key(
        '',
        'Files to write, FILE.pgm and FILE.yaml; default: the name of the world, in the current '
        'folder.',
        **PATH,
    )
    height: str = key(
        'auto',
        'Obstacles to draw: "scanner" for those at the height of the scanner, "robot" for all '
        'that the robot would collide with, a height (m), or a range of heights (0.1:0.6). auto '
        'is scanner for a robot that has one, else robot.',
        metavar='auto|scanner|robot|M|FROM:TO',
        check=height_problem,
    )
    movable: bool = key(
        False, 'Also draw movable objects, at their initial positions; never robots.'
    )
    resolution: float = key(0.05, 'Cell size (m).', metavar='M', above=0.0, unit='m')
    margin: float = key(
        1.0,
        'Width of the border around the drawn area (m).',
        metavar='M',
        low=0.0,
        unit='m',
    )
    region: str = key(
        '',
        'Extent of the map instead of the automatic one: smallest x and y, then largest (m): '
        '--region=-5,-4,5,4.',
        metavar='X0,Y0,X1,Y1',
        check=_region_problem,
    )

    def check(self) -> None:
        """Refuse a bundled world together with a model."""
        if self.model and self.world != DEFAULT_WORLD:
            raise KeyProblem('model', 'world and model are mutually exclusive: give one of them')


def mapped_world(world: World) -> MappedWorld:
    """Return what a map is drawn of, for a world of the server."""
    from urlab_ros_bridge.maps.floor_map import MappedWorld

    scanners = {robot.prefix: tuple(robot.lidars) for robot in world.spec.articulations}
    return MappedWorld(world.model, world.data, [*world.articulations.values()], scanners)


def draw(values: MapArguments) -> tuple[FloorMap, str]:
    """
    Draw the map; return it with a description.

    :raises UrlabError: when it cannot be drawn.
    """
    require('map')
    from urlab_ros_bridge.maps.floor_map import draw_floor_map
    from urlab_ros_bridge.maps.map_heights import chosen_heights
    from urlab_ros_bridge.maps.map_heights import planes
    from urlab_ros_bridge.sim.config import ServerConfig
    from urlab_ros_bridge.sim.model.world import load_world

    model = Path(values.model) if values.model else None
    loaded = load_world(ServerConfig(values.world, model, values.prefix or None))
    world = mapped_world(loaded)
    low, high = chosen_heights(world, values.height)
    region = None
    if corners := numbers(values.region, ',', (4,)):
        x0, y0, x1, y1 = corners
        region = (x0, y0, x1, y1)
    drawn = draw_floor_map(
        world, planes(low, high), values.resolution, values.margin, region, values.movable
    )
    span = f'{low:.3g} m' if low == high else f'{low:.3g} m to {high:.3g} m'
    return drawn, f'{loaded.name}: solid geometry at {span}'


def run(given: ParsedArguments[MapArguments]) -> int:
    """Draw the map and write its files."""
    values = given.values
    drawn, comment = draw(values)
    from urlab_ros_bridge.maps.map_files import write_map

    target = Path(values.output or (Path(values.model).stem if values.model else values.world))
    if target.suffix in ('.pgm', '.yaml'):
        target = target.with_suffix('')
    files = write_map(drawn, target, comment)
    rows, columns = drawn.cells.shape
    print(f'{comment}; {columns} x {rows} cells of {drawn.resolution:g} m')
    print(*files, sep='\n')
    return 0


COMMAND = Command(
    name='map',
    summary='Draw the map of a world for Nav2.',
    text='Draw the occupancy grid of a world from its geometry, as two files for map_server of\n'
    'Nav2. The map frame is the world frame, where odom has its origin. Robots are omitted;\n'
    'areas that no robot can reach are unknown. Needs no ROS and no server.',
    section=MapArguments,
    run=run,
    examples=(
        ('urlab map', 'rover.pgm and rover.yaml: what the scanner detects'),
        ('urlab map --height robot --movable', 'everything the robot would collide with'),
        ('urlab map --model my_house.xml --height 0.1:0.6 --output maps/house', 'your own MJCF'),
    ),
)
