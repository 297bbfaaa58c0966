# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import math
import time

from hypothesis import assume
from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.ros.commands.admission import check_age
from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.admission import limited
from urlab_ros_bridge.ros.commands.admission import staleness

NUMBER = st.floats(allow_nan=False, allow_infinity=False)
VECTOR = st.tuples(NUMBER, NUMBER, NUMBER)
LIMIT = st.floats(0.01, 100)
S = 1_000_000_000


@given(VECTOR, VECTOR, LIMIT, LIMIT)
def test_no_velocity_is_larger_than_its_limit(linear, angular, most, turn):
    velocity = limited(linear, angular, most, turn)
    assert math.hypot(*velocity.linear) <= most * (1 + 1e-9)
    assert math.hypot(*velocity.angular) <= turn * (1 + 1e-9)


@given(st.tuples(*[st.floats(-1e6, 1e6)] * 3))
def test_limiting_keeps_the_direction_and_values_within_the_limit(vector):
    assume(math.hypot(*vector) > 1e-3)
    found = limited(vector, vector, 0.5, 0.0)
    length = math.hypot(*vector)
    scale = min(1.0, 0.5 / length)
    assert found.linear == pytest.approx([value * scale for value in vector], abs=1e-9)
    assert found.angular == vector  # 0 is no limit


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize('place', range(6))
def test_non_finite_values_are_refused(bad, place):
    numbers = [0.0] * 6
    numbers[place] = bad
    with pytest.raises(CommandRejected, match='not finite'):
        limited(numbers[:3], numbers[3:], 1.0, 1.0)


@given(st.integers(0, 100 * S), st.integers(0, 100 * S), st.floats(0.001, 10))
def test_a_stamp_passes_exactly_when_there_is_none_or_it_is_near_enough(stamp, now, max_age):
    if stamp and abs(now - stamp) / S > max_age:
        with pytest.raises(CommandRejected, match='old' if now > stamp else 'ahead'):
            check_age(stamp, now, max_age)
    else:
        check_age(stamp, now, max_age)


@given(st.floats(-10, 10), st.floats(0.001, 10), st.sampled_from([None, 0, 5 * S]))
def test_a_stamp_of_the_wall_clock_passes_exactly_when_it_is_near_enough(age, max_age, now):
    assume(abs(abs(age) - max_age) > 1e-6)
    wall = 1_800_000_000 * S
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, 'time_ns', lambda: wall)
        if abs(age) <= max_age:
            check_age(wall - round(age * S), now, max_age)
        else:
            with pytest.raises(CommandRejected, match='not known' if now is None else 'by the wa'):
                check_age(wall - round(age * S), now, max_age)


def test_no_check_always_passes_and_without_a_time_no_stamp():
    check_age(50 * S, None, 0.0)
    check_age(0, None, 0.5)
    with pytest.raises(CommandRejected, match='not known'):
        check_age(5 * S, None, 0.5)


@pytest.mark.parametrize(
    ('age', 'limit', 'word'),
    [(0.4, 0.5, ''), (-0.4, 0.5, ''), (9.0, 0.0, ''), (9.0, 0.5, '9.0'), (-9.0, 0.5, 'future')],
)
def test_the_age_of_a_message_is_that_of_its_source_timestamp(monkeypatch, age, limit, word):
    monkeypatch.setattr(time, 'time_ns', lambda: 100 * S)
    found = staleness({'source_timestamp': round((100 - age) * S)}, limit)
    assert bool(found) == bool(word) and word in found
    assert staleness({'source_timestamp': 0}, limit) == staleness({}, limit) == ''
