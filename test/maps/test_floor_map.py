# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Maps agree with the simulated scanner, also after they were written to files."""

from map_reader import ReadMap
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.cli.commands.map import mapped_world
from urlab_ros_bridge.maps import floor_map
from urlab_ros_bridge.maps.floor_map import FREE
from urlab_ros_bridge.maps.floor_map import OCCUPIED
from urlab_ros_bridge.maps.map_files import description
from urlab_ros_bridge.maps.map_files import pgm_image
from urlab_ros_bridge.maps.map_heights import scanner_height
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.physics.rays import RayTargets
from urlab_ros_bridge.sim.physics.sensing import RayScanner

ROOM = """<mujoco>
  <asset>
    <mesh name="prism" vertex="0 0 0  1.2 0 0  0 1 0  0 0 1  1.2 0 1  0 1 1"/>
    <hfield name="hills" nrow="5" ncol="5" size="1 1 0.6 0.1"
      elevation="0 0 0 0 0  0 2 3 2 0  0 3 4 3 0  0 2 3 2 0  0 0 0 0 0"/>
  </asset>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <geom type="box" pos="3.13 0 1" size="0.1 2.6 1"/>
    <geom type="box" pos="-3.1 0 1" size="0.1 3 1"/>
    <geom type="box" pos="0 2.5 1" size="3.2 0.1 1" euler="0 0 3"/>
    <geom type="box" pos="0 -2.5 1" size="3.2 0.1 1" group="3" rgba="0 0 0 0"/>
    <geom type="mesh" mesh="prism" pos="1.5 1 0.4" euler="0 0 20"/>
    <geom type="hfield" hfield="hills" pos="-1.7 -1.2 0"/>
    <geom type="cylinder" pos="-1.5 1.2 0.5" size="0.3 0.5"/>
    <geom type="box" pos="-0.5 1.8 0.7" size="0.1 0.1 0.2"/>
    <geom type="ellipsoid" pos="1.6 -1.4 0.3" size="0.6 0.3 0.4" euler="0 0 40"/>
    <geom type="box" pos="0.5 -1 0.3" size="0.2 0.2 0.3" contype="0" conaffinity="0"/>
    <body name="ball" pos="0 1.2 0.3"><freejoint/><geom size="0.3"/></body>
    <body name="ghost" pos="0 -1.2 0.3" mocap="true"><geom size="0.3"/></body>
    <body name="door" pos="0.7 0 0.3"><joint type="slide"/>
      <geom type="box" size="0.05 0.3 0.3"/></body>
  </worldbody>
</mujoco>"""
ROBOT = """<mujoco><worldbody><body name="base"><freejoint/>
  <geom type="box" size="0.2 0.15 0.1" pos="0 0 0.12"/>
  <geom type="box" size="0.5 0.5 0.5" contype="0" conaffinity="0"/>
  <site name="eye" pos="0.05 0 0.31"/></body></worldbody>
  <sensor><user name="scan" dim="90" objtype="site" objname="eye" needstage="pos"/></sensor>
</mujoco>"""
SIDECAR = """
scene: room.xml
articulations:
  - prefix: bot
    model: bot.xml
    lidars:
      scan: {angle_min: -3.14159, angle_max: 3.07178, range_min: 0.1, range_max: 9, rate: 10}
"""


@pytest.fixture(scope='module')
def room(tmp_path_factory):
    folder = tmp_path_factory.mktemp('room')
    for name, text in (('room.xml', ROOM), ('bot.xml', ROBOT), ('room.yaml', SIDECAR)):
        (folder / name).write_text(text)
    return load_world(ServerConfig(model=folder / 'room.yaml'))


def draw_floor_map(world, heights, *options, **further):
    return floor_map.draw_floor_map(mapped_world(world), heights, *options, **further)


def through_files(drawn):
    return ReadMap(description(drawn, 'x.pgm', 'a comment'), pgm_image(drawn))


def errors(world, drawn, count, seed):
    """
    Return how far ranges on the map are from those of the scanner (cells), at random free poses.

    A surface may be anywhere in its cell.  So a ray along a wall, or by an edge, may be stopped on
    the map by what it just passes; of three parallel rays, one cell apart, the best one counts.
    """
    robot = world.articulations['bot']
    scan = world.spec.articulations[0].lidars['scan']
    lidar = RayScanner(world.model, robot.sensors['scan'].id, scan, RayTargets(world.model))
    random, data = np.random.default_rng(seed), mujoco.MjData(world.model)
    rows, columns = np.nonzero(drawn.data == FREE)
    found = []
    for cell in random.choice(len(rows), count, replace=False):
        yaw = random.uniform(-np.pi, np.pi)
        place = drawn.origin + (np.array([columns[cell], rows[cell]]) + 0.5) * drawn.resolution
        data.qpos[:] = world.model.qpos0
        height = data.qpos[robot.qpos][2]
        turn = np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)
        data.qpos[robot.qpos] = [*place, height, *turn]
        mujoco.mj_forward(world.model, data)
        lidar.update(world.model, data)
        eye = data.site('bot_eye').xpos[:2]
        if drawn.value([eye]) != FREE:  # in a wall that the middle of the robot is beside
            continue
        seen = data.sensor('bot_scan').data
        seen = np.where(seen < 0, scan.range_max, seen)
        known = [
            drawn.ranges(eye, lidar.angles + yaw, scan.range_max, aside * drawn.resolution)
            for aside in (-1, 0, 1)
        ]
        away = np.abs(np.minimum(known, scan.range_max) - seen).min(axis=0)
        found.append(away / drawn.resolution)
    return np.concatenate(found)


def test_ranges_on_the_map_are_those_of_the_scanner(room):
    height = scanner_height(mapped_world(room))
    drawn = through_files(draw_floor_map(room, [height], movable=True))
    error = errors(room, drawn, 12, 1)
    assert np.mean(error <= 1.5) > 0.95, np.quantile(error, [0.5, 0.9, 0.95])


def test_movable_bodies_are_drawn_on_request_and_robots_never(room):
    height = [scanner_height(mapped_world(room))]
    places = {'ball': (0.29, 1.2), 'ghost': (0.29, -1.2), 'door': (0.74, 0.1), 'base': (0.19, 0.1)}
    still = through_files(draw_floor_map(room, height)).value(list(places.values()))
    assert still.tolist() == [FREE] * 4
    moving = through_files(draw_floor_map(room, height, movable=True)).value(list(places.values()))
    assert moving.tolist() == [OCCUPIED] * 3 + [FREE]


def test_several_planes_are_the_maps_of_each_of_them_together(room):
    def occupied(heights):
        return draw_floor_map(room, heights, movable=True).cells == OCCUPIED

    heights = [0.05, 0.25, 0.45, 0.65]
    each = [occupied([height]) for height in heights]
    np.testing.assert_array_equal(occupied(heights), np.any(each, axis=0))


def test_cells_begin_at_whole_multiples_and_a_region_is_kept(room):
    region = (-1.01, -0.5, 2.0, 1.02)
    drawn = draw_floor_map(room, [0.3], 0.05, region=region)
    assert drawn.origin == (-1.05, -0.5) and drawn.cells.shape == (31, 61)
    whole = draw_floor_map(room, [0.3], 0.05)
    column, row = np.rint((np.array(drawn.origin) - whole.origin) / 0.05).astype(int)
    part = whole.cells[row : row + 31, column : column + 61]
    assert np.array_equal(part == OCCUPIED, drawn.cells == OCCUPIED)
