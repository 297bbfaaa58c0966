# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of ZeroMQ's bytes: what goes in comes out however it is cut, any bytes are safe."""

from example_counts import examples
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.wire import zmtp
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import WireError

BODIES = st.binary(max_size=20) | st.integers(250, 700).map(lambda size: b'x' * size)
KINDS = ('REP', 'ROUTER')


def frames_of(pieces, limit=1 << 20):
    """Return all frames that come out of a reader, and the reader."""
    reader, found = zmtp.ZmtpReader(limit), []
    for piece in pieces:
        reader.feed(piece)
        while (frame := reader.next()) is not None:
            found.append(frame)
    return found, reader


@st.composite
def cut(draw, data):
    """Cut bytes into pieces."""
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


@settings(max_examples=examples(200))
@given(st.data(), st.lists(st.tuples(st.sampled_from([0, 1, 4]), BODIES), max_size=6))
def test_frames_come_out_as_they_went_in(data, frames):
    stream = b''.join(zmtp.frame(body, flags) for flags, body in frames)
    found, reader = frames_of(data.draw(cut(stream)))
    assert [(flags & ~2, body) for flags, body in found] == frames
    assert reader.size == 0


@settings(max_examples=examples(300))
@given(st.binary(max_size=40) | st.builds(lambda a, b: a + b, st.just(b'\x01\x00'), st.binary()))
def test_any_bytes_give_frames_or_a_wire_error(data):
    try:
        found, reader = frames_of([data], 16)
    except WireError:
        return
    assert sum(len(body) + 2 for _, body in found) + reader.size <= len(data) + 9 * len(found)
    for flags, body in found:
        if flags & zmtp.COMMAND:
            try:
                name, rest = zmtp.read_command(body)
                zmtp.read_ready(rest, KINDS)
            except WireError:
                continue
            assert name


@settings(max_examples=examples(300))
@given(
    st.builds(lambda head, body: head + body, st.sampled_from([b'', b'\x01\x00']), st.binary())
    | BODIES.map(lambda body: zmtp.DELIMITER + zmtp.frame(body))
    | BODIES.map(lambda body: zmtp.DELIMITER + zmtp.frame(body) + b'\x00')
)
def test_the_short_cut_gives_what_the_reader_gives(data):
    body = zmtp.sole_body(data)
    try:
        found, reader = frames_of([data])
    except WireError:
        found, reader = None, None
    if body is not None:
        assert found is not None and reader.size == 0
        assert [(flags & ~2, part) for flags, part in found] == [(1, b''), (0, body)]
    elif found is not None and reader.size == 0:
        assert [flags & ~2 for flags, _ in found] != [1, 0] or found[0][1]


def test_a_size_beyond_the_limit_is_refused_before_the_body_comes():
    reader = zmtp.ZmtpReader(100)
    reader.feed(zmtp.frame_head(101))
    with pytest.raises(FrameTooLarge):
        reader.next()
    reader = zmtp.ZmtpReader(1 << 40)
    reader.feed(zmtp.frame_head(zmtp.COMMAND_BYTES + 1, zmtp.COMMAND))
    with pytest.raises(FrameTooLarge):
        reader.next()


@pytest.mark.parametrize('size', [8, 255, 256, 70_000])
def test_what_is_missing_is_known(size):
    reader, stream = zmtp.ZmtpReader(1 << 20), zmtp.frame(bytes(size))
    reader.feed(stream[:9])
    reader.next()
    assert reader.missing == max(len(stream) - 9, 0)


def test_a_greeting_comes_in_any_pieces():
    for cut_at in range(zmtp.GREETING_BYTES):
        assert not zmtp.check_greeting(zmtp.GREETING[:cut_at])
    reader = zmtp.ZmtpReader(10)
    reader.feed(zmtp.GREETING + b'\x00')
    assert reader.greeted() and reader.size == 1


@pytest.mark.parametrize(
    'greeting',
    [
        b'GET / HTTP/1.1\r\n',
        b'\xff' + bytes(8) + b'\x7e',
        b'\xff' + bytes(8) + b'\x7f\x01',
        b'\xff' + bytes(8) + b'\x7f\x03\x00' + b'PLAIN'.ljust(20, b'\x00') + bytes(32),
    ],
)
def test_other_peers_are_refused_as_early_as_can_be(greeting):
    with pytest.raises(zmtp.BadPeer):
        zmtp.check_greeting(greeting)


def test_the_kind_of_a_peer_is_read_among_other_properties():
    _, data = zmtp.read_command(zmtp.ready('ROUTER')[2:])
    assert zmtp.read_ready(data, KINDS) == 'ROUTER'
    with pytest.raises(zmtp.BadPeer, match="'ROUTER' socket, expected REQ"):
        zmtp.read_ready(data, ('REQ',))
    with pytest.raises(zmtp.BadPeer, match="'' socket"):
        zmtp.read_ready(b'', KINDS)
    for end in range(1, len(data)):
        with pytest.raises(zmtp.BadPeer):
            zmtp.read_ready(data[:end], ('REQ',))
