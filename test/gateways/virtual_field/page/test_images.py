# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0

import io

import numpy as np
from PIL import Image

from urlab_ros_bridge.client.cameras.frames import Frame
from urlab_ros_bridge.gateways.virtual_field.page.images import depth_colors
from urlab_ros_bridge.gateways.virtual_field.page.images import jpeg


def frame(pixels, dtype='bgra8'):
    height, width = pixels.shape[:2]
    return Frame(1_500_000_000, 1, width, height, dtype, pixels)


def test_an_image_has_the_colours_of_its_pixels():
    pixels = np.zeros((48, 64, 4), np.uint8)
    pixels[:, :32] = (10, 60, 200, 255)  # blue, green, red
    pixels[:, 32:] = (220, 30, 20, 255)
    shown = np.asarray(Image.open(io.BytesIO(jpeg(frame(pixels), 1.0)))).astype(int)
    np.testing.assert_allclose(shown[24, 10], (200, 60, 10), atol=6)
    np.testing.assert_allclose(shown[24, 54], (20, 30, 220), atol=6)


def test_near_is_lighter_than_far_and_nothing_is_darkest():
    metres = np.array([[0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 50.0, 0.0, np.nan, np.inf]], 'f4')
    light = depth_colors(metres)[0].astype(int).sum(axis=1)
    assert (np.diff(light[1:7]) < 0).all()
    assert set(light[7:]) == {light[6]}
    # It has the unit of the handshake.
    pixels = np.full((8, 8), 150.0, np.float32)
    images = jpeg(frame(pixels, 'float32'), 0.01), jpeg(frame(pixels / 100, 'float32'), 1.0)
    centimetres, metres = (Image.open(io.BytesIO(each)).getpixel((4, 4)) for each in images)
    assert centimetres == metres
