# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.extras.lockstep import rules


@given(st.integers(1, 100_000), st.sampled_from([0.0005, 0.001, 0.002, 1 / 60, 0.0041]))
def test_every_multiple_of_the_timestep_is_a_period_and_nothing_between(count, timestep):
    assert rules.steps_of(count * timestep, timestep) == count
    assert rules.steps_of(round(count * timestep, 9), timestep) == count
    with pytest.raises(rules.BadPeriod) as caught:
        rules.steps_of((count + 0.4) * timestep, timestep)
    assert rules.steps_of(caught.value.nearest, timestep) == count
