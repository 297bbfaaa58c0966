# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The world `bimanual` through its shipped profiles: joints, hands, and a cube picked up."""

from dataclasses import replace
from pathlib import Path

from bundled_server import simulation
import numpy as np
import pytest

from test.gateways.chiral.stock_client import connect_when_free
from test.gateways.chiral.stock_client import StockClient
from urlab_ros_bridge.gateways.chiral.profile.profile import load_profile
from urlab_ros_bridge.gateways.chiral.serving.server import ChiralConfig
from urlab_ros_bridge.gateways.chiral.serving.server import ChiralServer

PROFILES = Path(__file__).resolve().parents[3] / 'config' / 'chiral'
DOWN = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # x of the hand is down
CUBE = np.array([0.50, 0.24])


@pytest.fixture(scope='module')
def world():
    with simulation('bimanual') as port:
        yield port


@pytest.fixture(scope='module')
def hands(world):
    """Return a gateway of both hands in lockstep, without images."""
    profile = replace(load_profile(PROFILES / 'bimanual_ee.yaml'), pace='lockstep', cameras=[])
    server = ChiralServer(ChiralConfig(profile, rpc_port=world, port=0))
    server.start()
    yield server
    server.stop()


@pytest.mark.parametrize('name', ['bimanual', 'bimanual_ee'])
def test_the_shipped_profiles_are_served(world, name):
    profile = replace(load_profile(PROFILES / f'{name}.yaml'), pace='lockstep')
    server = ChiralServer(ChiralConfig(profile, rpc_port=world, port=0))
    server.start()
    try:
        with StockClient(server.url) as client:
            said, seen = client.metadata(), client.reset()
            assert said['cameras'] == list(seen.cameras) == ['scene', 'left_wrist', 'right_wrist']
            assert said['action_shape'] == [14 if name == 'bimanual' else 20]
            for camera in seen.cameras.values():
                assert camera.depth.shape == camera.image.shape[:2]
                assert np.ptp(camera.image) > 50 and camera.depth.max() > 0.1
    finally:
        server.stop()


def test_equal_seeds_and_actions_give_equal_images(world):
    """Bit for bit, with the matrices, in a gateway of its own each time."""
    profile = replace(load_profile(PROFILES / 'bimanual.yaml'), pace='lockstep')
    profile = replace(profile, reset=replace(profile.reset, joint_noise=0.02))

    def run(seed):
        server = ChiralServer(ChiralConfig(profile, rpc_port=world, port=0))
        server.start()
        try:
            with StockClient(server.url) as client:
                seen = [client.reset(seed=seed)]
                target = np.concatenate(
                    [
                        seen[0].proprios[f'{side}_{what}']
                        for side in ('left', 'right')
                        for what in ('joint_pos', 'gripper')
                    ]
                )
                for period in range(1, 5):
                    target[[1, 8]] += 0.1  # both hands go down, one of them closes
                    target[6] = 1 - period % 2
                    client.act(target)
                    seen.append(client.observe())
                return seen
        finally:
            server.stop()

    one, two, other = run(7), run(7), run(8)
    for first, second in zip(one, two, strict=True):
        assert first.payload == second.payload
        assert first.header == second.header
    assert other[0].payload != one[0].payload
    moved = one[0].cameras['scene'].image != one[-1].cameras['scene'].image
    assert moved.any(axis=2).sum() > 500


def hand(position, opening):
    return np.concatenate((position, DOWN[:2].ravel(), [opening]))


def go(client, left, right, periods):
    for _ in range(periods):
        client.act(np.concatenate((left, right)))
    return client.observe()


RIGHT = hand([0.46, -0.2, 0.98], 1.0)


def test_hands_go_where_they_are_sent(hands):
    random = np.random.default_rng(6)
    with connect_when_free(hands.url) as client:
        client.reset()
        for _ in range(4):
            left = np.array([0.48, 0.2, 1.0]) + random.uniform(-0.07, 0.07, 3)
            seen = go(client, hand(left, 1.0), RIGHT, 25)
            pose = seen.proprios['left_ee_pose']
            np.testing.assert_allclose(pose[:3], left, atol=4e-3)
            np.testing.assert_allclose(pose[3:], DOWN[:2].ravel(), atol=0.02)
            np.testing.assert_allclose(seen.proprios['right_ee_pose'][:3], RIGHT[:3], atol=4e-3)


def test_a_pose_out_of_reach_gives_the_nearest(hands):
    with connect_when_free(hands.url) as client:
        client.reset()
        seen = go(client, hand([2.0, 0.22, 1.1], 1.0), RIGHT, 40)
        position = seen.proprios['left_ee_pose'][:3]
        assert 0.55 < np.linalg.norm(position - [0.0, 0.22, 1.1]) < 0.9
        assert np.isfinite(position).all()


def test_a_rotation_that_is_none_is_refused(hands):
    with connect_when_free(hands.url) as client:
        client.reset()
        bad = hand([0.4, 0.2, 1.0], 1.0)
        bad[3:9] = 0.0
        client.act(np.concatenate((bad, RIGHT)))
        with pytest.raises(Exception, match='rot6d'):
            client.receive()


def test_a_cube_is_picked_up(hands, world, urlab):
    """Down, close, up: the simulated fingers hold what they close on."""
    with connect_when_free(hands.url) as client:
        client.reset()
        above, on = np.array([*CUBE, 0.90]), np.array([*CUBE, 0.768])
        go(client, hand(above, 1.0), RIGHT, 30)
        seen = go(client, hand(on, 1.0), RIGHT, 30)
        assert seen.proprios['left_gripper'][0] > 0.95
        seen = go(client, hand(on, 0.0), RIGHT, 20)
        assert 0.3 < seen.proprios['left_gripper'][0] < 0.6
        go(client, hand(above, 0.0), RIGHT, 40)
    cube = urlab(world).forward().entities['red_cube']
    assert cube.xpos[2] == pytest.approx(0.90, abs=0.02)
