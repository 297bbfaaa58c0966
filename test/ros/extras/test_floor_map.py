# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The map on a topic: that of the room, that of `urlab map`, and a new one with each world."""

from pathlib import Path

from bridge_harness import Listener
from bridge_harness import wait_until
from bundled_server import port_of
from map_reader import read_map
from nav_msgs.msg import OccupancyGrid
import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy

from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.client import Client

# What the static layer of Nav2 subscribes with (map_subscribe_transient_local).
NAV2 = QoSProfile(
    depth=1,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
    reliability=ReliabilityPolicy.RELIABLE,
)
# 4 m by 3 m inside, the top of a table of 1 m by 0.5 m, a ball, and a robot 0.5 m high.
ROOM = Path(__file__).with_name('floor_room') / 'room.yaml'
PILLAR = """<mujoco><worldbody><body name="pillar">
  <geom type="box" size="0.1 0.1 1" pos="0 0 1"/></body></worldbody></mujoco>"""


def cells_of(message):
    return np.array(message.data, np.int8).reshape(message.info.height, message.info.width)


def value(message, x, y):
    info = message.info
    place = (np.array([x, y]) - [info.origin.position.x, info.origin.position.y]) / info.resolution
    column, row = np.floor(place).astype(int)
    return cells_of(message)[row, column]


def test_the_map_equals_the_room_and_the_map_file_and_follows_the_world(bundled, tmp_path):
    server, _, listener = bundled({'model': ROOM}, publish_map=True, map_resolution=0.1)
    drawn = listener.wait_for(OccupancyGrid, '/map', qos=NAV2)
    assert drawn.header.frame_id == 'map' and drawn.info.resolution == pytest.approx(0.1)
    cells = cells_of(drawn)
    inside, walls, table, edge = 40 * 30, 42 * 32 - 40 * 30, 10 * 5, 10 * 5 - 8 * 3
    assert (cells == 0).sum() == inside - table
    # Two boxes overlap at a corner of the walls, where no ray may meet a surface.
    assert walls + edge - 4 <= (cells == 100).sum() <= walls + edge
    # Free: where the robot and the ball stand.  Unknown: inside the table, outside the room.
    seen = [value(drawn, *p) for p in ((-1, -1), (-1, 1), (1.0, 0.76), (2.5, 0), (2.02, 0))]
    assert seen == [0, 0, -1, -1, 100]
    words = ['--height=robot', '--resolution=0.1', f'--output={tmp_path}/r']
    assert main(['map', '--model', str(ROOM), *words]) == 0
    file = read_map(tmp_path / 'r.yaml')
    np.testing.assert_array_equal(file.data, cells)
    origin = drawn.info.origin.position
    assert [origin.x, origin.y] == pytest.approx(file.origin.tolist())
    maps = listener.received['/map']
    with Client(rpc_port=port_of(server), shared=True) as client:
        client.spawn_entity('pillar', xml=PILLAR, pos=(0.0, -0.5, 0.0))
        wait_until(lambda: len(maps) == 2)
        assert [value(m, 0.09, -0.5) for m in maps] == [0, 100]
        # A subscriber that comes later gets the last one.
        late = Listener(listener.context.get_domain_id())
        assert late.wait_for(OccupancyGrid, '/map', qos=NAV2).data == maps[1].data
        late.close()
        client.delete_entity('pillar')
        wait_until(lambda: len(maps) == 3)
        assert maps[2].data == drawn.data
