# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The heights of the planes that a map is cut at: that of a scanner, or those of a robot."""

from __future__ import annotations

import numpy as np

from urlab_ros_bridge.maps.floor_map import boxes
from urlab_ros_bridge.maps.floor_map import is_solid
from urlab_ros_bridge.maps.floor_map import MappedWorld
from urlab_ros_bridge.maps.floor_map import NoMap
from urlab_ros_bridge.maps.height_choice import numbers
from urlab_ros_bridge.maps.height_choice import ROBOT
from urlab_ros_bridge.maps.height_choice import SCANNER

# Robots drive or step over lower obstacles (m).
CLEARANCE = 0.03
# Boards thinner than this may lie between two planes (m).
SPACING = 0.01


def scanner_height(world: MappedWorld) -> float | None:
    """Return the height of the first planar scanner above the world's origin (m), if any."""
    for robot in world.robots:
        for name in world.scanners.get(robot.prefix, ()):
            if name in robot.sensors:
                return float(world.data.site_xpos[robot.sensors[name].object_id, 2])
    return None


def robot_band(world: MappedWorld) -> tuple[float, float]:
    """
    Return the heights between which the first robot would collide with objects (m).

    From CLEARANCE above its lowest point to its highest point, in its initial pose.

    :raises NoMap: when the world has no robot, or one that touches nothing.
    """
    for robot in world.robots:
        bodies = [body.id for body in robot.bodies.values()]
        geoms = np.flatnonzero(is_solid(world.model) & np.isin(world.model.geom_bodyid, bodies))
        if len(geoms):
            low, high = boxes(world, geoms)
            return float(low[:, 2].min()) + CLEARANCE, float(high[:, 2].max())
    raise NoMap('there is no robot to take the heights from: give a height in metres')


def chosen_heights(world: MappedWorld, choice: str) -> tuple[float, float]:
    """
    Return the lowest and the highest plane (m) for a valid choice, see `height_problem`.

    :raises NoMap: when no robot has a scanner, or there is no robot.
    """
    if given := numbers(choice, ':', (1, 2)):
        return given[0], given[-1]
    scanner = None if choice == ROBOT else scanner_height(world)
    if scanner is not None:
        return scanner, scanner
    if choice == SCANNER:
        raise NoMap('no robot of this world has a scanner')
    return robot_band(world)


def planes(low: float, high: float) -> list[float]:
    """
    Return heights from `low` to `high`, both included, at most SPACING apart.

    >>> planes(0.5, 0.5), planes(0.0, 0.02)
    ([0.5], [0.0, 0.01, 0.02])
    """
    count = int(np.ceil((high - low) / SPACING - 1e-9)) + 1
    return [round(height, 6) for height in np.linspace(low, high, max(count, 1)).tolist()]
