# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A template that is filled is the message made at once, whatever is in it."""

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import orjson

from urlab_ros_bridge.gateways.virtual_field.protocol.envelope import write_message
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import LAST
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import left_open
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import MessageTemplate
from urlab_ros_bridge.gateways.virtual_field.scene.message_template import open_rows
from urlab_ros_bridge.gateways.virtual_field.scene.pose_numbers import Part

ROWS = 4  # and one more, the last
# What clients may name things: also what looks like a place that was left open.
TEXTS = st.text(max_size=6) | st.sampled_from(['\0', '\x000\0', '\\u00001\\u0000', '-1', '\0-1\0'])
NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=3)
PLACES = st.sampled_from([LAST, *range(ROWS)]).map(lambda row: ('place', row))
PARTS = st.integers(0, ROWS - 1).flatmap(
    lambda row: st.integers(1, ROWS - row).map(lambda count: ('part', row, count))
)
PAYLOADS = st.recursive(
    TEXTS | st.none() | st.integers(-9, 9) | PLACES | PARTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def made(value, rows):
    """Return a payload with places left open, or with rows in them."""
    if isinstance(value, dict):
        return {name: made(item, rows) for name, item in value.items()}
    if isinstance(value, list):
        return [made(item, rows) for item in value]
    if not isinstance(value, tuple):
        return value
    kind, row, *count = value
    if kind == 'place':
        return left_open(row) if rows is None else rows[row]
    if rows is None:
        return open_rows(Part(0, row, (count[0], 3)))
    return [[item] for item in rows[row : row + count[0]]]


@settings(max_examples=examples(200), deadline=None)
@given(PAYLOADS, st.lists(st.lists(NUMBERS, min_size=ROWS + 1, max_size=ROWS + 1), max_size=3))
def test_it_is_the_message_with_the_rows_in_it(payload, fillings):
    template = MessageTemplate(write_message('scene_state', made(payload, None)))
    for numbers in fillings:
        rows = [orjson.dumps(row)[1:-1] for row in numbers]
        # A single place takes one number.
        rows = [row if b',' not in row else row.split(b',')[0] for row in rows]
        whole = write_message('scene_state', made(payload, [*map(orjson.Fragment, rows)]))
        assert template.fill(rows) == whole
