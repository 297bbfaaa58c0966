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
from urlab_ros_bridge.gateways.simspark.wire.expressions import head
from urlab_ros_bridge.gateways.simspark.wire.expressions import MAX_DEPTH
from urlab_ros_bridge.gateways.simspark.wire.expressions import named
from urlab_ros_bridge.gateways.simspark.wire.expressions import read
from urlab_ros_bridge.gateways.simspark.wire.expressions import write

atoms = st.text(st.characters(max_codepoint=127, exclude_characters='"'), max_size=8)
expressions = st.recursive(atoms, lambda inner: st.lists(inner, max_size=4), max_leaves=20)
finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(expressions, max_size=5))
def test_written_expressions_are_read_back(items):
    assert read(write(*items)) == items


@given(st.lists(expressions, max_size=5))
def test_no_blank_follows_a_parenthesis_outside_quotes(items):
    # RoboViz loses such an expression without a word.
    assert b'( ' not in write(*(x for x in items if b'"' not in write(x)))


@pytest.mark.parametrize(
    ('payload', 'items'),
    [
        (b'', []),
        (b'  \r\n\t', []),
        (b'(he1 0.5)(he2 -0.2)(syn)', [['he1', '0.5'], ['he2', '-0.2'], ['syn']]),
        (
            b'((ball (pos 0 0 50))(getAck moved_ball_in_the_air))',
            [[['ball', ['pos', '0', '0', '50']], ['getAck', 'moved_ball_in_the_air']]],
        ),
        (b'( init (unum 0)\n(teamname "a b"))', [['init', ['unum', '0'], ['teamname', 'a b']]]),
        (b'a(b)c', ['a', ['b'], 'c']),
        (b'()', [[]]),
    ],
)
def test_examples(payload, items):
    assert read(payload) == items


@pytest.mark.parametrize(
    ('payload', 'why'),
    [
        (b'(a', '1 "\\("'),
        (b'a))', 'without its "\\("'),
        (b'(say "x)', 'quote'),
        (b'"', 'quote'),
        (b'(\xff)', 'byte 1 is 0xff'),
        (b'(' * 3000, 'deeper'),
        (b'(' * (MAX_DEPTH + 1) + b')' * (MAX_DEPTH + 1), 'deeper'),
    ],
)
def test_malformed_expressions_are_refused(payload, why):
    with pytest.raises(MalformedExpression, match=why):
        read(payload)


def test_the_maximum_depth_is_accepted():
    payload = b'(' * MAX_DEPTH + b')' * MAX_DEPTH
    assert write(*read(payload)) == payload


@given(finite)
def test_numbers_are_written_with_six_digits_and_read_again(value):
    text = atom(value)
    assert math.isclose(as_float(text), value, rel_tol=5.1e-6, abs_tol=1e-320)
    assert len(text) <= 13


@given(st.integers(-(10**30), 10**30))
def test_integers_are_written_exactly(value):
    assert as_integer(atom(value)) == value


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf, 'a"b', 'ü'])
def test_a_value_without_a_text_form_is_not_written(value):
    with pytest.raises(UnwritableValue):
        write(['x', value])


@pytest.mark.parametrize(
    'text',
    [
        'nan',
        'inf',
        '-Infinity',
        '1e999',
        '0x10',
        '1_0',
        '',
        '.',
        '-',
        '1e',
        'a',
        '٣',
        '9' * 65,
        [],
    ],
)
def test_a_number_that_is_not_finite_is_refused(text):
    with pytest.raises(MalformedExpression, match='not a finite number'):
        as_float(text)
    with pytest.raises(MalformedExpression, match='not a whole number'):
        as_integer(text)


@pytest.mark.parametrize(('text', 'value'), [('1', 1), ('+.5', 0.5), ('-2.', -2), ('1E-3', 0.001)])
def test_numbers_in_all_their_forms(text, value):
    assert as_float(text) == value


def test_a_list_is_found_by_its_first_atom():
    items = ['pos', ['vel'], ['vel', '1'], ['vel', '2'], [['x'], 'vel']]
    assert named(items, 'vel') == ['1']
    assert named(items, 'pos') is None
    assert [head(item) for item in [*items, []]] == ['', 'vel', 'vel', 'vel', '', '']
