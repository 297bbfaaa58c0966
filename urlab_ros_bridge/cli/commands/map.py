# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab map`: draw the occupancy grid of a world for map_server of Nav2."""

from __future__ import annotations

from dataclasses import dataclass
import math
from pathlib import Path
from typing import TYPE_CHECKING

from urlab_ros_bridge.cli.arguments.argument import Arguments
from urlab_ros_bridge.cli.arguments.checks import bundled_world
from urlab_ros_bridge.cli.arguments.checks import existing_file
from urlab_ros_bridge.cli.arguments.command import Command
from urlab_ros_bridge.cli.arguments.command import ParsedArguments
from urlab_ros_bridge.cli.arguments.groups import DEFAULT_WORLD
from urlab_ros_bridge.cli.arguments.groups import PATH
from urlab_ros_bridge.cli.errors import BadArgument
from urlab_ros_bridge.cli.packages import require
from urlab_ros_bridge.files.whole_file import write_whole
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.schema import KeyProblem

if TYPE_CHECKING:
    from urlab_ros_bridge.maps.floor_map import FloorMap
    from urlab_ros_bridge.sim.model.world import World

WORDS = ('auto', 'scanner', 'robot')


def _numbers(text: str, separator: str, counts: tuple[int, ...]) -> tuple[float, ...]:
    """Return the finite numbers of a text; empty when their count is wrong."""
    try:
        found = tuple(float(word) for word in text.split(separator))
    except ValueError:
        return ()
    return found if len(found) in counts and all(map(math.isfinite, found)) else ()


def _height_problem(text: str) -> str:
    if text in WORDS:
        return ''
    found = _numbers(text, ':', (1, 2))
    if not found:
        return (
            f'must be {", ".join(WORDS)}, a number, or two numbers separated by ":", not {text!r}'
        )
    return f'must go from a lower to a higher number, not {text!r}' if found[0] > found[-1] else ''


def _region_problem(text: str) -> str:
    if not text or _numbers(text, ',', (4,)):
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
        check=_height_problem,
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


def load(values: MapArguments) -> World:
    """
    Load the world.

    :raises MujocoNotFound: when the physics engine is not installed.
    """
    require('mujoco')
    from urlab_ros_bridge.sim.config import ServerConfig
    from urlab_ros_bridge.sim.model.world import load_world

    model = Path(values.model) if values.model else None
    return load_world(ServerConfig(values.world, model, values.prefix or None))


def heights(world: World, text: str) -> tuple[float, float]:
    """
    Return the lowest and the highest plane of `--height` (m).

    :raises BadArgument: when no robot has a scanner.
    """
    from urlab_ros_bridge.maps.map_heights import robot_band
    from urlab_ros_bridge.maps.map_heights import scanner_height

    if text in WORDS:
        scanner = None if text == 'robot' else scanner_height(world)
        if scanner is not None:
            return scanner, scanner
        if text == 'scanner':
            raise BadArgument('--height', 'no robot of this world has a scanner')
        return robot_band(world)
    found = _numbers(text, ':', (1, 2))
    return found[0], found[-1]


def draw(values: MapArguments) -> tuple[FloorMap, str]:
    """
    Draw the map; return it with a description.

    :raises UrlabError: when it cannot be drawn.
    """
    world = load(values)
    from urlab_ros_bridge.maps.floor_map import draw_floor_map
    from urlab_ros_bridge.maps.map_heights import planes

    low, high = heights(world, values.height)
    region = None
    if corners := _numbers(values.region, ',', (4,)):
        x0, y0, x1, y1 = corners
        region = (x0, y0, x1, y1)
    drawn = draw_floor_map(
        world, planes(low, high), values.resolution, values.margin, region, values.movable
    )
    span = f'{low:.3g} m' if low == high else f'{low:.3g} m to {high:.3g} m'
    return drawn, f'{world.name}: solid geometry at {span}'


def _describes_a_map(path: Path) -> bool:
    """Return whether a file describes a map, which a new one may replace."""
    import yaml

    try:
        found = yaml.safe_load(path.read_bytes())
    except (yaml.YAMLError, UnicodeDecodeError):
        return False
    return isinstance(found, dict) and {'image', 'resolution'} <= set(found)


def write(floor_map: FloorMap, comment: str, target: Path) -> list[Path]:
    """
    Write both files; return their paths.  An older map is replaced.

    :raises BadArgument: when another kind of file has the name, such as a sidecar.
    :raises OSError: when one cannot be written.
    """
    from urlab_ros_bridge.maps.map_files import description
    from urlab_ros_bridge.maps.map_files import picture

    target.parent.mkdir(parents=True, exist_ok=True)
    files = [target.with_name(target.name + suffix) for suffix in ('.pgm', '.yaml')]
    if files[1].exists() and not _describes_a_map(files[1]):
        reason = f'{files[1]} exists and is not a map: give the map another name'
        raise BadArgument('--output', reason)
    write_whole(files[0], picture(floor_map))
    write_whole(files[1], description(floor_map, files[0].name, comment).encode())
    return files


def run(given: ParsedArguments[MapArguments]) -> int:
    """Draw the map and write its files."""
    values = given.values
    drawn, comment = draw(values)
    target = Path(values.output or (Path(values.model).stem if values.model else values.world))
    if target.suffix in ('.pgm', '.yaml'):
        target = target.with_suffix('')
    files = write(drawn, comment, target)
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
