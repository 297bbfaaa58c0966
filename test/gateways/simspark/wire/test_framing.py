# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Frames: the same messages however a stream is split, with bounded memory."""

import itertools

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.gateways.simspark.errors import MessageTooLong
from urlab_ros_bridge.gateways.simspark.wire.framing import frame
from urlab_ros_bridge.gateways.simspark.wire.framing import FrameReader

payloads = st.lists(st.binary(max_size=40), max_size=6)


@given(payloads, st.lists(st.integers(0, 300), max_size=8))
def test_a_stream_gives_its_messages_however_it_is_cut(messages, cuts):
    assert frame(b'x' * 258) == b'\x00\x00\x01\x02' + b'x' * 258  # not counting itself
    stream = b''.join(map(frame, messages))
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    reader = FrameReader()
    found = [m for a, b in itertools.pairwise(edges) for m in reader.feed(stream[a:b])]
    assert found == messages
    assert reader.pending == 0


@given(payloads, st.integers(65, 0xFFFFFFFF), st.binary(max_size=100))
def test_a_length_beyond_the_limit_ends_the_stream_and_keeps_nothing(messages, length, rest):
    reader = FrameReader(limit=64)
    stream = b''.join(map(frame, messages)) + length.to_bytes(4, 'big') + rest
    if messages:
        assert reader.feed(stream) == messages
        stream = b''
    for _ in range(2):
        with pytest.raises(MessageTooLong, match=str(length)):
            reader.feed(stream)
        assert reader.pending == 4
