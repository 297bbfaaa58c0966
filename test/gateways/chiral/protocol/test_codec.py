# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the messages: what is encoded is decoded, and nothing else crashes the decoder."""

import contextlib
import struct

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
import msgpack
import numpy as np
import pytest

from test.gateways.chiral.protocol.strategies import float32s
from test.gateways.chiral.protocol.strategies import maps
from test.gateways.chiral.protocol.strategies import observations
from test.gateways.chiral.protocol.strategies import stamps
from test.gateways.chiral.protocol.strategies import values
from urlab_ros_bridge.gateways.chiral.errors import MalformedMessage
from urlab_ros_bridge.gateways.chiral.protocol import codec
from urlab_ros_bridge.gateways.chiral.protocol.framing import message_type
from urlab_ros_bridge.gateways.chiral.protocol.framing import pack_frame
from urlab_ros_bridge.gateways.chiral.protocol.framing import split_frame


def same(one, two):
    np.testing.assert_array_equal(one, two)
    return one.dtype == two.dtype and one.shape == two.shape


@given(observations(), st.sampled_from(codec.OBSERVATIONS))
def test_an_observation_comes_back_as_it_was(seen, kind):
    header, payload = split_frame(b''.join(codec.encode_observation(kind, seen)))
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


@given(observations())
def test_the_payload_has_the_layout_of_the_page(seen):
    """Image, depth, image, depth, ..., proprios, without gaps."""
    head, *parts = codec.encode_observation('obs_response', seen)
    (size,) = struct.unpack_from('<I', head)
    assert size == len(head) - 4
    header = msgpack.unpackb(head[4:])
    entries = []
    for camera in header['cameras']:
        entries.append((camera['image_offset'], camera['image_size']))
        if 'depth_shape' in camera:
            entries.append((camera['depth_offset'], camera['depth_size']))
    entries += [(p['offset'], p['size']) for p in header['proprios']]
    end = 0
    for offset, length in entries:
        assert offset == end
        end += length
    assert end == sum(map(len, parts))
    assert ('info' in header) is False


def test_the_arrays_are_not_copied(page_observation):
    _, *parts = codec.encode_observation('obs_response', page_observation)
    view = page_observation.cameras[0]
    assert np.shares_memory(np.frombuffer(parts[0], np.uint8), view.image)
    assert np.shares_memory(np.frombuffer(parts[1], np.uint8), view.depth)
    assert sum(map(len, parts)) == 2_150_400 + 7 * 28


@given(
    hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)),
    st.dictionaries(st.text(max_size=8), stamps, max_size=3),
)
def test_an_action_comes_back_as_it_was(array, timestamps):
    header, payload = split_frame(b''.join(codec.encode_action(array, timestamps)))
    action = codec.decode_action(header, payload)
    np.testing.assert_array_equal(action.values, array.astype(np.float64))
    assert action.values.shape == array.shape
    assert action.timestamps == timestamps


@pytest.mark.parametrize('stamps', [{}, {'obs_timestamps': None}, {'obs_timestamps': {}}])
def test_an_action_may_come_without_timestamps(stamps):
    header = {'shape': [2], 'dtype': 'float32', **stamps}
    action = codec.decode_action(header, memoryview(struct.pack('<2f', 1.0, 2.0)))
    assert (action.values.tolist(), action.timestamps) == ([1.0, 2.0], {})


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64', 'int32', 'uint8'])
def test_actions_of_other_types_are_numbers_too(dtype):
    data = np.array([3, 1], dtype).tobytes()
    action = codec.decode_action({'shape': [1, 2], 'dtype': dtype}, memoryview(data))
    assert action.values.tolist() == [[3.0, 1.0]]


@given(maps)
def test_metadata_comes_back_as_it_was(data):
    header, payload = split_frame(b''.join(codec.encode_metadata(data)))
    assert codec.decode_metadata(header) == data
    assert len(payload) == 0


_header_keys = st.sampled_from(
    ['type', 'shape', 'dtype', 'obs_timestamps', 'cameras', 'proprios', 'timestamp', 'offset']
)
_odd = st.dictionaries(_header_keys, values | st.lists(maps, max_size=2), max_size=6)


@given(_odd, st.binary(max_size=64))
def test_any_header_is_read_or_refused(header, payload):
    for read in (codec.decode_action, codec.decode_observation):
        with contextlib.suppress(MalformedMessage):
            read(header, memoryview(payload))


@pytest.mark.parametrize(
    ('frame', 'says'),
    [
        (b'', 'no header length'),
        (b'\x01\x00', 'no header length'),
        (b'\xff\xff\xff\xff', 'header of 4294967295 bytes'),
        (b'\x05\x00\x00\x00\x80', 'header of 5 bytes'),
        (b'\x01\x00\x00\x00\xc1', 'not a msgpack map'),
        (b'\x01\x00\x00\x00\x01', 'is a int, not a map'),
        (b'\x03\x00\x00\x00\x81\x01\x02', 'not a msgpack map'),
        (b'\x00\x00\x00\x00', 'not a msgpack map'),
    ],
)
def test_a_bad_frame_is_named(frame, says):
    with pytest.raises(MalformedMessage, match=says):
        split_frame(frame)


@pytest.mark.parametrize(
    ('fields', 'says'),
    [
        ({'dtype': 'float32'}, 'shape None'),
        ({'shape': [2]}, 'dtype None'),
        ({'shape': [2], 'dtype': 'object'}, "dtype 'object'"),
        ({'shape': [3], 'dtype': 'float32'}, 'needs 12 bytes, there are 8'),
        ({'shape': [-1, 2], 'dtype': 'float32'}, 'not a list of sizes'),
        ({'shape': [2**40, 2**40], 'dtype': 'float64'}, 'needs'),
        ({'shape': [0, 2**62], 'dtype': 'float64'}, 'needs 0 bytes'),
        ({'shape': [2], 'dtype': 'float32', 'obs_timestamps': [1]}, 'not a map'),
        ({'shape': [2], 'dtype': 'float32', 'obs_timestamps': {'c': 'x'}}, 'not a finite'),
    ],
)
def test_a_bad_action_is_named(fields, says):
    with pytest.raises(MalformedMessage, match=says):
        codec.decode_action(fields, memoryview(bytes(8)))


@given(float32s)
def test_proprios_of_another_type_travel_as_float32(array):
    seen = codec.Observation(0.0, [], {'wide': array.astype(np.float64)})
    header, payload = split_frame(b''.join(codec.encode_observation('obs_response', seen)))
    assert same(codec.decode_observation(header, payload).proprios['wide'], array)


def test_what_the_wire_has_no_name_for_is_refused():
    with pytest.raises(MalformedMessage):
        pack_frame({'value': object()})
    swapped = np.zeros((2, 2, 3), '>u2')
    view = codec.CameraView('c', 0.0, np.eye(3), np.eye(4), swapped)
    with pytest.raises(MalformedMessage, match='dtype'):
        codec.encode_observation('obs_response', codec.Observation(0.0, [view], {}))
