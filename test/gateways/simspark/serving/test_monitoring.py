# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Monitors of real worlds, compared with MuJoCo."""

import mujoco
import numpy as np
from simspark_client.clients import AgentClient
from waiting import wait_until

from test.gateways.running import simspark_at
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.monitor.layout import BALL_PLACE
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import THRESHOLD


def test_all_bodies_are_where_mujoco_has_them(soccer, urlab, watch):
    client = urlab(soccer)
    client.set_paused(True)
    try:
        with simspark_at(soccer, nao_meshes=False) as gateway:
            monitor, payload = watch(gateway), b'SLT'
            while b'SLT' in payload or b'RSG' in payload:  # until a message moves nothing
                payload = monitor.receive()
                monitor.view.take(payload)
        view, seen = monitor.view, client.step(observations='full')
    finally:
        client.set_paused(False)
    assert {*seen.articulations} == {'left_1', 'right_1'}
    for place, (prefix, state) in enumerate(seen.articulations.items(), BALL_PLACE + 1):
        nodes = [node for node in view.nodes[place].children if node.kind == 'TRF']
        meshes = [mesh.details.get('sMat') for node in nodes for mesh in node.below()]
        assert [f'mat{prefix[:-2].title()}'] in meshes  # the colour of its team
        for node, body in zip(nodes, state.bodies.values(), strict=True):
            matrix = np.zeros(9)
            mujoco.mju_quat2Mat(matrix, body.xquat)
            np.testing.assert_allclose(node.matrix[:3, :3].ravel(), matrix, atol=THRESHOLD)
            np.testing.assert_allclose(node.matrix[:3, 3], body.xpos, atol=THRESHOLD)
    ball = view.nodes[BALL_PLACE].matrix[:3, 3]
    np.testing.assert_allclose(ball, seen.entities['ball'].xpos, atol=THRESHOLD)
    np.testing.assert_array_equal(view.ball, ball)


def test_a_simulation_that_another_client_steps_is_watched_and_not_stepped(soccer, watch, urlab):
    client = urlab(soccer)
    before = client.set_mode('direct').previous
    try:
        with simspark_at(soccer) as gateway:
            monitor = watch(gateway)
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
            # One mesh a part of the Nao.
            parts = monitor.view.nodes[BALL_PLACE + 1].children
            meshes = [str(node.details) for part in parts for node in part.below()]
            assert len(parts) == 12 and any('naobody' in mesh for mesh in meshes)
        wait_until(lambda: monitor.update().players == {})
        assert count() == empty
