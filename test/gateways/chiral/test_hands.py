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
from urlab_ros_bridge.wire.errors import UrlabError

PROFILES = Path(__file__).resolve().parents[3] / 'config' / 'chiral'
DOWN = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # x of the hand is down
CUBE = np.array([0.50, 0.24])


@pytest.fixture(scope='module')
def world():
    with simulation('bimanual') as port:
        yield port


def shipped(name, **changes):
    return replace(load_profile(PROFILES / f'{name}.yaml'), pace='lockstep', **changes)


@pytest.fixture(scope='module')
def hands(world, gateway):
    """Return a gateway of both hands, without images."""
    with gateway(world, shipped('bimanual_ee', cameras=[])) as server:
        yield server


@pytest.mark.parametrize('name', ['bimanual', 'bimanual_ee'])
def test_the_shipped_profiles_are_served(world, gateway, name):
    with gateway(world, shipped(name)) as server, StockClient(server.url) as client:
        metadata, seen = client.metadata(), client.reset()
        assert metadata['cameras'] == list(seen.cameras) == ['scene', 'left_wrist', 'right_wrist']
        assert metadata['action_shape'] == [14 if name == 'bimanual' else 20]
        for camera in seen.cameras.values():
            assert camera.depth.shape == camera.image.shape[:2]
            assert np.ptp(camera.image) > 50 and camera.depth.max() > 0.1


def test_a_robot_without_a_twist_controller_takes_no_twist(world, gateway):
    with (
        pytest.raises(UrlabError, match='needs a twist controller'),
        gateway(world, {'actions': [{'kind': 'twist'}]}),
    ):
        pass


def test_equal_seeds_and_actions_give_equal_images(world, gateway):
    """Bit for bit, with the matrices, in a gateway of its own each time."""
    profile = shipped('bimanual')
    profile = replace(profile, reset=replace(profile.reset, joint_noise=0.02))
    names = [f'{s}_{what}' for s in ('left', 'right') for what in ('joint_pos', 'gripper')]

    def run(seed):
        with gateway(world, profile) as server, StockClient(server.url) as client:
            seen = [client.reset(seed=seed)]
            target = np.concatenate([seen[0].proprios[name] for name in names])
            for period in range(1, 5):
                target[[1, 8]] += 0.1  # both hands go down, one of them closes
                target[6] = 1 - period % 2
                client.act(target)
                seen.append(client.observe())
            return seen

    one, two, other = run(7), run(7), run(8)
    assert [(each.header, each.payload) for each in one] == [(e.header, e.payload) for e in two]
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
