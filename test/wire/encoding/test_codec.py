# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the frame codec: messages round-trip, and any bytes give a value or a WireError."""

import base64
import json
import math

from hypothesis import given
from hypothesis import strategies as st
import msgpack
import pytest

from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.encoding.codec import unpack
from urlab_ros_bridge.wire.encoding.limits import MAX_DEPTH
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_BYTES
from urlab_ros_bridge.wire.encoding.limits import MAX_REPLY_DEPTH
from urlab_ros_bridge.wire.encoding.limits import MAX_REQUEST_BYTES
from urlab_ros_bridge.wire.errors import MalformedFrame

TEXT = st.text(st.characters(codec='utf-8'), max_size=12)
# A key that ends in a base64 suffix means something else under JSON.
KEYS = TEXT.filter(lambda key: not key.endswith(('_base64', '__b64__')))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXT | FLOATS


def messages(leaves):
    values = st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
        max_leaves=20,
    )
    return st.dictionaries(KEYS, values, max_size=6)


@given(messages(SCALARS | st.binary(max_size=40)))
def test_msgpack_round_trip_is_identity(message):
    assert unpack(pack(message)) == message
    assert unpack(memoryview(pack(message))) == message


@given(messages(SCALARS))
def test_json_round_trip_is_identity(message):
    assert unpack(pack(message, 'json')) == message


@given(st.dictionaries(KEYS, st.binary(max_size=40), min_size=1, max_size=5))
def test_json_carries_binary_as_base64_companion(blobs):
    message = {'inner': blobs}
    plain = json.loads(pack(message, 'json'))
    assert {key: base64.b64encode(blob).decode() for key, blob in blobs.items()} == {
        key.removesuffix('_base64'): text for key, text in plain['inner'].items()
    }
    assert unpack(pack(message, 'json')) == message


def test_json_of_the_stock_plugin_names_companions_otherwise():
    text = base64.b64encode(b'\0\1').decode()
    assert unpack(json.dumps({'data__b64__': text}).encode()) == {'data': b'\0\1'}


def test_msgpack_extensions_become_null_and_bad_base64_stays_text():
    assert unpack(msgpack.packb({'a': msgpack.ExtType(5, b'x')})) == {'a': None}
    assert unpack(b'{"a_base64": "%%"}') == {'a_base64': '%%'}
    assert json.loads(pack({'a': [b'x']}, 'json')) == {'a': ['eA==']}


@given(st.sampled_from([math.nan, math.inf, -math.inf]))
def test_json_has_no_nan(value):
    assert unpack(pack({'x': [value]}, 'json')) == {'x': [None]}


ANY_KEYS = TEXT | st.integers(0, 99) | st.binary(max_size=4)
MIXED = st.recursive(
    SCALARS | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(ANY_KEYS, MIXED, max_size=4))
def test_keys_that_are_no_text_are_dropped_at_every_depth(message):
    def cleaned(value):
        if isinstance(value, dict):
            return {k: cleaned(v) for k, v in value.items() if isinstance(k, str)}
        return [cleaned(item) for item in value] if isinstance(value, list) else value

    assert unpack(msgpack.packb(message)) == cleaned(message)


@pytest.mark.parametrize(
    'frame',
    [
        b'',
        b'\xc1',
        b'[1]',
        b'{',
        b'{"a": NaN}',
        b'{"a": "\\ud800"}',
        b'\x81\xa1a\xdd\xff\xff\xff\xff',
        b'{"a":[' + b'1,' * (1 << 18) + b'1]}',
    ],
)
def test_malformed_frames_are_named(frame):
    with pytest.raises(MalformedFrame):
        unpack(frame)


# A message with so many containers inside each other.
NESTED = {
    'msgpack': lambda depth: b'\x81\xa1a' + b'\x91' * (depth - 2) + b'\x90',
    'msgpack maps': lambda depth: b'\x81\xa1a' * (depth - 1) + b'\x80',
    'beside a binary key': lambda depth: (
        b'\x82\xc4\x01b\xc0\xa1a' + b'\x91' * (depth - 2) + b'\x90'
    ),
    'json': lambda depth: b'{"a":' + b'[' * (depth - 1) + b']' * (depth - 1) + b'}',
    'json maps': lambda depth: b'{"a":' * (depth - 1) + b'{}' + b'}' * (depth - 1),
}


@pytest.mark.parametrize('kind', NESTED)
def test_nesting_is_limited_alike_in_both_encodings(kind):
    for most, limit in ((MAX_DEPTH, MAX_REQUEST_BYTES), (MAX_REPLY_DEPTH, MAX_REPLY_BYTES)):
        assert 'a' in unpack(NESTED[kind](most), limit)
        for depth in (most + 1, 600, 100_000):
            with pytest.raises(MalformedFrame):
                unpack(NESTED[kind](depth), limit)
