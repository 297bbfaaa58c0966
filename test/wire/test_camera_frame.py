# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Camera payloads: with header, bare, and broken."""

from hypothesis import given
from hypothesis import strategies as st
import pytest

from urlab_ros_bridge.wire.camera_frame import BYTES_PER_PIXEL
from urlab_ros_bridge.wire.camera_frame import camera_topic
from urlab_ros_bridge.wire.camera_frame import MAX_SIDE
from urlab_ros_bridge.wire.camera_frame import pack_header
from urlab_ros_bridge.wire.camera_frame import unpack_frame
from urlab_ros_bridge.wire.errors import MalformedRow

SIDES = st.integers(1, 24)
FLOATS = st.floats(allow_nan=False)


@given(SIDES, SIDES, st.integers(0, 2**64 - 1), FLOATS, st.none() | FLOATS, st.data())
def test_a_framed_image_comes_out_as_it_went_in(width, height, frame_id, time, wall, data):
    size = width * height * BYTES_PER_PIXEL
    pixels = data.draw(st.binary(min_size=size, max_size=size))
    payload = pack_header(width, height, frame_id, time, wall) + pixels
    assert payload[:4] == b'UCM1'
    # The resolution of the handshake is only for bare pixels: a wrong one must not matter.
    frame = unpack_frame(memoryview(payload), 641, 481)
    assert frame[:2] == (width, height) and bytes(frame.pixels) == pixels
    assert frame[3:] == (frame_id, time, wall)


@given(SIDES, SIDES)
def test_bare_pixels_take_the_resolution_of_the_handshake(width, height):
    pixels = bytes(width * height * BYTES_PER_PIXEL)
    frame = unpack_frame(pixels, width, height)
    assert frame[:2] == (width, height) and bytes(frame.pixels) == pixels
    assert frame[3:] == (None, None, None)


@given(st.binary(min_size=32, max_size=80), st.integers(0, 79), st.integers(0, 255))
def test_a_damaged_header_never_gives_pixels_of_another_size(pixels, position, value):
    payload = bytearray(pack_header(2, 4, 7, 1.5) + pixels)
    payload[position % len(payload)] = value
    try:
        frame = unpack_frame(payload, 640, 480)
    except MalformedRow:
        return
    assert len(frame.pixels) == frame.width * frame.height * BYTES_PER_PIXEL


@pytest.mark.parametrize('version', [0, 3, 2**32 - 1])
def test_an_unknown_version_is_refused(version):
    header = bytearray(pack_header(2, 2, 0, 0.0))
    header[4:8] = version.to_bytes(4, 'little')
    with pytest.raises(MalformedRow):
        unpack_frame(header + bytes(16), 640, 480)


def test_a_size_that_overflows_is_refused():
    header = pack_header(2**32 - 1, MAX_SIDE + 1, 0, 0.0)
    with pytest.raises(MalformedRow):
        unpack_frame(header, 640, 480)


def test_the_topic_ends_with_the_blank_of_the_wire():
    assert camera_topic('g1', 'head_rgbd') == b'g1/camera/head_rgbd '
