# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the control and info streams: what is packed reads back, any bytes are survived."""

import json
import struct

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.wire import control
from urlab_ros_bridge.wire.errors import MalformedRow
from urlab_ros_bridge.wire.errors import UnknownTopic

ID = st.integers(-(2**31), 2**31 - 1)


VALUE = st.floats(-1e9, 1e9, width=32)


NAME = st.text(st.characters(codec='utf-8'), max_size=10)


PREFIX = st.from_regex(r'[A-Za-z][A-Za-z0-9_]{0,20}', fullmatch=True)


GAIN_MAP = st.dictionaries(
    NAME, st.dictionaries(st.sampled_from(control.GAINS), st.floats(0, 1e10)), max_size=5
)


@given(st.lists(st.tuples(ID, VALUE), max_size=30))
def test_setpoints_read_back(pairs):
    ids, values = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    payload = control.pack_setpoints(ids, values)
    # The layout of the page: int32 count, count x (int32, float32), nothing between.
    flat = [item for pair in pairs for item in pair]
    assert payload == struct.pack('<i' + 'if' * len(pairs), len(pairs), *flat)
    back = control.unpack_setpoints(memoryview(payload))
    assert back['id'].tolist() == ids and back['value'].tolist() == values


@pytest.mark.parametrize(
    ('count', 'pairs'), [(-1, 1), (2, 1), (0, 1), (2**31 - 1, 1), (control.MAX_SETPOINTS + 1,) * 2]
)
def test_a_wrong_count_and_too_many_setpoints_are_refused(count, pairs):
    with pytest.raises(MalformedRow):
        control.unpack_setpoints(struct.pack('<i', count) + bytes(8 * pairs))


@pytest.mark.parametrize('value', [float('nan'), float('inf'), 2e10])
def test_values_beyond_mujoco_are_refused(value):
    with pytest.raises(control.MalformedControl):
        control.unpack_setpoints(control.pack_setpoints([0, 1], [0.5, value]))


@given(PREFIX, st.sampled_from(control.KINDS), st.binary(max_size=10))
def test_topics_read_back(prefix, kind, tail):
    topic = control.control_topic(kind, prefix)
    assert topic == f'{prefix}/{kind} '.encode()
    assert control.parse_control_topic(topic + tail) == (kind, prefix)


@pytest.mark.parametrize(
    'topic', [b'rover/control', b'/control ', b'rover/dance ', b'\xff/control ']
)
def test_unknown_topics_are_refused(topic):
    with pytest.raises(UnknownTopic):
        control.parse_control_topic(topic)


@given(GAIN_MAP)
def test_gains_round_trip_by_kind(gains):
    by_kind = {}
    for name, values in gains.items():
        for gain, value in values.items():
            by_kind.setdefault(gain, {})[name] = value
    back = control.unpack_gains(control.pack_gains(gains))
    assert {gain: values for gain, values in back.items() if values} == by_kind


@pytest.mark.parametrize(
    'text',
    [
        b'[]',
        b'{"a": {"ki": 1}}',
        b'{"a": {"kp": -1}}',
        b'{"a": {"kp": NaN}}',
        b'{"a":{"kp":1e999}}',
        b'[' * 100_000,
        b'{"a":[' + b'{},' * 10_000 + b'{}]}',
        b'{"a":[' + b'1,' * 32_000 + b'1]}',
        b'{"a":' + b'9' * 60_000 + b'}',
    ],
)
def test_invalid_and_hostile_gains_are_refused(text):
    with pytest.raises(control.MalformedControl):
        control.unpack_gains(text)


@given(
    st.lists(st.tuples(NAME, ID, VALUE, VALUE), max_size=6),
    PREFIX,
    st.dictionaries(NAME, NAME, max_size=3),
)
def test_info_is_the_json_of_the_stock_plugin(rows, robot, cameras):
    names, ids, mins, maxs = ([row[i] for row in rows] for i in range(4))
    info = control.ActuatorList(robot, names, ids, mins, maxs, cameras)
    assert json.loads(control.pack_info(info)) == {
        'type': 'actuator_list',
        'robot': robot,
        'names': names,
        'ids': ids,
        'mins': mins,
        'maxs': maxs,
        'camera_list': [{'name': name, 'endpoint': end} for name, end in cameras.items()],
    }
