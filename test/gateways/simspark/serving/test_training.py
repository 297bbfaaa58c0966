# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Trainer commands on a real world: their effects, by MuJoCo's own account."""

import math

import numpy as np
import pytest
from simspark_client.clients import NotAcknowledged

from test.gateways.running import simspark_at


@pytest.fixture
def trainer(soccer, urlab, watch):
    """Return a monitor and a client of the simulation, whose time is frozen."""
    client = urlab(soccer)
    client.set_paused(True)
    with simspark_at(soccer) as gateway:
        yield watch(gateway), client
    client.set_paused(False)


def test_the_ball_gets_the_position_and_velocity_of_the_command(trainer):
    monitor, client = trainer

    def ball():
        seen = client.step().entities['ball']
        return [*seen.qpos[:3], *seen.qvel]

    monitor.command(['ball', ['pos', 1, -2, 0.5], ['vel', 3, 0, 1]])
    np.testing.assert_allclose(ball(), (1, -2, 0.5, 3, 0, 1, 0, 0, 0))
    # The place alone keeps the velocity; a velocity ends the spin.
    monitor.command(['ball', ['pos', 0, 0, 0]])
    np.testing.assert_allclose(ball()[:6], (0, 0, 0.042, 3, 0, 1), atol=1e-3)
    client.set_entity_state('ball', angular=(1, 2, 3))
    monitor.command(['ball', ['vel', 0, 0, 0]])
    np.testing.assert_allclose(ball()[3:], np.zeros(6))
    monitor.timeout = 0.5
    with pytest.raises(NotAcknowledged):
        monitor.command(['kill', ['unum', 7], ['team', 'Right']])


def test_a_player_is_put_upright_with_a_heading_in_degrees_from_y(trainer):
    monitor, client = trainer
    client.set_entity_state('left_1', quat=(0.7, 0.7, 0, 0), linear=(1, 0, 0))
    joints = client.step().articulations['left_1'].qpos[7:]
    monitor.command(['agent', ['unum', 1], ['team', 'Left'], ['move', -3, 2, 0.6, 45]])
    state = client.step().articulations['left_1']
    half = math.radians(45 + 90) / 2  # about z, from x
    upright = math.cos(half), 0, 0, math.sin(half)
    np.testing.assert_allclose(state.qpos[:7], (-3, 2, 0.6, *upright), atol=1e-9)
    np.testing.assert_array_equal(state.qvel[:6], np.zeros(6))
    np.testing.assert_array_equal(state.qpos[7:], joints)
    # Without an angle it keeps its orientation.
    monitor.command(['agent', ['unum', 1], ['team', 'Left'], ['pos', 4, 1, 0.7]])
    after = client.step().articulations['left_1'].qpos
    np.testing.assert_allclose(after[:3], (4, 1, 0.7))
    np.testing.assert_array_equal(after[3:], state.qpos[3:])
