# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The repr of a client and of its results is short and has the essentials."""

import numpy as np

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.cameras.frames import Frame
from urlab_ros_bridge.client.replies.handshake import parse_handshake
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.testing import FakeServer

LONGEST = 300  # characters


def test_reprs_are_short_and_name_the_essentials():
    many = {f'robot_{number}': {} for number in range(1000)}
    crowd = StepResult({'time': 0.042, 'step': 21, 'per_articulation': many, 'cameras': None})
    blobs = {'mjb': b'9' * 9999, 'urlab_version': 'urlab/1'}
    pixels = np.zeros((480, 640, 4), np.uint8)
    with FakeServer('rover') as server, Client(rpc_port=server.ports['rpc']) as client:
        for thing, *words in (
            (client, f'127.0.0.1:{server.ports["rpc"]}', 'rover'),
            (client.handshake, 'rover'),
            (parse_handshake({'session_id': 'x', 'manager_present': False, **blobs}), 'no world'),
            (crowd, '0.042 s', 'step 21', '(1000)'),
            (crowd.articulations['robot_7'], 'robot_7'),
            (Frame(40_000_000, 12, 640, 480, 'bgra8', pixels), 'Frame 12', '0.04 s', '640x480'),
            (Frame(None, None, 2, 1, 'float32', pixels), 'float32'),
            (Tick(42_000_000, 21, None, [(b'x', b'y')] * 3, b'z' * 9999, 'sim_time'), '3 rows'),
        ):
            assert all(word in repr(thing) for word in words) and len(repr(thing)) < LONGEST
        client.close()
        assert 'not connected' in repr(client)
