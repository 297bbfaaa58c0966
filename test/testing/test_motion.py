# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How far something moved, and stepping until something is so."""

import math

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
def test_the_distance_is_returned_and_the_bounds_hold(start, end):
    way = math.dist(start, end)
    assert assert_moved(start, end, 0.0) == pytest.approx(way)
    with pytest.raises(DidNotMove):
        assert_moved(start, end, way + 0.1)
    with pytest.raises(DidNotMove):
        assert_moved(start, end, -1.0, way - 0.1)


def test_stepping_ends_at_the_condition_or_names_the_exceeded_limit():
    with (
        FakeServer('rover', mode='direct') as server,
        Client('127.0.0.1', server.ports['rpc'], shared=True) as client,
    ):
        client.set_twist('rover', (1.0, 0.0, 0.0))
        state = step_until(client, lambda s: s.articulations['rover'].qpos[0] > 0.495, 5.0)
        assert state.time == pytest.approx(0.5)
        with pytest.raises(NotInTime, match=r'0\.3 s '):
            step_until(client, lambda s: False, 0.3, n_steps=10)
        assert client.forward().time < 1.0
        client.set_mode('live')
        client.set_paused(True)  # time is frozen
        with pytest.raises(NotInTime, match=r'0\.2 s of wall time'):
            step_until(client, lambda s: False, 0.3, wall_timeout=0.2)
