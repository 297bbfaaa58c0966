# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The heights of the planes that a map is cut at: that of a scanner, or those of a robot."""

from __future__ import annotations

import numpy as np

from urlab_ros_bridge.maps.floor_map import boxes
from urlab_ros_bridge.maps.floor_map import is_solid
from urlab_ros_bridge.maps.floor_map import NoMap
from urlab_ros_bridge.sim.model.world import World

# Robots drive or step over lower obstacles (m).
CLEARANCE = 0.03
AUTO, SCANNER, ROBOT = 'auto', 'scanner', 'robot'
# Boards thinner than this may lie between two planes (m).
SPACING = 0.01


def scanner_height(world: World) -> float | None:
    """Return the height of the first planar scanner above the world's origin (m), if any."""
    for spec in world.spec.articulations:
        sensors = world.articulations[spec.prefix].sensors
        for name in spec.lidars:
            if name in sensors:
                return float(world.data.site_xpos[sensors[name].object_id, 2])
    return None


def robot_band(world: World) -> tuple[float, float]:
    """
    Return the heights between which the first robot would collide with objects (m).

    From CLEARANCE above its lowest point to its highest point, in its initial pose.

    :raises NoMap: when the world has no robot, or one that touches nothing.
    """
    for robot in world.articulations.values():
        bodies = [body.id for body in robot.bodies.values()]
        geoms = np.flatnonzero(is_solid(world.model) & np.isin(world.model.geom_bodyid, bodies))
        if len(geoms):
            low, high = boxes(world, geoms)
            return float(low[:, 2].min()) + CLEARANCE, float(high[:, 2].max())
    raise NoMap('there is no robot to take the heights from: give a height in metres')


def chosen_heights(world: World, choice: str) -> tuple[float, float]:
    """
    Return the lowest and the highest plane for a choice of SCANNER, ROBOT or AUTO (m).

    :raises NoMap: when no robot has a scanner, or there is no robot.
    """
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
