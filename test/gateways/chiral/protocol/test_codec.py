# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Messages: encoding and decoding, and errors of the decoder."""

import struct

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
import msgpack
import numpy as np
import pytest

from urlab_ros_bridge.gateways.chiral.errors import MalformedMessage
from urlab_ros_bridge.gateways.chiral.protocol import codec
from urlab_ros_bridge.gateways.chiral.protocol.framing import DTYPES
from urlab_ros_bridge.gateways.chiral.protocol.framing import message_type
from urlab_ros_bridge.gateways.chiral.protocol.framing import pack_frame
from urlab_ros_bridge.gateways.chiral.protocol.framing import split_frame

finite = st.floats(allow_nan=False, allow_infinity=False)
stamps = finite | st.integers(-(2**62), 2**62)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | finite | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
maps = st.dictionaries(st.text(max_size=8), values, max_size=4)
float32s = hnp.arrays(np.float32, st.integers(0, 12))


@st.composite
def views(draw, name):
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    kind = DTYPES[draw(st.sampled_from(('uint8', 'uint16', 'float32')))]
    depth = st.none() | hnp.arrays(np.float32, (height, width))
    return codec.CameraView(
        name,
        draw(stamps),
        draw(hnp.arrays(np.float64, (3, 3), elements=finite)),
        draw(hnp.arrays(np.float64, (4, 4), elements=finite)),
        draw(hnp.arrays(kind, (height, width, draw(st.sampled_from((1, 3)))))),
        draw(depth),
    )


@st.composite
def observations(draw):
    names = draw(st.lists(st.text(max_size=6), unique=True, max_size=3))
    return codec.Observation(
        draw(stamps),
        [draw(views(name)) for name in names],
        draw(st.dictionaries(st.text(max_size=6), float32s, max_size=3)),
        draw(maps),
        draw(maps),
    )


def same(one, two):
    np.testing.assert_array_equal(one, two)
    return one.dtype == two.dtype and one.shape == two.shape


@given(observations(), st.sampled_from(codec.OBSERVATIONS))
def test_an_encoded_observation_has_the_layout_of_the_page_and_decodes_to_itself(seen, kind):
    """Image, depth, image, depth, ..., proprios, without gaps."""
    head, *parts = codec.encode_observation(kind, seen)
    assert struct.unpack_from('<I', head) == (len(head) - 4,)
    page = msgpack.unpackb(head[4:])
    entries = []
    for camera in page['cameras']:
        entries.append((camera['image_offset'], camera['image_size']))
        if 'depth_shape' in camera:
            entries.append((camera['depth_offset'], camera['depth_size']))
    end = 0
    for offset, length in entries + [(p['offset'], p['size']) for p in page['proprios']]:
        assert offset == end
        end += length
    assert end == sum(map(len, parts)) and ('info' in page) == (kind == 'reset_response')
    header, payload = split_frame(b''.join([head, *parts]))
    back = codec.decode_observation(header, payload)
    assert message_type(header) == kind
    assert back.timestamp == seen.timestamp
    assert back.extra == seen.extra
    assert back.info == (seen.info if kind == 'reset_response' else {})
    assert list(back.proprios) == list(seen.proprios)
    assert all(same(back.proprios[name], seen.proprios[name]) for name in seen.proprios)
    for view, other in zip(seen.cameras, back.cameras, strict=True):
        assert (view.name, view.timestamp) == (other.name, other.timestamp)
        assert same(view.intrinsics, other.intrinsics) and same(view.extrinsics, other.extrinsics)
        assert same(view.image, other.image)
        assert (view.depth is None) == (other.depth is None)
        assert view.depth is None or same(view.depth, other.depth)
        assert other.image.flags.writeable


@pytest.mark.parametrize(
    ('dtype', 'stamps'), [('float16', {}), ('float64', {'obs_timestamps': None}), ('uint8', {})]
)
def test_actions_of_other_types_and_without_timestamps_are_read_too(dtype, stamps):
    data = np.array([3, 1], dtype).tobytes()
    action = codec.decode_action({'shape': [1, 2], 'dtype': dtype, **stamps}, memoryview(data))
    assert (action.values.tolist(), action.timestamps) == ([[3.0, 1.0]], {})


def test_a_bad_frame_is_refused():
    for frame in (b'\1\0', b'\xff\xff\xff\xff', b'\1\0\0\0\1', b'\3\0\0\0\x81\1\2'):
        with pytest.raises(MalformedMessage):
            split_frame(frame)


@pytest.mark.parametrize(
    ('fields', 'says'),
    [
        ({'dtype': 'object'}, "dtype 'object'"),
        ({'shape': [3]}, 'needs 12 bytes, there are 8'),
        ({'shape': [-1, 2]}, 'not a list of sizes'),
        ({'shape': [0, 2**62]}, 'needs 0 bytes'),
        ({'obs_timestamps': {'c': 'x'}}, 'not a finite'),
    ],
)
def test_a_bad_action_is_named(fields, says):
    with pytest.raises(MalformedMessage, match=says):
        codec.decode_action({'shape': [2], 'dtype': 'float32', **fields}, memoryview(bytes(8)))


@pytest.mark.parametrize(('offset', 'size'), [(-1, 8), (True, 8), (4, 8), (0, 2**70)])
def test_values_outside_of_the_payload_are_refused(offset, size):
    entry = {'name': 'n', 'dtype': 'float32', 'offset': offset, 'size': size}
    header = {'type': 'obs_response', 'timestamp': 0.0, 'cameras': [], 'proprios': [entry]}
    with pytest.raises(MalformedMessage, match='proprios'):
        codec.decode_observation(header, memoryview(bytes(8)))


def test_a_value_without_an_encoding_is_refused():
    with pytest.raises(MalformedMessage):
        pack_frame({'value': object()})
