# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A layout is recognised by everything but its numbers, and nothing else is taken for it."""

import struct

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import msgpack

from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.encoding import known_layouts
from urlab_ros_bridge.wire.encoding.known_layouts import KnownLayouts

TEXT = st.text(max_size=40)
LEAVES = st.floats() | st.integers(-(2**63), 2**64 - 1) | TEXT | st.binary(max_size=20)
LEAVES |= st.none() | st.booleans() | st.builds(msgpack.ExtType, st.just(5), st.binary())
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(TEXT, inner, max_size=18),
    max_leaves=30,
)


def learnt(frame):
    layouts = KnownLayouts()
    layouts.learn(frame)
    assert not layouts.knows(frame), 'it has come once'
    layouts.learn(frame)
    return layouts


def other_numbers(value, change):
    """Return a value with other floats, which take as many bytes."""
    if isinstance(value, float):
        return change(value)
    if isinstance(value, list):
        return [other_numbers(item, change) for item in value]
    if isinstance(value, dict):
        return {key: other_numbers(item, change) for key, item in value.items()}
    return value


@settings(max_examples=examples(150))
@given(st.dictionaries(TEXT, VALUES, max_size=6), st.floats())
def test_other_numbers_are_the_same_layout(message, number):
    layouts = learnt(msgpack.packb(message))
    assert layouts.knows(msgpack.packb(message))
    assert layouts.knows(msgpack.packb(other_numbers(message, lambda _: number)))


@settings(max_examples=examples(300))
@given(st.dictionaries(TEXT, VALUES, min_size=1, max_size=4), st.data())
def test_a_byte_that_is_changed_changes_numbers_alone_or_the_layout(message, data):
    frame = bytearray(msgpack.packb(message))
    layouts = learnt(bytes(frame))
    place = data.draw(st.integers(0, len(frame) - 1))
    frame[place] ^= data.draw(st.integers(1, 255))
    if not layouts.knows(bytes(frame)):
        return

    def shape(value):
        if isinstance(value, dict):
            return {key: shape(item) for key, item in value.items()}
        if isinstance(value, list):
            return [shape(item) for item in value]
        return type(value) if isinstance(value, int | float) and value is not True else value

    changed = msgpack.unpackb(bytes(frame), strict_map_key=False)
    assert repr(shape(changed)) == repr(shape(msgpack.unpackb(msgpack.packb(message))))


def reply(depth, number):
    """Return a frame of the same length for any depth up to 200."""
    head = b'\x83' + msgpack.packb('op') + msgpack.packb('step_ok') + msgpack.packb('numbers')
    numbers = msgpack.packb([number] * 200)
    nested = b'\x91' * depth + b'\x90' + b'\xc0' * 0
    pad = msgpack.packb('x' * (300 - depth))
    return head + numbers + msgpack.packb('nested') + b'\x92' + nested + pad


def test_what_was_good_is_decoded_alike_and_what_was_not_is_not(monkeypatch):
    monkeypatch.setattr(codec, '_LAYOUTS', KnownLayouts())
    for number in range(5):
        message = codec.unpack(reply(3, 0.5 * number))
        assert message['numbers'] == [0.5 * number] * 200
    assert codec._LAYOUTS.knows(reply(3, struct.unpack('>d', b'\xc4' * 8)[0]))
    for _ in range(3):
        try:
            codec.unpack(reply(150, 1.0))
        except codec.MalformedFrame:
            continue
        raise AssertionError('too deep')


def test_frames_that_never_repeat_end_the_learning():
    layouts = KnownLayouts()
    for number in range(known_layouts.LEARNING_BUDGET + 5):
        frame = msgpack.packb({'key': f'{number:05d}'})
        layouts.learn(frame)
    assert sum(map(len, layouts._known.values())) <= known_layouts.MAX_LAYOUTS
    frame = msgpack.packb({'key': 1.0})
    layouts.learn(frame)
    layouts.learn(frame)
    assert not layouts.knows(frame)
