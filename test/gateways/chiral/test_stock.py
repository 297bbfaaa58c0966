# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway as seen by a client written from the protocol page."""

import numpy as np
import pytest
from waiting import wait_until

from test.gateways.chiral.stock_client import Seen
from test.gateways.chiral.stock_client import StockClient

PERIOD = 1 / 30


def test_metadata_describes_actions_and_observations(direct):
    metadata = direct.metadata()
    expected = {
        'action_shape': [12],
        'action_type': 'joint',
        'cameras': [],
        'proprio_names': ['joint_pos', 'joint_vel', 'base_pose'],
        'control_hz': 30.0,
        'pace': 'lockstep',
        'role': 'driver',
        'timestamps': 'simulated seconds',
    }
    assert {name: metadata[name] for name in expected} == expected


def test_a_reset_is_a_whole_observation_of_the_simulation(direct, quadruped, urlab):
    seen = direct.reset()
    assert seen.type == 'reset_response'
    assert seen.header['info'] == {'seed': 0, 'keyframe': 'stand', 'episode': 0}
    state = urlab(quadruped).forward()
    robot = state.articulations['quadruped']
    streams = {'joint_pos': robot.qpos[7:], 'joint_vel': robot.qvel[6:]}
    streams['base_pose'] = robot.qpos[:7]
    assert streams.keys() == seen.proprios.keys()
    for name, values in streams.items():
        assert seen.proprios[name].dtype == np.float32
        np.testing.assert_allclose(seen.proprios[name], values, atol=1e-6)
    assert seen.timestamp == seen.extra['sim_time'] == state.time
    again = direct.reset()
    assert again.header['info'] == {'seed': 1, 'keyframe': 'stand', 'episode': 1}
    assert again.timestamp == seen.timestamp


def test_time_is_frozen_between_actions_and_periods_do_not_drift(direct):
    """30 Hz is no multiple of the timestep; 30 actions are a second all the same."""
    start = direct.reset()
    for count in range(1, 31):
        direct.act(start.proprios['joint_pos'])
        if count == 1:
            after, again = direct.observe(), direct.observe()
            assert after.timestamp - start.timestamp == pytest.approx(PERIOD, abs=0.002)
            assert (after.timestamp, after.payload) == (again.timestamp, again.payload)
    assert direct.observe().timestamp - start.timestamp == pytest.approx(1.0, abs=1e-9)


def test_a_chunk_is_one_row_a_period(direct):
    start = direct.reset()
    targets = start.proprios['joint_pos'] + 0.01 * np.arange(4, dtype=np.float32)[:, None]
    for row in targets:
        direct.act(row)
    single = direct.observe()
    direct.reset()
    direct.act(targets)
    chunk = direct.observe()
    assert (chunk.timestamp, chunk.payload) == (single.timestamp, single.payload)


def test_requests_that_wait_are_answered_in_order(direct):
    kinds = ['metadata', 'reset', 'obs_request', 'metadata', 'obs_request', 'reset'] * 3
    for kind in kinds:
        direct.send({'type': kind}, b'ignored')
    answers = [direct.receive()[0]['type'] for _ in kinds]
    names = {'obs_request': 'obs_response'}
    assert answers == [names.get(kind, f'{kind}_response') for kind in kinds]


def test_the_older_dialect_by_option(quadruped, gateway):
    profile = {'pace': 'lockstep'}
    with gateway(quadruped, profile, legacy=True) as server, StockClient(server.url) as client:
        start = client.reset()
        client.act(start.proprios['joint_pos'], kind='action')
        seen = Seen(*client.receive())
        assert seen.type == 'step_response'
        assert seen.timestamp > start.timestamp
        answer = [seen.header[key] for key in ('reward', 'terminated', 'truncated', 'info')]
        assert answer == [0.0, False, False, {'success': False, 'diverged': False}]


def test_a_base_is_driven_by_its_twist_and_stops_without_a_driver(rover, gateway, urlab):
    with gateway(rover) as server:
        with StockClient(server.url) as client:
            assert client.metadata()['action_layout'] == 'vx_yaw(2)'
            start = client.reset()
            client.act([0.5, 0.0])
            place = start.proprios['base_pose'][0]

            def moved():
                seen = client.observe()
                way = seen.proprios['base_pose'][0] - place
                assert way < 0.5 * (seen.timestamp - start.timestamp) + 0.02
                return way > 0.2

            wait_until(moved, every=0.05)
        watcher = urlab(rover)
        wait_until(lambda: abs(watcher.step().articulations['rover'].qvel[0]) < 0.02)
