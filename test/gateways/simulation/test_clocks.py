# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Latency from an observation to the action that follows from it, and control periods."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.gateways.simulation.clocks import LatencyMeter
from urlab_ros_bridge.gateways.simulation.clocks import steps_at


def test_latency_is_that_of_the_oldest_image():
    meter = LatencyMeter('sim')
    assert meter.report() == {}
    meter.add({}, 5.0)
    meter.add({'a': 4.9, 'b': 4.7}, 5.0)
    meter.add({'a': 5.0}, 5.1)
    meter.add({'a': 9.0}, 5.2)  # from before a reset
    report = meter.report()
    assert report['count'] == 2
    assert (report['last'], report['max'], report['mean']) == pytest.approx((0.1, 0.3, 0.2))


@given(st.floats(1, 5000), st.floats(0.0005, 0.0025), st.integers(1, 300))
def test_periods_never_drift_from_the_rate_and_are_a_step_at_least(rate, timestep, periods):
    steps = [steps_at(period, rate, timestep) for period in range(periods)]
    assert min(steps) >= 1
    if rate * timestep < 1:
        assert sum(steps) * timestep == pytest.approx(periods / rate, abs=timestep)
