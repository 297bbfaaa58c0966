# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What is translated to the dialect of v0.6 and back is what it was."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.wire import dialect

NAMES = st.text('abc_', min_size=1, max_size=4)


BLOCKS = st.dictionaries(
    st.sampled_from(['qpos', 'xpos', 'ctrl']), st.lists(st.floats(), max_size=3)
)


PAGE_MODES = ('live', 'direct', 'puppet')


@given(st.dictionaries(NAMES, BLOCKS), st.dictionaries(NAMES, BLOCKS), st.sampled_from(PAGE_MODES))
def test_replies_round_trip(robots, others, mode):
    others = {name: block for name, block in others.items() if name not in robots}
    reply = {
        'op': 'step_ok', 'time': 1.0, 'per_articulation': robots, 'entities': others, 'mode': mode,
    }  # fmt: skip
    there = dialect.reply_to_v06(reply, 'here')
    assert not {'per_articulation', 'entities'} & there.keys() and there['mode'] not in PAGE_MODES
    assert repr(dialect.reply_from_v06(there, robots.keys())) == repr(
        {key: reply[key] for key in ('op', 'time', 'mode', 'per_articulation', 'entities')}
    )


@given(st.lists(NAMES, unique=True), st.lists(NAMES, unique=True))
def test_handshakes_round_trip(robots, others):
    articulations = [{'prefix': name, 'actuator_types': {'motor': 'motor'}} for name in robots]
    entities = {name: {'id': 3, 'has_free_base': False} for name in others if name not in robots}
    reply = {'op': 'hello_ok', 'articulations': articulations, 'entities': entities}
    there = dialect.reply_to_v06(reply, 'here')
    assert dialect.is_v06(there) and not dialect.is_v06(reply) and 'articulations' not in there
    assert there['instance'] == {'host': 'here'}
    back = dialect.handshake_from_v06(there)
    assert back['entities'] == entities
    assert [block['prefix'] for block in back['articulations']] == robots


@pytest.mark.parametrize('op', ['set_mode', 'step'])
def test_modes_of_requests_round_trip(op):
    for mode in PAGE_MODES:
        there = dialect.request_to_v06({'op': op, 'mode': mode})
        assert there['mode'] not in PAGE_MODES
        assert dialect.request_from_v06(there) == {'op': op, 'mode': mode}
    # What is no mode anywhere reaches the server, which names it.
    assert dialect.request_from_v06({'op': op, 'mode': 'odd'})['mode'] == 'odd'


@pytest.mark.parametrize('entities', [[3], [{}], [{'prefix': 7}]])
def test_entities_without_names_stay_for_the_reader_to_refuse(entities):
    reply = {'op': 'hello_ok', 'entities': entities}
    assert dialect.handshake_from_v06(reply) == reply


@given(st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.lists(st.integers())))
def test_malformed_replies_are_translated_without_an_error(odd):
    for name in ('arts', 'scene', 'per_articulation', 'entities', 'mode', 'handshake_payload'):
        for value in (None, 3, 'text', [1], odd):
            message = {'op': 'step_ok', **odd, name: value}
            assert isinstance(dialect.reply_from_v06(message, ()), dict)
            assert isinstance(dialect.reply_to_v06(message, ''), dict)
