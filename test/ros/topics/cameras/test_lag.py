# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What counts as late does not depend on what the clocks of two machines say."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.topics.cameras.thread import Lag
from urlab_ros_bridge.ros.topics.cameras.thread import WINDOW

OFFSETS = st.floats(-1e6, 1e6)
WAYS = st.lists(st.floats(0.0, 3.0), min_size=1, max_size=300)
PERIOD = 1 / 30


def lags(ways, offset=0.0, period=PERIOD):
    lag = Lag()
    return [lag.of(i * period + offset, i * period + way) for i, way in enumerate(ways)]


@given(WAYS, OFFSETS)
def test_clocks_that_differ_change_nothing(ways, offset):
    assert lags(ways, offset) == pytest.approx(lags(ways), abs=1e-6)


@pytest.mark.parametrize('jump', [3600.0, -3600.0])
def test_a_clock_that_is_set_is_believed_again_soon(jump):
    lag, late = Lag(), []
    for number in range(1000):
        now = number * PERIOD
        late.append(lag.of(now + (jump if now > 10 else 0.0), now + 0.01))
    wrong = [number * PERIOD for number, each in enumerate(late) if each > 0.5]
    assert all(10 <= when <= 10 + 2 * WINDOW + PERIOD for when in wrong)
