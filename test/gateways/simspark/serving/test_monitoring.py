# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Monitors of real worlds, compared with MuJoCo."""

import mujoco
import numpy as np
import pytest
from waiting import wait_until

from test.gateways.running import simspark_at
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.client.clients import AgentClient
from urlab_ros_bridge.gateways.simspark.monitor.layout import BALL_PLACE
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import THRESHOLD


@pytest.fixture(scope='module')
def live(soccer):
    with simspark_at(soccer) as gateway:
        yield gateway


@pytest.fixture(scope='module')
def shapes(soccer):
    with simspark_at(soccer, nao_meshes=False) as gateway:
        yield gateway


def at_rest(monitor):
    """Follow until a message moves nothing."""
    payload = b'SLT'
    while b'SLT' in payload or b'RSG' in payload:
        payload = monitor.receive()
        monitor.view.take(payload)
    return monitor.view


def test_all_bodies_are_where_mujoco_has_them(soccer, shapes, urlab, watch):
    client = urlab(soccer)
    client.set_paused(True)
    try:
        view = at_rest(watch(shapes))
        seen = client.step(observations='full')
    finally:
        client.set_paused(False)
    for place, (prefix, state) in enumerate(seen.articulations.items(), BALL_PLACE + 1):
        nodes = [node for node in view.nodes[place].children if node.kind == 'TRF']
        assert 'mat' + prefix.split('_')[0].title() in str(
            [mesh.details.get('sMat') for node in nodes for mesh in node.below()]
        )
        assert len(nodes) == len(state.bodies)
        for node, body in zip(nodes, state.bodies.values(), strict=True):
            matrix = np.zeros(9)
            mujoco.mju_quat2Mat(matrix, body.xquat)
            np.testing.assert_allclose(node.matrix[:3, :3].ravel(), matrix, atol=THRESHOLD)
            np.testing.assert_allclose(node.matrix[:3, 3], body.xpos, atol=THRESHOLD)
        assert prefix in ('left_1', 'right_1')
    ball = view.nodes[BALL_PLACE]
    np.testing.assert_allclose(ball.matrix[:3, 3], seen.entities['ball'].xpos, atol=THRESHOLD)
    np.testing.assert_array_equal(view.ball, ball.matrix[:3, 3])


def test_a_simulation_that_another_client_steps_is_watched_and_not_stepped(
    soccer, live, watch, urlab
):
    client, monitor = urlab(soccer), watch(live)
    before = client.set_mode('direct').previous
    try:
        step = client.forward().step
        for count in range(1, 30):
            assert client.step(20).step == step + 20 * count
            if count == 10:
                client.set_entity_state('ball', pos=(3, 2, 0.04), linear=(0, 0, 0))
        wait_until(lambda: abs(monitor.update().ball[0] - 3) < 0.2)
        assert client.forward().step == step + 20 * 29
    finally:
        client.set_mode(before)


def test_players_appear_with_their_agents_and_vanish_with_them(soccer, watch):
    def count():
        return sum(1 + len(node.children) for node in monitor.view.nodes)

    with simspark_at(soccer, Agents(), pace='real_time') as gateway:
        monitor = watch(gateway)
        empty = count()
        assert monitor.view.players == {}
        with AgentClient(port=gateway.agent_port, team='Ours', number=5):
            wait_until(lambda: set(monitor.update().players) == {('left', 5)})
            # One mesh a part of the Nao, the torso first.
            parts = monitor.view.nodes[BALL_PLACE + 1].children
            meshes = [
                n.details['load'][0] for p in parts for n in p.below() if 'load' in n.details
            ]
            assert len(parts) == 12 and 'naobody' in meshes[0]
        wait_until(lambda: monitor.update().players == {})
        assert count() == empty
