# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the user does in the window reaches the server: keys and drags, on any server."""

import queue

from bundled_server import port_of
from bundled_server import running_server
import numpy as np
import pytest

from urlab_ros_bridge.client import Client
from urlab_ros_bridge.viewer.controls import BACKSPACE
from urlab_ros_bridge.viewer.controls import Controls
from urlab_ros_bridge.viewer.controls import RIGHT
from urlab_ros_bridge.viewer.controls import SPACE
from urlab_ros_bridge.viewer.window import Drag

BALL = 'ball'
LIFT = np.array([0.0, 0.0, 0.3])


class FakeWindow:
    """:ivar dragged: what the mouse does at present."""

    def __init__(self):
        self.keys = queue.SimpleQueue()
        self.dragged = None

    def drag(self):
        return self.dragged


@pytest.fixture
def served():
    with (
        running_server(world='bimanual') as server,
        Client(rpc_port=port_of(server), shared=True) as client,
    ):
        client.set_mode('direct')
        yield client, FakeWindow()


def test_keys_pause_step_and_reset(served):
    client, window = served
    client.set_mode('live')
    controls = Controls(client)
    window.keys.put(SPACE)
    controls.apply(window)
    assert controls.paused and client.status().paused
    before = client.status().step
    for key in (RIGHT, 65, RIGHT):  # 65 has no meaning here
        window.keys.put(key)
    controls.apply(window)
    assert client.status().step == before + 2
    window.keys.put(BACKSPACE)
    controls.apply(window)
    assert client.status().sim_time_ns == 0


def test_a_dragged_body_follows_and_is_let_go(served):
    client, window = served
    controls = Controls(client)
    start = client.get_entities([BALL])[BALL].pos
    body = client.handshake.model.body(BALL).id
    window.dragged = Drag(body, np.zeros(3), start + LIFT, np.zeros(6), False)
    for _ in range(60):
        controls.apply(window)
        client.step(10)
    held = client.get_entities([BALL])[BALL].pos
    assert held == pytest.approx(start + LIFT, abs=0.05)
    window.dragged = None
    controls.apply(window)
    client.step(30)
    assert client.get_entities([BALL])[BALL].pos[2] < held[2] - 0.005  # it falls at once


def test_a_stock_server_gets_forces_with_a_step(served, monkeypatch):
    client, window = served
    monkeypatch.setattr(client.handshake, 'extensions', frozenset())
    controls = Controls(client)
    body = client.handshake.model.body('bimanual_left_hand').id
    window.dragged = Drag(body, np.zeros(3), np.zeros(3), np.array([0, 50.0, 0, 0, 0, 0]), False)
    rest = client.step(1).articulations['bimanual'].qvel
    controls.apply(window)
    pushed = client.forward().articulations['bimanual'].qvel
    assert np.abs(pushed - rest).max() > 0.01
