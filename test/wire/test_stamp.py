# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of time stamps: nearest nanosecond, order kept, blocks read back exactly."""

from fractions import Fraction
import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.wire.stamp import BadTime
from urlab_ros_bridge.wire.stamp import block_to_ns
from urlab_ros_bridge.wire.stamp import MAX_SECONDS
from urlab_ros_bridge.wire.stamp import NANOSECONDS
from urlab_ros_bridge.wire.stamp import ns_to_block
from urlab_ros_bridge.wire.stamp import seconds_to_ns

TIMES = st.floats(0, 1e5)


@given(TIMES)
def test_a_stamp_is_the_nearest_nanosecond(seconds):
    exact = Fraction(seconds) * NANOSECONDS
    float_rounding = Fraction(math.ulp(seconds * 1e9))
    assert abs(seconds_to_ns(seconds) - exact) <= Fraction(1, 2) + float_rounding


@given(st.integers(0, 200_000), st.sampled_from([0.001, 0.002, 0.0025, 0.005, 0.01, 1 / 240]))
def test_ticks_get_distinct_stamps_on_the_grid(step, timestep):
    stamp = seconds_to_ns(step * timestep)
    assert stamp == round(Fraction(step) * Fraction(timestep) * NANOSECONDS)
    assert seconds_to_ns((step + 1) * timestep) > stamp


@given(st.integers(-(2**62), 2**62))
def test_blocks_carry_nanoseconds_exactly(ns):
    block = ns_to_block(ns)
    assert 0 <= block['nsec'] < NANOSECONDS
    assert block_to_ns(block) == ns
    # Stock servers send both numbers as float64; they are exact up to 2^53.
    assert block_to_ns({key: float(value) for key, value in block.items()}) == ns


NO_TIMES = st.sampled_from([math.nan, math.inf, -math.inf])


@given(NO_TIMES | st.floats(min_value=MAX_SECONDS, exclude_min=True))
def test_times_without_a_stamp_are_refused(seconds):
    with pytest.raises(BadTime):
        seconds_to_ns(seconds)
    with pytest.raises(BadTime):
        block_to_ns({'sec': seconds, 'nsec': 0})
