# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How far something moved, and stepping until something is so."""

import math
import time

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.client.client import Client
from urlab_ros_bridge.testing import assert_moved
from urlab_ros_bridge.testing import FakeServer
from urlab_ros_bridge.testing import step_until
from urlab_ros_bridge.testing.errors import DidNotMove
from urlab_ros_bridge.testing.errors import NotInTime

points = st.lists(st.floats(-100, 100), min_size=3, max_size=3)


@given(points, points)
def test_without_a_direction_it_is_the_distance_and_the_bounds_hold(start, end):
    way = math.dist(start, end)
    assert assert_moved(start, end, 0.0) == pytest.approx(way)
    with pytest.raises(DidNotMove):
        assert_moved(start, end, way + 0.1)
    with pytest.raises(AssertionError, match='at most'):
        assert_moved(start, end, -1.0, way - 0.1)


@pytest.fixture
def driven():
    with FakeServer('rover', mode='direct') as server:
        client = Client('127.0.0.1', server.ports['rpc'], shared=True)
        client.connect()
        client.set_twist('rover', (1.0, 0.0, 0.0))
        yield server, client
        client.close()


def test_stepping_ends_at_the_first_state_that_satisfies_the_condition(driven):
    _, client = driven
    state = step_until(client, lambda s: s.articulations['rover'].qpos[0] > 0.495, 5.0)
    assert state.articulations['rover'].qpos[0] == pytest.approx(0.5)
    assert state.time == pytest.approx(0.5)


def test_limits_are_in_simulation_and_wall_time_and_the_error_names_the_exceeded_one(driven):
    server, client = driven
    with pytest.raises(NotInTime, match=r'0\.3 s .*lambda'):
        step_until(client, lambda s: False, 0.3, n_steps=10)
    assert client.forward().time < 0.6
    client.set_mode('live')
    client.set_paused(True)  # time is frozen
    with pytest.raises(NotInTime, match=r'within 0.2 s of wall time.*only 0 s have passed'):
        step_until(client, lambda s: False, 0.3, wall_timeout=0.2)
    client.set_paused(False)
    begun = server.time
    assert step_until(client, lambda s: s.time > begun + 0.1, 5.0).time > begun + 0.1
    # A reset during the wait restarts it.
    client.set_mode('direct')
    steps = iter(range(1000))

    def reset_once(state):
        if next(steps) == 20:
            client.reset()
        return False

    with pytest.raises(NotInTime, match=r'at 0\.3'):
        step_until(client, reset_once, 0.3)
    assert next(steps) > 40


def test_a_stalled_server_is_a_timeout_of_the_client_and_not_a_hang(driven):
    server, client = driven
    server.stall(0.5)
    wall = time.monotonic()
    step_until(client, lambda s: True, 1.0)
    assert time.monotonic() - wall > 0.3
