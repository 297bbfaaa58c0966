# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Values of requests: taken as they are, or refused by name."""

import math

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.fields import MAX_MAGNITUDE
from urlab_ros_bridge.sim.requests.fields import vector

NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats()
ANY = NUMBERS | st.none() | st.booleans() | st.text() | st.binary() | st.lists(NUMBERS)


def refused(call):
    with pytest.raises(OpError) as caught:
        call()
    return caught.value


def error_of(call):
    try:
        call()
    except OpError as error:
        return error


def is_good(value):
    return type(value) in (int, float) and math.isfinite(value) and abs(value) <= MAX_MAGNITUDE


@given(st.lists(NUMBERS, max_size=20) | st.lists(ANY, max_size=6))
def test_a_vector_is_taken_exactly_when_all_are_numbers_in_range(values):
    if all(map(is_good, values)):
        assert np.array_equal(vector('v', values), np.array(values, dtype=float))
        assert vector('v', values).shape == (len(values),)
    else:
        error = refused(lambda: vector('per.ctrl', values))
        assert error.code == 'bad_value' and str(error).startswith('per.ctrl: ')


@given(ANY)
def test_every_reader_accepts_a_value_or_refuses_it_by_name(value):
    fields = Fields({'x': value}, 'where.')
    for read in (
        lambda: fields.string('x'),
        lambda: fields.boolean('x'),
        lambda: fields.number('x', low=-5, high=5),
        lambda: fields.integer('x', 3),
        lambda: fields.choice('x', ('one', 'two'), 'one'),
        lambda: fields.vector('x'),
        lambda: fields.mapping('x'),
    ):
        error = error_of(read)
        if error is not None:
            assert value is not None, 'null counts as absent'
            assert error.code == 'bad_value' and str(error).startswith('where.x: ')
