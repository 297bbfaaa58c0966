# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the PUB rows: layouts read back, topics parse, any bytes give a value or a WireError."""

import struct

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from urlab_ros_bridge.wire import rows
from urlab_ros_bridge.wire.errors import MalformedRow
from urlab_ros_bridge.wire.errors import UnknownTopic

F32 = st.floats(width=32, allow_nan=False)


F64 = st.floats(allow_nan=False)


ID = st.integers(-(2**31), 2**31 - 1)


SEGMENT = st.text(st.characters(codec='utf-8', exclude_characters='/'), min_size=1, max_size=8)


PREFIX = SEGMENT.filter(lambda prefix: prefix not in ('scene', 'points'))


NAME = st.text(st.characters(codec='utf-8'), min_size=1, max_size=10)


JOINT = st.tuples(ID, F32, F32, F32)
BASE = st.builds(rows.BaseState, *[st.tuples(*[F32] * n) for n in (3, 4, 3, 3)])
I64 = st.integers(-(2**63), 2**63 - 1)
SIM_TIME = st.tuples(I64, st.integers(0, 2**64 - 1), I64)


@given(JOINT, BASE, SIM_TIME)
def test_rows_of_one_size_read_back(joint, base, sim_time):
    packed = rows.pack_joint(*joint), rows.pack_base_state(base), rows.pack_sim_time(*sim_time)
    assert [len(row) for row in packed] == [16, 52, 24]
    assert rows.unpack_joint(packed[0]) == joint
    assert np.frombuffer(packed[0], rows.JOINT_DTYPE)[0].tolist() == joint
    assert rows.unpack_base_state(packed[1]) == base
    assert rows.unpack_sim_time(packed[2]) == sim_time


@given(ID, st.lists(F32, max_size=40))
def test_sensor_rows(sensor_id, values):
    row = rows.pack_sensor(sensor_id, np.array(values, np.float64))
    assert len(row) == 8 + 4 * len(values)
    back = rows.unpack_sensor(memoryview(row))
    assert back.id == sensor_id and back.values.tolist() == values


@given(ID, st.lists(F32, max_size=8))
def test_sensor_rows_of_the_older_layout(sensor_id, values):
    # A first value that reads as the right dimension would be the new layout: that one wins.
    row = struct.pack(f'<i{len(values)}f', sensor_id, *values)
    if len(values) and struct.unpack_from('<i', row, 4)[0] == len(values) - 1:
        values = values[1:]
    assert rows.unpack_sensor(row).values.tolist() == values


@given(st.lists(F64, min_size=7, max_size=7))
def test_entity_rows(values):
    for field, dim in rows.ENTITY_FIELDS.items():
        payload = struct.pack(f'<{dim}d', *values[:dim])
        assert rows.unpack_entity(field, payload).tolist() == values[:dim]


@given(st.lists(F32, max_size=30))
def test_effort_rows(values):
    row = struct.pack(f'<{len(values)}f', *values)
    assert rows.unpack_effort(row).tolist() == values
    with pytest.raises(MalformedRow):
        rows.unpack_effort(row + b'..')


SIDE, SEED = st.integers(0, 6), st.integers(0, 2**32 - 1)


@given(SIDE, SIDE, SEED, st.binary(min_size=1, max_size=9))
def test_points_rows(rings, columns, seed, extra):
    random = np.random.default_rng(seed)
    ranges = random.random((rings, columns)).astype(np.float32)
    intensities = random.integers(0, 256, (rings, columns), np.uint8)
    row = rows.pack_points(ranges, intensities)
    back = rows.unpack_points(memoryview(row))
    np.testing.assert_array_equal(back.ranges, ranges)
    np.testing.assert_array_equal(back.intensities, intensities)
    for other in (row + bytes(extra), row[:-1]):
        with pytest.raises(MalformedRow):
            rows.unpack_points(other)


@given(st.binary(max_size=80), st.integers(0, 2**31 - 1))
def test_a_dimension_beyond_the_payload_is_refused(payload, dim):
    row = struct.pack('<2i', 1, dim) + payload
    try:
        values = rows.unpack_sensor(row).values
    except MalformedRow:
        return
    assert len(values) * 4 in (len(payload), len(payload) + 4)


@pytest.mark.parametrize(
    'topic',
    [
        '',
        b'\xff',
        'points/rover',
        'rover/joint/',
        'rover/twist/x',
        'scene/xpos',
        'scene/pallet/mass',
        'SIM_TIME',
    ],
)
def test_unknown_topics_are_refused(topic):
    with pytest.raises(UnknownTopic):
        rows.parse_topic(topic)


@given(PREFIX, NAME)
def test_topics_of_every_kind_are_parsed(prefix, name):
    kinds = {
        rows.SIM_TIME_TOPIC: rows.RowTopic('sim_time'),
        rows.STATE_FULL_TOPIC: rows.RowTopic('state_full'),
        f'points/{prefix}/{name}': rows.RowTopic('points', prefix, name),
    }
    for kind in ('twist', 'actions', 'effort'):
        kinds[f'{prefix}/{kind}'] = rows.RowTopic(kind, prefix)
    for kind in ('joint', 'sensor', 'base_state'):
        kinds[f'{prefix}/{kind}/{name}'.encode()] = rows.RowTopic(kind, prefix, name)
    for field in rows.ENTITY_FIELDS:
        kinds[f'scene/{name}/{field}'] = rows.RowTopic('scene', '', name, field)
    for topic, expected in kinds.items():
        assert rows.parse_topic(topic) == expected
