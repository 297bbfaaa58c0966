# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Camera payloads, with header and bare."""

from hypothesis import given
from hypothesis import strategies as st

from urlab_ros_bridge.wire.camera_frame import BYTES_PER_PIXEL
from urlab_ros_bridge.wire.camera_frame import pack_header
from urlab_ros_bridge.wire.camera_frame import unpack_frame

SIDES = st.integers(1, 24)
FLOATS = st.floats(allow_nan=False)


@given(SIDES, SIDES, st.integers(0, 2**64 - 1), FLOATS, st.none() | FLOATS, st.data())
def test_a_framed_image_round_trips(width, height, frame_id, time, wall, data):
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
