# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Twist controllers: limits, ramps, timeouts in simulation time."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from twist_rig import differential
from twist_rig import setpoints
from twist_rig import twists

from urlab_ros_bridge.sim.model.sidecar.twists import TwistLimits
from urlab_ros_bridge.sim.physics.control.twist import BadTwist

LIMITED = TwistLimits(1.5, 0.5, 2.0, linear_acceleration=3.0, angular_acceleration=8.0)


component = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(component, max_size=3), st.lists(component, max_size=3))
def test_effective_twist_is_inside_the_limits(linear, angular):
    got = differential(LIMITED).set(linear, angular, 0.0)
    asked = *[*linear, 0.0, 0.0][:2], [*angular, 0.0, 0.0, 0.0][2]
    bounds = np.array((1.5, 0.5, 2.0))
    assert got == tuple(np.clip(asked, -bounds, bounds))


@given(st.lists(st.tuples(twists, st.integers(1, 60)), min_size=1, max_size=6))
def test_ramp_never_exceeds_an_acceleration_and_arrives(commands):
    controller, dt, time = differential(LIMITED), 0.01, 0.0
    before = controller.value
    for twist, steps in [*commands, ((1.0, 0.25, -1.0), 200)]:
        target = controller.set(twist[:2], (0, 0, twist[2]), time)
        for _ in range(steps):
            setpoints(controller, 5, time)
            value = controller.value
            assert math.hypot(value[0] - before[0], value[1] - before[1]) <= 3.0 * dt + 1e-9
            assert abs(value[2] - before[2]) <= 8.0 * dt + 1e-9
            before = value
            time += dt
    assert controller.value == target


def test_timeout_counts_sim_time_only_and_a_new_twist_renews_it():
    controller = differential(TwistLimits(9.0, 0.0, 9.0))
    controller.set((1.0,), (), 10.0, timeout=0.5)
    for _ in range(1000):  # paused: calls without sim time
        setpoints(controller, 5, 10.2)
    assert controller.active and controller.value == (1.0, 0.0, 0.0)
    controller.set((0.8,), (), 10.4, timeout=0.5)
    assert setpoints(controller, 5, 10.89)[0] == pytest.approx(8.0)
    out = setpoints(controller, 5, 10.9)
    assert out[:4].tolist() == [0.0] * 4
    assert not controller.active and controller.value == (0.0, 0.0, 0.0)


def test_timeout_ramps_down_and_then_releases_the_actuators():
    controller = differential(LIMITED, timeout=0.5)
    controller.set((1.5,), (), 0.0)
    time, speeds = 0.0, []
    while controller.active and time < 5.0:
        speeds.append(setpoints(controller, 5, time)[0] * 0.1)
        time += 0.01
    assert max(speeds) == pytest.approx(1.5, abs=0.04) and speeds[-1] == 0.0
    assert 0.99 < time < 1.05  # 0.5 s until the timeout, 0.5 s of braking
    assert setpoints(controller, 5, time).tolist() == [99.0] * 5


@pytest.mark.parametrize(('linear', 'timeout'), [(math.nan, None), (1.0, -1.0), (1.0, math.inf)])
def test_bad_twists_change_nothing(linear, timeout):
    controller = differential()
    controller.set((0.5,), (), 0.0)
    with pytest.raises(BadTwist):
        controller.set((linear,), (), 0.0, timeout)
    assert setpoints(controller, 5, 1e9)[0] == pytest.approx(5.0)
