# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Expressions: writing, reading, and errors of the reader."""

import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.gateways.simspark.errors import MalformedExpression
from urlab_ros_bridge.gateways.simspark.errors import UnwritableValue
from urlab_ros_bridge.gateways.simspark.wire.expressions import as_float
from urlab_ros_bridge.gateways.simspark.wire.expressions import as_integer
from urlab_ros_bridge.gateways.simspark.wire.expressions import atom
from urlab_ros_bridge.gateways.simspark.wire.expressions import MAX_DEPTH
from urlab_ros_bridge.gateways.simspark.wire.expressions import read
from urlab_ros_bridge.gateways.simspark.wire.expressions import write

atoms = st.text(st.characters(max_codepoint=127, exclude_characters='"'), max_size=8)
expressions = st.recursive(atoms, lambda inner: st.lists(inner, max_size=4), max_leaves=20)
finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(expressions, max_size=5))
def test_written_expressions_are_read_back_and_no_blank_follows_a_parenthesis(items):
    assert read(write(*items)) == items
    # RoboViz loses such an expression without a word.
    assert b'( ' not in write(*(x for x in items if b'"' not in write(x)))


@pytest.mark.parametrize(
    ('payload', 'items'),
    [
        (b'  \r\n\t', []),
        (b'(he1 0.5)(he2 -0.2)(syn)', [['he1', '0.5'], ['he2', '-0.2'], ['syn']]),
        (b'( init (unum 0)\n(teamname "a b"))', [['init', ['unum', '0'], ['teamname', 'a b']]]),
        (b'a(b)c()', ['a', ['b'], 'c', []]),
    ],
)
def test_examples(payload, items):
    assert read(payload) == items


@pytest.mark.parametrize(
    'payload',
    [b'(a', b'a))', b'(say "x)', b'(\xff)', b'(' * (MAX_DEPTH + 1) + b')' * (MAX_DEPTH + 1)],
)
def test_malformed_and_too_deep_expressions_are_refused(payload):
    with pytest.raises(MalformedExpression):
        read(payload)
    deep = b'(' * MAX_DEPTH + b')' * MAX_DEPTH
    assert write(*read(deep)) == deep


@given(finite, st.integers(-(10**30), 10**30))
def test_numbers_are_written_with_six_digits_integers_exactly_and_read_again(value, integer):
    text = atom(value)
    assert math.isclose(as_float(text), value, rel_tol=5.1e-6, abs_tol=1e-320)
    assert len(text) <= 13
    assert as_integer(atom(integer)) == integer


@pytest.mark.parametrize('value', [math.nan, -math.inf, 'a"b', 'ü'])
def test_a_value_without_a_text_form_is_not_written(value):
    with pytest.raises(UnwritableValue):
        write(['x', value])


@pytest.mark.parametrize(
    'text', ['nan', '-Infinity', '1e999', '0x10', '1_0', '', '.', '1e', '٣', '9' * 65, []]
)
def test_a_number_that_is_not_finite_is_refused(text):
    for read_number in (as_float, as_integer):
        with pytest.raises(MalformedExpression):
            read_number(text)


@pytest.mark.parametrize(('text', 'value'), [('1', 1), ('+.5', 0.5), ('-2.', -2), ('1E-3', 0.001)])
def test_numbers_in_all_their_forms(text, value):
    assert as_float(text) == value
