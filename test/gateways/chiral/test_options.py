# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Effects of profile options: clocks, kinds of actions, the loss of a driver."""

import time

import numpy as np
import pytest
from waiting import wait_until
from websockets.exceptions import ConnectionClosed

from test.evaluation import policies
from test.gateways.chiral.stock_client import connect_when_free
from test.gateways.chiral.stock_client import StockClient

LOCKSTEP = {'pace': 'lockstep'}


def test_timestamps_of_the_clock_that_was_asked_for(quadruped, gateway):
    with gateway(quadruped, {'clock': 'unix_ns'}) as server, StockClient(server.url) as client:
        client.reset()
        before = time.time_ns()
        stamp = client.observe().timestamp
        assert isinstance(stamp, int) and before <= stamp <= time.time_ns()
        client.act(np.tile([0.0, 0.83, -1.66], 4), {'camera': stamp})
        latency = wait_until(lambda: client.observe().extra['latency'])
        assert 0 < latency['last'] <= (time.time_ns() - stamp) / 1e9


def test_actions_do_not_wait_for_an_observation_that_is_made_on_request(rover, gateway, urlab):
    profile, watcher = (
        {'frames': 'fresh', 'task': {'hook': f'{policies.__name__}:slow'}},
        urlab(rover),
    )
    with gateway(rover, profile) as server, StockClient(server.url) as client:
        client.send({'type': 'obs_request'})
        client.act([0.5, 0.0])
        wait_until(lambda: watcher.step().articulations['rover'].qvel[0] > 0.1)
        policies.let_go.set()
        assert client.receive()[0]['type'] == 'obs_response'


@pytest.mark.parametrize('then', ['hold', 'stop'])
def test_a_lost_driver_leaves_its_target_in_force_or_stops(quadruped, gateway, then):
    """The target is beyond the range of the joints, which never get there."""
    streams = [{'kind': 'joint_position'}, {'kind': 'joint_target'}]
    profile = {'control': {'on_disconnect': then}, 'proprio': streams}

    def lag(client):
        seen = client.observe().proprios
        return np.abs(seen['joint_target'] - seen['joint_position']).max()

    with gateway(quadruped, profile) as server:
        with StockClient(server.url) as client:
            client.act(client.reset().proprios['joint_position'] + 3.0)
            wait_until(lambda: lag(client) > 1.0)
        with connect_when_free(server.url) as client:
            wait_until(lambda: then == 'hold' or lag(client) < 0.5)
            time.sleep(0.3)
            assert (lag(client) > 1.0) == (then == 'hold')


def test_a_lost_driver_can_mean_a_reset(quadruped, gateway):
    profile = {**LOCKSTEP, 'control': {'on_disconnect': 'reset'}}
    with gateway(quadruped, profile) as server:
        with StockClient(server.url) as client:
            start = client.reset().proprios['joint_pos']
            for _ in range(20):
                client.act(start + [0, 0.25, -0.25] * 4)
            assert client.observe().timestamp > 0.5
        with connect_when_free(server.url) as client:
            seen = client.observe()
        assert seen.timestamp < 0.01
        np.testing.assert_allclose(seen.proprios['joint_pos'], start, atol=1e-3)


@pytest.mark.parametrize(
    ('kind', 'action', 'count'), [('joint_delta', 0.02, 5), ('joint_velocity', 0.3, 10)]
)
def test_deltas_add_up_and_velocities_move_targets(quadruped, gateway, kind, action, count):
    """No actuator of the quadruped takes a velocity."""
    profile = {**LOCKSTEP, 'actions': [{'kind': kind, 'joints': ['FL_thigh']}]}
    profile['proprio'] = [{'kind': 'joint_target', 'joints': ['FL_thigh']}]
    with gateway(quadruped, profile) as server, StockClient(server.url) as client:
        start = client.reset().proprios['joint_target']
        for _ in range(count):
            client.act([action])
        end = client.observe().proprios['joint_target']
        assert end == pytest.approx(start + 0.1, abs=1e-5)


def test_chunks_can_be_cut_or_refused(quadruped, gateway):
    chunk = np.tile([0.0, 0.83, -1.66], (3, 4))
    first, refuse = ({**LOCKSTEP, 'control': {'chunks': each}} for each in ('first', 'refuse'))
    with gateway(quadruped, first) as server, StockClient(server.url) as client:
        start = client.reset().timestamp
        client.act(chunk)
        assert client.observe().timestamp - start == pytest.approx(1 / 30, abs=0.003)
    with gateway(quadruped, refuse) as server, StockClient(server.url) as client:
        client.act(chunk)
        with pytest.raises(ConnectionClosed, match=r'1008 .*3 actions'):
            client.receive()


def test_torques_go_past_the_controller(quadruped, gateway):
    actions = [{'kind': 'joint_torque', 'joints': ['FL_calf', 'FL_thigh']}]
    streams = [{'kind': 'joint_torque', 'joints': ['FL_calf', 'FL_thigh', 'FR_hip']}]
    profile = {**LOCKSTEP, 'actions': actions, 'proprio': streams}
    with gateway(quadruped, profile) as server, StockClient(server.url) as client:
        client.reset()
        client.act([3.0, -2.0])
        torques = client.observe().proprios['joint_torque']
        np.testing.assert_allclose(torques[:2], [3.0, -2.0], atol=1e-4)
        client.act([1000.0, 0.0])
        assert client.observe().proprios['joint_torque'][0] == pytest.approx(35.5)


def test_streams_are_sensors_and_poses_relative_to_the_reference(quadruped, gateway, urlab):
    """The accelerometer of a robot that stands feels gravity."""
    streams = [
        {'name': 'felt', 'kind': 'sensor', 'sensor': 'imu_accel'},
        {'name': 'foot', 'kind': 'ee_pose', 'site': 'FL_foot', 'rotation': 'quat'},
        {'name': 'self', 'kind': 'ee_pose', 'site': 'base_link', 'rotation': 'rpy'},
        {'name': 'world', 'kind': 'ee_pose', 'site': 'base_link', 'reference': 'world'},
        {'kind': 'base_pose'},
    ]
    profile = {**LOCKSTEP, 'proprio': streams, 'reset': {'settle': 1.0}}
    with gateway(quadruped, profile) as server:
        with StockClient(server.url) as client:
            seen = client.reset().proprios
        now = urlab(quadruped).forward().articulations['quadruped'].sensors['imu_accel']
    assert seen['felt'].dtype == np.float32 and seen['felt'][-1] == pytest.approx(9.81, abs=0.3)
    np.testing.assert_allclose(seen['felt'], now, atol=0.05)
    np.testing.assert_allclose(seen['self'], 0, atol=1e-6)
    np.testing.assert_allclose(seen['world'], seen['base_pose'], atol=1e-6)
    assert seen['foot'][0] > 0.1 and seen['foot'][1] > 0.05 and seen['foot'][2] < -0.2
