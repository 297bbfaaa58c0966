# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a frame may cost: however large and odd, little is decoded before it is refused."""

import sys
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st
import msgpack
import pytest

from urlab_ros_bridge.wire.encoding import codec
from urlab_ros_bridge.wire.encoding import stepwise
from urlab_ros_bridge.wire.encoding.codec import pack
from urlab_ros_bridge.wire.encoding.codec import unpack
from urlab_ros_bridge.wire.encoding.codec import unpack_request
from urlab_ros_bridge.wire.encoding.limits import DecodeLimits
from urlab_ros_bridge.wire.encoding.limits import MAX_VECTOR
from urlab_ros_bridge.wire.encoding.limits import REPLY
from urlab_ros_bridge.wire.encoding.limits import REQUEST
from urlab_ros_bridge.wire.encoding.stepwise import unpack_stepwise
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import MalformedFrame
from urlab_ros_bridge.wire.errors import WireError

MEGABYTE = 1 << 20
INSIDE = b'\x82\xa2op\xa1x\xa1a'


def msgpack_list(item, size, of=1):
    count = size // len(item)
    return b'\xdd' + (count * of).to_bytes(4, 'big') + item * count


# Name -> a frame of about so many bytes that costs more than it should.
HOSTILE = {
    'list of maps': lambda size: msgpack_list(b'\x80', size),
    'maps': lambda size: INSIDE + msgpack_list(b'\x80', size),
    'nils': lambda size: INSIDE + msgpack_list(b'\xc0', size),
    'nested': lambda size: INSIDE + b'\x91' * size + b'\xc0',
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
    'binary keys': lambda size: INSIDE + msgpack_list(b'\x81\xc4\x01k\xc0', size),
    'extensions': lambda size: INSIDE + msgpack_list(b'\xd4\x07\x00', size),
    'floats and nils': lambda size: INSIDE + msgpack_list(b'\xcb' + b'\0' * 8 + b'\xc0', size, 2),
    'json maps': lambda size: b'{"op":"x","a":[' + b'{},' * (size // 3) + b'{}]}',
    'json brackets': lambda size: b'{"op":"x","a":' + b'[' * size,
    'json digits': lambda size: b'{"op":"x","a":' + b'9' * size + b'}',
    'json integers': lambda size: b'{"op":"x","a":[' + b'9,' * (size // 2) + b'9]}',
    'json keys': lambda size: b'{"op":"x",' + b'"":0,' * (size // 5) + b'"":0}',
    'json floats': lambda size: b'{"op":"x","a":[' + b'1e999,' * (size // 6) + b'0]}',
    'json blanks': lambda size: b' ' * size,
}


@pytest.fixture
def opcodes():
    """Return a function that counts the lines of Python that a call runs."""

    def count(call):
        lines = 0

        def trace(frame, event, argument):
            nonlocal lines
            lines += event == 'line'
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(before)
        return lines

    return count


def finish(frame):
    """Decode a request; return it, or the error, and the number of steps."""
    steps = 0
    try:
        found = unpack_request(frame)
        while not isinstance(found, dict):
            try:
                next(found)
                steps += 1
            except StopIteration as end:
                found = end.value
    except WireError as error:
        return error, steps
    return found, steps


@pytest.mark.parametrize('megabytes', [1, 4, 15])
@pytest.mark.parametrize('name', HOSTILE)
def test_a_large_hostile_frame_is_refused_early(name, megabytes):
    frame = HOSTILE[name](megabytes * MEGABYTE)
    tracemalloc.start()
    try:
        error, steps = finish(frame)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if megabytes == 1 and name in ('int keys', 'floats and nils'):  # just within the limits
        assert error['op'] == 'x' and len(error['a']) in (0, MEGABYTE // 10 * 2)
    else:
        assert isinstance(error, (MalformedFrame, FrameTooLarge))
    # The work has a limit that does not grow with the frame; nothing copies it but JSON, once.
    assert steps <= 2 * REQUEST.values // stepwise.STEP
    assert peak < 64 * REQUEST.values
    print(f'{name}, {megabytes} MB: {steps} steps, {peak / MEGABYTE:.1f} MB')


@pytest.mark.parametrize('name', HOSTILE)
def test_no_step_is_long(name, opcodes):
    found, worst = None, 0
    frame = HOSTILE[name](700_000)
    ended = []

    def step():
        nonlocal found
        try:
            if found is None:
                found = unpack_request(frame)
                ended.extend([None] * isinstance(found, dict))
            else:
                next(found)
        except (StopIteration, WireError):
            ended.append(None)

    while not ended:
        worst = max(worst, opcodes(step))
    assert worst <= 40 * stepwise.STEP


def test_other_first_bytes_are_refused_undecoded(monkeypatch):
    monkeypatch.setattr(codec.msgpack, 'unpackb', lambda *_, **__: pytest.fail('decoded'))
    monkeypatch.setattr(codec.json, 'loads', lambda *_, **__: pytest.fail('decoded'))
    maps, jsons = {*range(0x80, 0x90), 0xDE, 0xDF}, set(b'{ \t\n\r')
    for first in set(range(256)) - maps - jsons:
        for decode in (unpack, unpack_request):
            with pytest.raises(MalformedFrame, match=f'{first:#04x}'):
                decode(bytes([first]) + b'\x80' * 100)


def test_small_hostile_frames_cost_no_python_for_each_map(opcodes):
    frame = INSIDE + msgpack_list(b'\x80', 200)
    few = opcodes(lambda: unpack_request(INSIDE + msgpack_list(b'\x80', 10)))
    assert few < opcodes(lambda: unpack_request(frame)) < few + 200 * 15


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text(max_size=40)
    | st.binary(max_size=300)
    | st.floats(allow_nan=False, width=32)
    | st.lists(st.floats(allow_nan=False, width=32), min_size=15, max_size=18),
    lambda inner: (
        st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=8), inner, max_size=20)
    ),
    max_leaves=25,
)
SMALL = DecodeLimits(10_000, 10_000, 100, 100, 10, 16, 16)


def by_steps(frame, limits=REPLY):
    steps = unpack_stepwise(frame, limits)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=8), st.booleans())
def test_both_decoders_say_the_same(message, short):
    frame = msgpack.packb(message, use_single_float=short)
    assert by_steps(frame) == msgpack.unpackb(frame) == unpack(frame)
    assert by_steps(memoryview(frame)) == unpack(frame)


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=4), st.data())
def test_damage_is_seen_by_both(message, data):
    frame = bytearray(msgpack.packb(message))
    place = data.draw(st.integers(0, len(frame) - 1))
    frame[place] = data.draw(st.integers(0, 255))
    for damaged in (bytes(frame), bytes(frame[:place]), bytes(frame) + b'\x80'):
        try:
            found = by_steps(damaged)
        except MalformedFrame:
            found = None
        try:
            assert repr(unpack(damaged)) == repr(found) or damaged[0] in b'{ \t\n\r'
        except MalformedFrame:
            assert found is None


def test_times_are_read_alike():
    for seconds in (0.0, 1.5, 2.0**33 + 0.25, -1.0, 2.0**40):
        frame = msgpack.packb({'t': msgpack.Timestamp.from_unix(seconds)})
        assert by_steps(frame) == unpack(frame) == {'t': seconds}


def test_what_is_counted_may_be_reached_and_not_passed():
    maps = f'more than {SMALL.containers} maps and lists'
    values = f'more than {SMALL.values} values'
    assert by_steps(pack({'a': [[]] * 8}), SMALL) == {'a': [[]] * 8}
    with pytest.raises(MalformedFrame, match=maps):
        by_steps(pack({'a': [[]] * 9}), SMALL)
    assert by_steps(pack({'a': [0] * 98}), SMALL) == {'a': [0] * 98}
    with pytest.raises(MalformedFrame, match=values):
        by_steps(pack({'a': [0] * 99}), SMALL)


def test_large_legal_requests_are_read():
    for message in (
        {'op': 'x', 'xml': '<a b="1"/>\u00e9' * 1_000_000},
        {'op': 'x', 'data': bytes(range(256)) * 60_000},
        {'op': 'step', 'ctrl': [0.5 * n for n in range(MAX_VECTOR)]},
        {'op': 'step', 'per_articulation': {f'r{n}': {'ctrl': [0.1] * 7} for n in range(5000)}},
    ):
        assert finish(pack(message))[0] == message
    message = {'op': 'x', 'xml': '<a b="1, 2: 3"/>' * 30_000, 'blob': b'\0' * 100_000}
    assert finish(pack(message, 'json'))[0] == message


@pytest.mark.parametrize('shift', range(4))
def test_a_long_text_is_one_text_wherever_it_is_cut(shift):
    message = {'op': 'x', 'xml': 'x' * shift + '\u00e9\u4e2d\U0001f600' * 30_000}
    assert finish(pack(message))[0] == message
    frame = pack(message)
    for damaged in (frame[:-1] + b'\xf0', frame[:-4] + b'xxx\xff'):
        assert isinstance(finish(damaged)[0], MalformedFrame)


def test_a_json_frame_may_be_smaller_than_a_msgpack_one():
    message = {'op': 'x', 'xml': 'x' * REQUEST.json_size}
    assert finish(pack(message))[0] == message
    with pytest.raises(FrameTooLarge, match='JSON'):
        next(unpack_request(pack(message, 'json')))


def test_replies_have_limits_too():
    for name in ('maps', 'json maps'):
        with pytest.raises(MalformedFrame, match='more than'):
            unpack(HOSTILE[name](3 * REPLY.containers), REPLY.size)
    with pytest.raises(MalformedFrame, match='more than'):
        unpack(HOSTILE['nils'](2 * REPLY.values), REPLY.size)
    large = {
        'op': 'hello_ok',
        'mjb': bytes(range(256)) * 100_000,
        'arts': [{'a': [0.5] * 9}] * 9000,
    }
    assert unpack(pack(large), REPLY.size) == large


def test_keys_that_collide_become_no_dictionary():
    """Integers are their own hashes: such keys would all fall into one place of a dict."""
    keys = [n << 48 for n in range(1, 20_000)]
    frame = msgpack.packb({'op': 'x', 'a': dict.fromkeys(keys)})
    assert finish(frame)[0] == {'op': 'x', 'a': {}}
    assert unpack(frame) == {'op': 'x', 'a': {}}
