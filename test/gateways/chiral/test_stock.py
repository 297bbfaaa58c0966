# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a client that knows only the protocol page sees of a robot."""

import time

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from test.gateways.chiral.stock_client import connect_when_free
from test.gateways.chiral.stock_client import Seen
from test.gateways.chiral.stock_client import StockClient

PERIOD = 1 / 30


def test_metadata_says_what_the_numbers_are(direct):
    said = direct.metadata()
    assert said['action_shape'] == [12]
    assert said['action_type'] == 'joint'
    assert said['cameras'] == []
    assert said['proprio_names'] == ['joint_pos', 'joint_vel', 'base_pose']
    assert (said['control_hz'], said['pace'], said['role']) == (30.0, 'lockstep', 'driver')
    assert said['timestamps'] == 'simulated seconds'


def test_a_reset_is_a_whole_observation(direct):
    seen = direct.reset()
    assert seen.type == 'reset_response'
    assert seen.header['info'] == {'seed': 0, 'keyframe': 'stand', 'episode': 0}
    assert {name: len(v) for name, v in seen.proprios.items()} == {
        'joint_pos': 12,
        'joint_vel': 12,
        'base_pose': 7,
    }
    assert all(values.dtype == np.float32 for values in seen.proprios.values())
    again = direct.reset()
    assert again.header['info'] == {'seed': 1, 'keyframe': 'stand', 'episode': 1}
    assert again.timestamp == seen.timestamp


def test_the_streams_are_the_state_of_the_simulation(direct, quadruped, urlab):
    direct.reset()
    seen = direct.observe()
    state = urlab(quadruped).forward()
    robot = state.articulations['quadruped']
    np.testing.assert_allclose(seen.proprios['joint_pos'], robot.qpos[7:], atol=1e-6)
    np.testing.assert_allclose(seen.proprios['base_pose'], robot.qpos[:7], atol=1e-6)
    assert seen.timestamp == seen.extra['sim_time'] == state.time


def test_time_stands_still_between_actions(direct):
    start = direct.reset()
    assert direct.observe().timestamp == start.timestamp
    direct.act(start.proprios['joint_pos'])
    after = direct.observe()
    assert after.timestamp - start.timestamp == pytest.approx(PERIOD, abs=0.002)
    assert direct.observe().payload == after.payload
    assert direct.observe().timestamp == after.timestamp


def test_periods_do_not_drift(direct):
    """30 Hz is no multiple of the timestep; 30 actions are a second all the same."""
    start = direct.reset()
    for _ in range(30):
        direct.act(start.proprios['joint_pos'])
    assert direct.observe().timestamp - start.timestamp == pytest.approx(1.0, abs=1e-9)


def test_actions_move_the_joints_to_their_targets(direct):
    start = direct.reset()
    target = start.proprios['joint_pos'] + np.tile([0.0, 0.2, -0.2], 4).astype(np.float32)
    for _ in range(30):
        direct.act(target)
    np.testing.assert_allclose(direct.observe().proprios['joint_pos'], target, atol=0.1)


def test_without_an_action_the_target_is_held(quadruped, gateway):
    with gateway(quadruped) as server, StockClient(server.url) as client:
        start = seen = client.reset()
        deadline = time.monotonic() + 20
        while seen.timestamp < start.timestamp + 0.3:
            assert time.monotonic() < deadline
            time.sleep(0.05)
            seen = client.observe()
        np.testing.assert_allclose(
            seen.proprios['joint_pos'], start.proprios['joint_pos'], atol=0.02
        )


@pytest.mark.parametrize('rows', [1, 4])
def test_a_chunk_is_one_row_a_period(direct, rows):
    start = direct.reset()
    single = [direct.reset()]
    targets = start.proprios['joint_pos'] + 0.01 * np.arange(rows, dtype=np.float32)[:, None]
    for row in targets:
        direct.act(row)
        single.append(direct.observe())
    direct.reset()
    direct.act(targets)
    chunk = direct.observe()
    assert chunk.timestamp == single[-1].timestamp
    assert chunk.payload == single[-1].payload


def test_requests_that_wait_are_answered_in_order(direct):
    kinds = ['metadata', 'reset', 'obs_request', 'metadata', 'obs_request', 'reset'] * 3
    for kind in kinds:
        direct.send({'type': kind}, b'ignored')
    answers = [direct.receive()[0]['type'] for _ in kinds]
    names = {'obs_request': 'obs_response'}
    assert answers == [names.get(kind, f'{kind}_response') for kind in kinds]


def test_a_request_may_come_in_pieces(direct):
    packed = b'\x16\x00\x00\x00\x81\xa4type\xabobs_request'
    packed = len(packed[4:]).to_bytes(4, 'little') + packed[4:]
    direct.socket.send([packed[:3], packed[3:9], packed[9:]], text=False)
    assert direct.receive()[0]['type'] == 'obs_response'


def episode(client, seed, actions):
    frames = [client.reset(seed=seed)]
    for action in actions:
        client.act(action)
        frames.append(client.observe())
    return [(frame.timestamp, frame.payload) for frame in frames]


def test_equal_seeds_and_actions_give_equal_bytes(quadruped, gateway):
    profile = {'pace': 'lockstep', 'reset': {'joint_noise': 0.02}}
    random = np.random.default_rng(3)
    with gateway(quadruped, profile) as server:
        with StockClient(server.url) as client:
            start = client.reset().proprios['joint_pos']
            actions = start + random.normal(0, 0.05, (10, 12)).astype(np.float32)
            first = episode(client, 7, actions)
        with connect_when_free(server.url) as client:
            assert episode(client, 7, actions) == first
            other = episode(client, 8, actions)
            assert other[0][1] != first[0][1]


def test_the_older_dialect_by_option(quadruped, gateway):
    profile = {'pace': 'lockstep'}
    with gateway(quadruped, profile, legacy=True) as server, StockClient(server.url) as client:
        start = client.reset()
        client.act(start.proprios['joint_pos'], kind='action')
        seen = Seen(*client.receive())
        assert seen.type == 'step_response'
        assert seen.timestamp > start.timestamp
        answer = {key: seen.header[key] for key in ('reward', 'terminated', 'truncated', 'info')}
        assert answer == {
            'reward': 0.0,
            'terminated': False,
            'truncated': False,
            'info': {'success': False, 'diverged': False},
        }
    with gateway(quadruped, profile) as server, StockClient(server.url) as client:
        client.act(np.zeros(12), kind='action')
        with pytest.raises(ConnectionClosed, match="unknown message type 'action'"):
            client.receive()


def test_a_base_is_driven_by_its_twist_and_stops_without_a_driver(rover, gateway, urlab):
    with gateway(rover) as server:
        with StockClient(server.url) as client:
            assert client.metadata()['action_layout'] == 'vx_yaw(2)'
            start = client.reset()
            client.act([0.5, 0.0])
            deadline, moved = time.monotonic() + 20, 0.0
            while moved < 0.2:
                assert time.monotonic() < deadline
                seen = client.observe()
                moved = seen.proprios['base_pose'][0] - start.proprios['base_pose'][0]
            assert moved < 0.5 * (seen.timestamp - start.timestamp) + 0.02
        watcher = urlab(rover)
        while abs(watcher.step().articulations['rover'].qvel[0]) > 0.02:
            assert time.monotonic() < deadline


def test_latency_is_reported(direct):
    start = direct.reset()
    direct.act(start.proprios['joint_pos'], {'camera': start.timestamp - 0.25})
    report = direct.observe().extra['latency']
    assert report['count'] == 1
    assert report['last'] == report['max'] == pytest.approx(0.25)
    direct.reset()
    assert direct.observe().extra['latency'] == {}
