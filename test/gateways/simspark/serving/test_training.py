# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Trainer commands on a real world: their effects, by MuJoCo's own account."""

import math

import mujoco
import numpy as np
import pytest

from test.gateways.running import simspark_at


@pytest.fixture(scope='module')
def live(soccer):
    """A gateway in front of a world of its own time."""
    with simspark_at(soccer) as gateway:
        yield gateway


@pytest.fixture
def trainer(soccer, live, urlab, watch):
    """Return a monitor and a client of the simulation, whose time is frozen."""
    client = urlab(soccer)
    client.set_paused(True)
    yield watch(live), client
    client.set_paused(False)


def ball_of(client):
    seen = client.step()
    return seen.entities['ball'].qpos, seen.entities['ball'].qvel


def test_the_ball_gets_the_position_and_velocity_of_the_command(trainer):
    monitor, client = trainer
    monitor.command(['ball', ['pos', 1, -2, 0.5], ['vel', 3, 0, 1]])
    qpos, qvel = ball_of(client)
    np.testing.assert_allclose(qpos[:3], (1, -2, 0.5))
    np.testing.assert_allclose(qvel, (3, 0, 1, 0, 0, 0))
    # The place alone keeps the velocity; a velocity ends the spin.
    monitor.command(['ball', ['pos', 0, 0, 0]])
    qpos, qvel = ball_of(client)
    np.testing.assert_allclose(qpos[:3], (0, 0, 0.042), atol=1e-3)
    np.testing.assert_allclose(qvel[:3], (3, 0, 1))
    client.set_entity_state('ball', angular=(1, 2, 3))
    monitor.command(['ball', ['vel', 0, 0, 0]])
    np.testing.assert_allclose(ball_of(client)[1], np.zeros(6))


def test_a_player_is_put_upright_with_a_heading_in_degrees_from_y(trainer):
    monitor, client = trainer
    angle = 45
    client.set_entity_state('left_1', quat=(0.7, 0.7, 0, 0), linear=(1, 0, 0))
    joints = client.step().articulations['left_1'].qpos[7:]
    monitor.command(['agent', ['unum', 1], ['team', 'Left'], ['move', -3, 2, 0.6, angle]])
    state = client.step(observations='full').articulations['left_1']
    base = next(iter(state.bodies.values()))
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, base.xquat)
    forward = np.array([-math.sin(math.radians(angle)), math.cos(math.radians(angle)), 0])
    np.testing.assert_allclose(matrix.reshape(3, 3)[:, 0], forward, atol=1e-9)
    np.testing.assert_allclose(matrix.reshape(3, 3)[:, 2], (0, 0, 1), atol=1e-9)
    np.testing.assert_allclose(base.xpos, (-3, 2, 0.6), atol=1e-9)
    np.testing.assert_array_equal(state.qvel[:6], np.zeros(6))
    np.testing.assert_array_equal(state.qpos[7:], joints)
    # Without an angle it keeps its orientation.
    monitor.command(['agent', ['unum', 1], ['team', 'Left'], ['pos', 4, 1, 0.7]])
    after = client.step().articulations['left_1'].qpos
    np.testing.assert_allclose(after[:3], (4, 1, 0.7))
    np.testing.assert_array_equal(after[3:], state.qpos[3:])
