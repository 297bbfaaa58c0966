# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Occupancy grids of a world, cut from its geometry.

A cell is occupied when a surface of something solid crosses it in one of the horizontal planes
that are looked at.  The planes are searched with rays along both axes, four for each cell and
axis, each followed through everything that it meets; so every shape counts that a ray can meet:
primitives, meshes, height fields.  What is solid is what a scanner sees (`sensors/lidar.py`):
geoms with contype or conaffinity.  Robots never count, and what can move only when asked for.

Cells that a robot can reach from where it starts are free, all others (the inside of obstacles,
the outside of a closed room) unknown.  The frame is that of the world.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import copy
from dataclasses import dataclass
from dataclasses import field

import mujoco
import numpy as np
from numpy.typing import NDArray

from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.wire.errors import UrlabError

# Values of nav_msgs/OccupancyGrid.
OCCUPIED = 100
FREE = 0
UNKNOWN = -1

RAYS_PER_CELL = 4
MOST_CELLS = 4_000_000
_SEARCHED = np.array([1, 0, 0, 0, 0, 0], dtype=np.uint8)
# From a surface to the next ray's start, and into the cell that the surface belongs to (m).
_STEP = 1e-6

Region = tuple[float, float, float, float]


class NoMap(UrlabError):
    """A world cannot be drawn as asked: nothing to draw, or too much."""


@dataclass(frozen=True)
class MappedWorld:
    """
    A world to draw: of the server, or of a client.

    :ivar data: with the poses of everything.
    :ivar scanners: prefix -> names of the planar scanners of the robot, which are sensors.
    """

    model: mujoco.MjModel
    data: mujoco.MjData
    robots: Collection[RobotModel]
    scanners: Mapping[str, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FloorMap:
    """
    An occupancy grid.

    :ivar cells: (rows, columns) of OCCUPIED, FREE and UNKNOWN; row 0 has the smallest y, as in
        nav_msgs/OccupancyGrid.
    :ivar resolution: side of a cell (m).
    :ivar origin: x, y of the corner of cell [0, 0] in the world (m).
    """

    cells: NDArray[np.int8]
    resolution: float
    origin: tuple[float, float]


def draw_floor_map(
    world: MappedWorld,
    heights: Sequence[float],
    resolution: float = 0.05,
    margin: float = 1.0,
    region: Region | None = None,
    movable: bool = False,
) -> FloorMap:
    """
    Return the map of a world, as it is now, at some heights taken together.

    :param heights: z of the horizontal planes in the world (m).
    :param resolution: side of a cell (m).
    :param margin: width of the border around all that is drawn (m).
    :param region: x and y of the smallest, then of the largest corner (m) instead of that.
    :param movable: draw what can move too, but for robots.
    :raises NoMap: when nothing solid crosses the planes, or the grid would be too large.
    """
    eyes, solid = _seen(world, movable)
    low, high = boxes(world, solid)
    starts = _starts(world)
    if region is None:
        any_plane = np.any([_crosses(low, high, height) for height in heights], axis=0)
        region = _extent(low, high, any_plane, starts, margin)
    origin, shape = _grid(region, resolution)
    occupied = np.zeros(shape, dtype=bool)
    left, upright = np.full(len(solid), True), _are_upright(world, solid)
    for height in heights:
        crossing = left & _crosses(low, high, height)
        if crossing.any():
            eyes.geom_group[:] = 1
            eyes.geom_group[solid[crossing]] = 0
            _cut(eyes, world.data, height, origin, resolution, occupied)
        # Those have one section at every height; planes that only touch a box may miss it.
        left &= ~(upright & (low[:, 2] + _STEP < height) & (height < high[:, 2] - _STEP))
    cells = np.where(occupied, OCCUPIED, UNKNOWN).astype(np.int8)
    reached = [_cell(start, origin, resolution) for start in starts]
    _flood(cells, reached)
    return FloorMap(cells, resolution, origin)


def is_solid(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """Return which geoms can touch something."""
    return (model.geom_contype != 0) | (model.geom_conaffinity != 0)


def _are_upright(world: MappedWorld, geoms: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which geoms are boxes or cylinders that stand upright."""
    kinds = (mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER)
    upright = np.abs(world.data.geom_xmat[geoms, 8]) > 1.0 - 1e-9
    return upright & np.isin(world.model.geom_type[geoms], kinds)


def _seen(world: MappedWorld, movable: bool) -> tuple[mujoco.MjModel, NDArray[np.intp]]:
    """Return a copy of the model in which no geom is in group 0, and the geoms that count."""
    model = world.model
    eyes = copy.copy(model)
    eyes.geom_group[:] = 1
    # Rays pass through what is transparent.
    eyes.geom_matid[:] = -1
    eyes.geom_rgba[:, 3] = 1.0
    robots = [body.id for robot in world.robots for body in robot.bodies.values()]
    counts = is_solid(model) & ~np.isin(model.geom_bodyid, robots)
    if not movable:
        fixed = (model.body_weldid == 0) & (model.body_mocapid[model.body_rootid] < 0)
        counts &= fixed[model.geom_bodyid]
    # A level floor is never cut, and has no end.
    upright = world.data.geom_xmat[:, 8] > 1.0 - 1e-9
    counts &= ~((model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE) & upright)
    return eyes, np.flatnonzero(counts)


def boxes(world: MappedWorld, geoms: NDArray[np.intp]) -> tuple[NDArray, NDArray]:
    """Return the smallest and the largest corner (n, 3) of each geom's box in the world."""
    model, data = world.model, world.data
    turned = data.geom_xmat[geoms].reshape(-1, 3, 3)
    middle = data.geom_xpos[geoms] + np.einsum('nij,nj->ni', turned, model.geom_aabb[geoms, :3])
    half = np.einsum('nij,nj->ni', np.abs(turned), model.geom_aabb[geoms, 3:])
    half[model.geom_type[geoms] == mujoco.mjtGeom.mjGEOM_PLANE] = np.inf
    return middle - half, middle + half


def _crosses(low: NDArray, high: NDArray, height: float) -> NDArray[np.bool_]:
    return (low[:, 2] <= height) & (height <= high[:, 2])


def _starts(world: MappedWorld) -> list[tuple[float, float]]:
    """Return where the robots stand."""
    return [
        tuple(world.data.xpos[robot.first_body.id][:2].tolist())
        for robot in world.robots
        if robot.first_body is not None
    ]


def _extent(
    low: NDArray,
    high: NDArray,
    crossing: NDArray[np.bool_],
    starts: Sequence[tuple[float, float]],
    margin: float,
) -> Region:
    finite = crossing & np.isfinite(low).all(axis=1)
    if not finite.any():
        raise NoMap('there is nothing solid at that height: choose another one, or give a region')
    corners = np.vstack([low[finite, :2], high[finite, :2], *starts])
    x0, y0 = corners.min(axis=0) - margin
    x1, y1 = corners.max(axis=0) + margin
    return float(x0), float(y0), float(x1), float(y1)


def _grid(region: Region, resolution: float) -> tuple[tuple[float, float], tuple[int, int]]:
    """Return origin and (rows, columns); cells begin at whole multiples of their side."""
    first = np.floor(np.array(region[:2]) / resolution + 1e-9)
    last = np.ceil(np.array(region[2:]) / resolution - 1e-9)
    columns, rows = (last - first).astype(int).tolist()
    if rows < 1 or columns < 1:
        raise NoMap(f'the region {region} has no area: give x0, y0, x1, y1')
    if rows * columns > MOST_CELLS:
        raise NoMap(
            f'a map of {columns} x {rows} cells is too large (at most {MOST_CELLS}): '
            'choose a coarser resolution, or a region'
        )
    x, y = np.round(first * resolution, 9).tolist()
    return (x, y), (rows, columns)


def _cut(
    eyes: mujoco.MjModel,
    data: mujoco.MjData,
    height: float,
    origin: tuple[float, float],
    resolution: float,
    occupied: NDArray[np.bool_],
) -> None:
    """Mark the cells in which a surface crosses the plane at `height`."""
    # Planes are met from the front only.
    planes = (eyes.geom_group == 0) & (eyes.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)
    for axis, sign in ((0, 1), (1, 1), (0, -1), (1, -1))[: 4 if planes.any() else 2]:
        across = 1 - axis
        along, lines = occupied.shape[::-1][axis], occupied.shape[::-1][across]
        length = along * resolution
        direction = np.zeros(3)
        direction[axis] = sign
        start = np.full(3, height)
        start[axis] = origin[axis] + (length if sign < 0 else 0.0)
        for line in range(lines * RAYS_PER_CELL):
            start[across] = origin[across] + (line + 0.5) * resolution / RAYS_PER_CELL
            for place in _surfaces(eyes, data, start, direction, length):
                cell = int((place if sign > 0 else length - place) / resolution)
                if 0 <= cell < along:
                    index = (line // RAYS_PER_CELL, cell)
                    occupied[index if axis == 0 else index[::-1]] = True


def _surfaces(
    eyes: mujoco.MjModel,
    data: mujoco.MjData,
    start: NDArray,
    direction: NDArray,
    length: float,
) -> Iterable[float]:
    """
    Yield how far along a ray something solid begins and ends, up to `length` (m).

    A place is moved a little into what begins or ends there: a face between two cells belongs to
    the one behind it.
    """
    met = np.empty(1, dtype=np.int32)
    within: set[int] = set()
    travelled = 0.0
    while True:
        origin = start + direction * travelled
        distance = mujoco.mj_ray(eyes, data, origin, direction, _SEARCHED, 1, -1, met)
        if distance < 0 or travelled + distance > length:
            return
        travelled += distance + _STEP
        geom = int(met[0])
        # The step that leads past the surface leads into what begins there, and out of what ends.
        yield travelled - (2 * _STEP if geom in within else 0.0)
        within ^= {geom}


def _cell(
    place: tuple[float, float], origin: tuple[float, float], resolution: float
) -> tuple[int, int]:
    """Return row and column."""
    column, row = (int((p - o) // resolution) for p, o in zip(place, origin, strict=True))
    return row, column


def _flood(cells: NDArray[np.int8], starts: Iterable[tuple[int, int]]) -> None:
    """Make every cell free that can be reached over edges from a start, without starts all."""
    rows, columns = cells.shape
    inside = [(row, column) for row, column in starts if 0 <= row < rows and 0 <= column < columns]
    if not inside:
        cells[cells == UNKNOWN] = FREE
        return
    # A border of one cell saves the check of the ends.
    framed = np.pad(cells, 1, constant_values=OCCUPIED)
    flat = framed.ravel()
    width = columns + 2
    waiting = deque((row + 1) * width + column + 1 for row, column in inside)
    state = bytearray((flat == UNKNOWN).astype(np.uint8).tobytes())
    while waiting:
        place = waiting.popleft()
        for neighbour in (place, place - 1, place + 1, place - width, place + width):
            if state[neighbour]:
                state[neighbour] = 0
                flat[neighbour] = FREE
                waiting.append(neighbour)
    cells[:] = framed[1:-1, 1:-1]
