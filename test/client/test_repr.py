# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The repr of a client and of its results is short and has the essentials."""

import numpy as np
from stock_replies import step_ok

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.client.cameras.frames import Frame
from urlab_ros_bridge.client.replies.handshake import parse_handshake
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.testing import FakeServer

LONGEST = 300  # characters


def test_a_client_shows_where_it_is_connected():
    with FakeServer('rover') as server:
        client = Client(rpc_port=server.ports['rpc'], shared=True)
        address = f'tcp://127.0.0.1:{server.ports["rpc"]}'
        assert repr(client) == f'<Client of {address}, not connected>'
        with client:
            expected = f'<Client of {address}, shared session over zmq, articulations: rover>'
            assert repr(client) == expected
            assert 'articulations: rover' in repr(client.handshake)
            assert len(repr(client.handshake)) < LONGEST
        assert 'not connected' in repr(client)


def test_the_repr_of_an_observation_has_its_time_robots_and_entities():
    result = StepResult(step_ok(step=21, time=0.042))
    assert repr(result).startswith('<StepResult at 0.042 s, step 21; articulations: rover')
    assert 'entities: pallet' in repr(result)
    assert repr(result.articulations['rover']).startswith('<ArticulationState rover: ')
    many = {f'robot_{number}': {} for number in range(1000)}
    crowd = StepResult({'time': 0, 'step': 0, 'per_articulation': many, 'cameras': None})
    assert '... (1000)' in repr(crowd) and len(repr(crowd)) < LONGEST


def test_the_repr_of_frames_and_ticks_omits_their_bytes():
    pixels = np.zeros((480, 640, 4), np.uint8)
    frame = Frame(40_000_000, 12, 640, 480, 'bgra8', pixels)
    assert repr(frame) == '<Frame 12 at 0.04 s: 640x480 bgra8>'
    assert repr(Frame(None, None, 2, 1, 'float32', pixels)) == '<Frame: 2x1 float32>'
    tick = Tick(42_000_000, 21, None, [(b'x', b'y')] * 3, b'z' * 9999, 'sim_time')
    assert repr(tick) == ('<Tick at 0.042 s, step 21: 3 rows, a snapshot, closed by sim_time>')


def test_the_repr_of_a_handshake_without_a_world_names_its_state():
    empty = parse_handshake({'session_id': 'x', 'urlab_version': 'urlab/1', 'mjb': b'9' * 9999,
                             'manager_present': False})  # fmt: skip
    assert 'no world is running' in repr(empty) and len(repr(empty)) < LONGEST
