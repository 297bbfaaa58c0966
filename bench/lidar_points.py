#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
CPU time of the points of a 3-D lidar, from its rays to the PointCloud2.

For each world and size of lidar, in turns in one process:

- floor: mj_multiRay alone, without normals;
- cast: ranges and intensities as the server computes them;
- row: cast and pack the row of the wire;
- message: read the row and fill in the PointCloud2.

    . ./env.sh && nice python bench/lidar_points.py [--rounds 15]
"""

from __future__ import annotations

import argparse
from pathlib import Path
import shutil
import tempfile
import time

import mujoco
import numpy as np
from ratios import note
import yaml

from urlab_ros_bridge.client.replies.handshake import PointLidar as LidarInfo
from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.ros.messages.lidar import LidarPointsTemplate
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.physics.point_lidar import PointLidar
from urlab_ros_bridge.sim.physics.rays import RayCaster
from urlab_ros_bridge.wire.rows import pack_points
from urlab_ros_bridge.wire.rows import unpack_points

LIDARS = {'16 x 900': (16, 900), '64 x 1024': (64, 1024)}
TURN = {'angle_min': -3.1415927, 'angle_max': 3.1346113}
UPRIGHT = {'elevation_min': -0.2618, 'elevation_max': 0.2618}


def lidar_in(name: str, rings: int, columns: int, folder: Path) -> tuple[World, PointLidar]:
    """Return a lidar on the first robot of a bundled world."""
    source = world_path(name)
    shutil.copytree(source.parent, folder, dirs_exist_ok=True)
    content = yaml.safe_load(source.read_text())
    robot = content['articulations'][0]
    robot['lidars'] = {
        **robot.get('lidars', {}),
        'top': {
            **TURN, **UPRIGHT, 'rays': columns, 'rings': rings, 'range_max': 100.0,
            'pose': {'pos': [0.0, 0.0, 0.4]},
        },
    }  # fmt: skip
    (folder / source.name).write_text(yaml.safe_dump(content))
    world = load_world(ServerConfig(model=folder / source.name))
    mujoco.mj_forward(world.model, world.data)
    spec = world.spec.articulations[0]
    return world, PointLidar(world, spec.prefix, 'top', spec.lidars['top'])


def measure(world: str, size: str, rounds: int) -> None:
    """Print the CPU time of each way per 10,000 rays, and hand over the ratios to the floor."""
    rings, columns = LIDARS[size]
    with tempfile.TemporaryDirectory() as folder:
        served, lidar = lidar_in(world, rings, columns, Path(folder))
    model, data, prefix = served.model, served.data, served.spec.articulations[0].prefix
    ranges, intensities = lidar.cast(data)
    payload = pack_points(ranges, intensities)
    template = LidarPointsTemplate('top', LidarInfo(**lidar.describe(), name='top'))
    directions = lidar.directions()
    bare = RayCaster(model, model.site(f'{prefix}_top').id, directions, lidar.spec.range_max)
    flat = np.empty(rings * columns)
    ways = {
        'floor': lambda: bare.cast(data, flat),
        'cast': lambda: lidar.cast(data),
        'row': lambda: pack_points(*lidar.cast(data)),
        'message': lambda: template.update(0, *unpack_points(payload)),
    }
    spent: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, run in ways.items():
            begin = time.process_time()
            run()
            spent[way].append(time.process_time() - begin)
    floor = np.array(spent['floor'])
    for way, seconds in spent.items():
        each = 1e4 / (rings * columns)
        print(f'{world:16} {size:10} {way:8} {np.median(seconds) * 1e3 * each:6.2f} ms per 10,000')
        if way != 'floor':
            note(f'{way}, {world}, {size}', np.array(seconds) / floor)


def main() -> None:
    """Measure all worlds and sizes."""
    parser = argparse.ArgumentParser(description='CPU time of the points of a 3-D lidar')
    parser.add_argument('--rounds', type=int, default=15)
    options = parser.parse_args()
    for world in ('rover', 'quadruped_rooms'):
        for size in LIDARS:
            measure(world, size, options.rounds)


if __name__ == '__main__':
    main()
