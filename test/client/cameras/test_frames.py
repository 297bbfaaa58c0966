# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures in RGB hold what the server sent in BGRA."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np

from urlab_ros_bridge.client.cameras.frames import copy_rgb

SIDES = st.integers(0, 9)


@given(SIDES, SIDES, st.integers(0, 2**32 - 1), st.sampled_from(['whole', 'bytes', 'cut']))
def test_red_green_and_blue_of_every_pixel(height, width, seed, kind):
    random = np.random.default_rng(seed)
    pixels = random.integers(0, 256, (height, width + 3, 4), np.uint8)[:, :width]
    if kind != 'cut':
        pixels = pixels.copy()
    if kind == 'bytes':  # read-only, as they come from the wire
        pixels = np.frombuffer(pixels.tobytes(), np.uint8).reshape(pixels.shape)
    target = np.full((height, width, 3), 7, np.uint8)
    copy_rgb(target, pixels)
    np.testing.assert_array_equal(target, pixels[..., 2::-1])
