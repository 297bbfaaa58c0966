# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The world `bimanual` through its shipped profiles: joints, hands, and a cube picked up."""

from dataclasses import replace
from pathlib import Path

from bundled_server import simulation
import numpy as np
import pytest

from test.gateways.chiral.stock_client import StockClient
from urlab_ros_bridge.gateways.chiral.profile.profile import load_profile

PROFILES = Path(__file__).resolve().parents[3] / 'config' / 'chiral'
DOWN = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # x of the hand is down
CUBE = np.array([0.50, 0.24])


@pytest.fixture(scope='module')
def world():
    with simulation('bimanual') as port:
        yield port


def shipped(name, **changes):
    return replace(load_profile(PROFILES / f'{name}.yaml'), pace='lockstep', **changes)


def test_equal_seeds_and_actions_give_equal_images(world, gateway):
    """Bit for bit, with the matrices, in a gateway of its own each time."""
    profile = shipped('bimanual')
    profile = replace(profile, reset=replace(profile.reset, joint_noise=0.02))
    names = [f'{s}_{what}' for s in ('left', 'right') for what in ('joint_pos', 'gripper')]

    def run(seed, periods):
        with gateway(world, profile) as server, StockClient(server.url) as client:
            seen = [client.reset(seed=seed)]
            target = np.concatenate([seen[0].proprios[name] for name in names])
            for period in range(periods):
                target[[1, 8]] += 0.2  # both hands go down, one of them closes
                target[6] = period % 2
                client.act(target)
                seen.append(client.observe())
            return seen

    one, two, (other,) = run(7, 2), run(7, 2), run(8, 0)
    assert [(each.header, each.payload) for each in one] == [(e.header, e.payload) for e in two]
    assert other.payload != one[0].payload
    assert list(one[0].cameras) == ['scene', 'left_wrist', 'right_wrist']
    scene, last = (seen.cameras['scene'] for seen in (one[0], one[-1]))
    assert (scene.image != last.image).any(axis=2).sum() > 500
    u, v, depth = scene.intrinsics @ (np.linalg.inv(scene.extrinsics) @ [*CUBE, 0.76, 1.0])[:3]
    red, green, blue = scene.image[int(v / depth), int(u / depth)].astype(int)
    assert red > 2 * green and red > 2 * blue  # where the red cube is


def hand(position, opening):
    return np.concatenate((position, DOWN[:2].ravel(), [opening]))


def go(client, left, opening, periods):
    """Move the left hand; the other one waits."""
    for _ in range(periods):
        client.act(np.concatenate((hand(left, opening), hand([0.46, -0.2, 0.98], 1.0))))
    return client.observe()


def test_a_cube_is_picked_up(gateway, world, urlab):
    """Down, close, up: the simulated fingers hold what they close on."""
    profile = shipped('bimanual_ee', cameras=[])
    with gateway(world, profile) as server, StockClient(server.url) as client:
        client.reset()
        above, on = np.array([*CUBE, 0.90]), np.array([*CUBE, 0.768])
        go(client, above, 1.0, 20)
        assert go(client, on, 1.0, 20).proprios['left_gripper'][0] > 0.95
        assert 0.3 < go(client, on, 0.0, 20).proprios['left_gripper'][0] < 0.6
        go(client, above, 0.0, 30)
    cube = urlab(world).forward().entities['red_cube']
    assert cube.xpos[2] == pytest.approx(0.90, abs=0.02)
