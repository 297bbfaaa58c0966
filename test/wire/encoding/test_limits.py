# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a frame: whatever its size and content, it is refused or decoded within bounds."""

import tracemalloc

import msgpack
import pytest

from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.encoding.codec import unpack
from urlab_ros_bridge.wire.encoding.limits import MAX_REQUEST_BYTES
from urlab_ros_bridge.wire.encoding.limits import MAX_VECTOR
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import MalformedFrame

INSIDE = b'\x82\xa2op\xa1x\xa1a'


def msgpack_list(item, size, of=1):
    count = size // len(item)
    return b'\xdd' + (count * of).to_bytes(4, 'big') + item * count


# Name -> a frame of about so many bytes that costs more than it should.
HOSTILE = {
    'maps': lambda size: INSIDE + msgpack_list(b'\x80', size),
    'lists of lists': lambda size: INSIDE + msgpack_list(b'\x9f' + b'\x90' * 15, size),
    'int keys': lambda size: (
        INSIDE
        + b'\xdf'
        + (size // 10).to_bytes(4, 'big')
        + b''.join(
            b'\xcf' + (key * (2**61 - 1) % 2**64).to_bytes(8, 'big') + b'\xc0'
            for key in range(size // 10)
        )
    ),
    'floats and nils': lambda size: INSIDE + msgpack_list(b'\xcb' + b'\0' * 8 + b'\xc0', size, 2),
    'json maps': lambda size: b'{"op":"x","a":[' + b'{},' * (size // 3) + b'{}]}',
    'json digits': lambda size: b'{"op":"x","a":' + b'9' * size + b'}',
    'json floats': lambda size: b'{"op":"x","a":[' + b'1e999,' * (size // 6) + b'0]}',
}
DECODED = ('int keys', 'floats and nils', 'json floats', 'lists of lists', 'binary keys')


@pytest.mark.parametrize('name', HOSTILE)
def test_a_hostile_request_is_refused_or_costs_a_bounded_multiple_of_its_size(name):
    frame = HOSTILE[name](MAX_REQUEST_BYTES // 2)
    tracemalloc.start()
    try:
        unpack(frame)
        refused = False
    except MalformedFrame:
        refused = True
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert refused or name in DECODED
    assert peak < 100 * len(frame)


@pytest.mark.parametrize('limit', [MAX_REQUEST_BYTES, 1000])
def test_the_size_is_checked_before_anything_is_decoded(limit, monkeypatch):
    monkeypatch.setattr(codec.msgpack, 'unpackb', lambda *_, **__: pytest.fail('decoded'))
    monkeypatch.setattr(codec.json, 'loads', lambda *_, **__: pytest.fail('decoded'))
    for name in ('maps', 'json maps'):
        with pytest.raises(FrameTooLarge, match=str(limit)):
            unpack(HOSTILE[name](limit + 1), limit)


def test_large_legal_requests_are_read():
    for message in (
        {'op': 'x', 'xml': '<a b="1"/>\u00e9' * 60_000},
        {'op': 'x', 'data': bytes(range(256)) * 4000},
        {'op': 'step', 'ctrl': [0.5 * n for n in range(MAX_VECTOR)]},
        {'op': 'step', 'per_articulation': {f'r{n}': {'ctrl': [0.1] * 7} for n in range(5000)}},
    ):
        assert unpack(pack(message)) == message
    message = {'op': 'x', 'xml': '<a b="1, 2: 3"/>' * 30_000, 'blob': b'\0' * 100_000}
    assert unpack(pack(message, 'json')) == message


def test_integer_keys_with_colliding_hashes_are_dropped():
    """Integers are their own hashes: such keys would all fall into one place of a dict."""
    keys = [n << 48 for n in range(1, 20_000)]
    frame = msgpack.packb({'op': 'x', 'a': dict.fromkeys(keys)})
    assert unpack(frame) == {'op': 'x', 'a': {}}
