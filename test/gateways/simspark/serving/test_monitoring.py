# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Monitors of real worlds, compared with MuJoCo."""

from collections import Counter
import itertools

from bundled_server import simulation
import mujoco
import numpy as np
import pytest
from waiting import wait_until

from test.gateways.running import simspark_at
from test.gateways.simspark.peers import RawPeer
from urlab_ros_bridge.gateways.simspark.agents.agents import Agents
from urlab_ros_bridge.gateways.simspark.client.clients import AgentClient
from urlab_ros_bridge.gateways.simspark.client.scene_view import SceneView
from urlab_ros_bridge.gateways.simspark.monitor.layout import BALL_PLACE
from urlab_ros_bridge.gateways.simspark.monitor.scene_graph import THRESHOLD
from urlab_ros_bridge.gateways.simspark.monitor.viewers import PERIOD
from urlab_ros_bridge.models.soccer import write_world


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


def test_players_are_marked_numbered_and_in_the_colour_of_their_team(shapes, watch):
    view = watch(shapes).view
    assert set(view.players) == {('left', 1), ('right', 1)}
    for (side, _), base in view.players.items():
        materials = Counter(
            mesh.details['sMat'][0]
            for node in _below(view, base)
            for mesh in node.children
            if 'sMat' in mesh.details
        )
        assert materials[{'left': 'matLeft', 'right': 'matRight'}[side]] > 3


def _below(view, base):
    """Return the transforms of the player whose base this is, at all depths."""
    top = next(node for node in view.nodes if base in node.children)
    found, queue = [], [top]
    while queue:
        node = queue.pop()
        found.append(node)
        queue += node.children
    return found


def test_meshes_of_the_nao_are_in_the_middle_of_the_boxes_that_collide(soccer, live, urlab, watch):
    """With x to the right and y forward, as SimSpark's; one mesh a part, the torso first."""
    client = urlab(soccer)
    client.set_paused(True)
    try:
        view = at_rest(watch(live))
        seen = client.step(observations='full')
    finally:
        client.set_paused(False)
    model = client.handshake.model
    agent = view.nodes[BALL_PLACE + 1]
    meshes = {
        node.details['load'][0].split('/')[1].split('.')[0].rstrip('0'): transform
        for transform in agent.children
        for node in transform.below()
        if node.kind == 'StaticMesh'
    }
    assert len(agent.children) == len(meshes) == 12 and next(iter(meshes)) == 'naobody'
    boxes = {'naobody': 'base_link', 'naohead': 'head'}
    parts = ('thigh', 'shank', 'lowerarm', 'foot')
    boxes |= {f'{side}{part}': f'{side}{part}' for side in 'lr' for part in parts}
    for mesh, body in boxes.items():
        number = model.body(f'left_1_{body}').id
        (box, *_) = [
            g for g in range(model.ngeom)
            if model.geom_bodyid[g] == number and model.geom_group[g] == 3
        ]  # fmt: skip
        pose = seen.articulations['left_1'].bodies[body]
        axes = np.zeros(9)
        mujoco.mju_quat2Mat(axes, pose.xquat)
        axes = axes.reshape(3, 3)
        middle = pose.xpos + axes @ model.geom_pos[box]
        np.testing.assert_allclose(meshes[mesh].matrix[:3, 3], middle, atol=THRESHOLD)
        right_forward_up = np.stack([-axes[:, 1], axes[:, 0], axes[:, 2]], axis=1)
        np.testing.assert_allclose(meshes[mesh].matrix[:3, :3], right_forward_up, atol=THRESHOLD)
    assert set(view.players) == {('left', 1), ('right', 1)}


def test_a_monitor_gets_every_due_frame_of_a_live_gateway(soccer, watch, monkeypatch):
    """Live looks come when the machine lets them; none of them that is due is left out."""
    looks = []
    with simspark_at(soccer) as gateway:
        monitor = watch(gateway)
        monitor.command(['playMode', 'PlayOn'])
        viewers, scene = gateway._cycle.viewers, gateway._simulation.current.scene
        cycle = viewers.cycle

        def noted():
            cycle()
            looks.append((int(scene.time / PERIOD + 0.25), gateway.game.time))

        monkeypatch.setattr(viewers, 'cycle', noted)
        heard = []
        while len(set(heard)) < 40:
            heard.append(monitor.update().time)
        monkeypatch.undo()
    due = [now[1] for before, now in itertools.pairwise(looks) if now[0] != before[0]]
    shown = dict.fromkeys(float(f'{time:g}') for time in due)
    inner = [time for time in dict.fromkeys(heard) if min(shown) <= time <= max(shown)]
    assert inner == [time for time in shown if time <= inner[-1]] and len(inner) >= 30


def test_any_world_is_shown_with_its_robots_as_players(fleet, watch):
    with simspark_at(fleet) as gateway:
        view = watch(gateway).view
        assert set(view.players) == {('left', 1), ('left', 2), ('left', 3)}
        assert view.ball is None
        assert [node.kind for node in view.nodes[:2]] == ['Light', 'Light']
        assert len(view.nodes) == BALL_PLACE + 4


def test_a_log_has_one_message_a_line_and_replays(soccer, tmp_path, watch):
    path = tmp_path / 'game.log'
    with simspark_at(soccer, log=path, pace='free') as gateway:
        monitor = watch(gateway)
        monitor.command(['playMode', 'PlayOn'])
        monitor.command(['ball', ['pos', 2, 1, 0.3]])
        wait_until(lambda: monitor.update().time > 2)
    lines = path.read_bytes().splitlines()
    replay = SceneView()
    times = []
    for line in lines:
        assert replay.take(line)
        times.append(replay.time)
    assert replay.play_mode == 'PlayOn' and replay.fulls == 1
    # The first line is of the moment, the others of multiples of the period.
    running = [b - a for a, b in itertools.pairwise(times) if a > 0][1:]
    assert running == pytest.approx([0.2] * len(running), abs=1e-6)
    assert len(running) >= 7


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
    with simspark_at(soccer, Agents(), pace='real_time') as gateway:
        monitor = watch(gateway)
        empty = len(monitor.view.nodes), sum(len(node.children) for node in monitor.view.nodes)
        assert monitor.view.players == {}
        with AgentClient(port=gateway.agent_port, team='Ours', number=5):
            wait_until(lambda: set(monitor.update().players) == {('left', 5)})
            assert len(monitor.view.nodes) == BALL_PLACE + 2
        wait_until(lambda: monitor.update().players == {})
        assert empty == (
            len(monitor.view.nodes),
            sum(len(node.children) for node in monitor.view.nodes),
        )


def test_messages_of_a_full_field_are_as_small_as_those_of_simspark(tmp_path, watch):
    """Of 22 Naos, SimSpark sends 141 kB in full, 11 kB while they stand, 73 kB while they walk."""
    with (
        simulation('', model=write_world(tmp_path, 11, 'league'), cameras='off') as port,
        simspark_at(port) as gateway,
    ):
        peer = RawPeer(gateway.monitor_port)
        full = peer.receive_until(lambda text: 'RSG' in text)
        changes = peer.receive_until(lambda text: 'RDS' in text)
        peer.close()
    assert len(full) < 141_000 and len(changes) < 11_000
    moving = 22 * 12 * len(' (SLT -0.1234 -0.1234 -0.1234 0' * 3 + ' -12.1234 -12.1234 0.1234 1)')
    assert len(changes) + moving < 22 * 3300
