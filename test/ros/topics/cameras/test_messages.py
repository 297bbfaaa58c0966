# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Images as messages: equal to the serialisation of rclpy, with the pixels of the source."""

import io
import math
import struct

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import numpy as np
from PIL import Image as PilImage
import pytest
from rclpy.serialization import deserialize_message
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CameraInfo
from sensor_msgs.msg import CompressedImage
from sensor_msgs.msg import Image
from sensor_msgs.msg import PointCloud2
from stamps import ns_of

from urlab_ros_bridge.ros.messages.cdr.layout import lay_out
from urlab_ros_bridge.ros.topics.cameras.messages import CameraInfoTemplate
from urlab_ros_bridge.ros.topics.cameras.messages import COLOR_ENCODINGS
from urlab_ros_bridge.ros.topics.cameras.messages import CompressedTemplate
from urlab_ros_bridge.ros.topics.cameras.messages import fill_color
from urlab_ros_bridge.ros.topics.cameras.messages import fill_depth
from urlab_ros_bridge.ros.topics.cameras.messages import ImageTemplate
from urlab_ros_bridge.ros.topics.cameras.messages import intrinsics
from urlab_ros_bridge.ros.topics.cameras.messages import PointsTemplate

STAMP = 12_345_678_901
sizes = st.tuples(st.integers(1, 9), st.integers(1, 7))
frames = st.text('abcxyz_/', min_size=1, max_size=9)


def pixels_of(width, height, seed):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), np.uint8)


def depth_of(width, height, seed):
    random = np.random.default_rng(seed)
    depth = random.uniform(0.2, 9.0, (height, width)).astype(np.float32)
    depth[random.random((height, width)) < 0.3] = 0.0
    return depth


def same_as_rclpy(raw, message_type):
    """Return the message; rclpy would serialise it to the same bytes, but for padding."""
    message = deserialize_message(raw, message_type)
    again, ours = bytearray(serialize_message(message)), bytearray(raw)
    for place in lay_out(message).padding:
        again[place] = ours[place] = 0
    assert again[4 : len(ours)] == ours[4:] and not any(again[len(ours) :])
    return message


@settings(max_examples=30)
@given(size=sizes, frame=frames, encoding=st.sampled_from(COLOR_ENCODINGS), seed=st.integers(0, 9))
def test_colours_keep_their_channels(size, frame, encoding, seed):
    pixels = pixels_of(*size, seed)
    raw = ImageTemplate(frame, encoding, *size, fill_color(encoding)).update(STAMP, pixels)
    message = same_as_rclpy(raw, Image)
    assert (message.width, message.height, message.encoding) == (*size, encoding)
    assert message.header.frame_id == frame
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (12, 345_678_901)
    assert message.step * message.height == len(message.data)
    blue, green, red, alpha = np.moveaxis(pixels, -1, 0)
    named = {'r': red, 'g': green, 'b': blue, 'a': alpha}
    expected = np.stack([named[letter] for letter in encoding.rstrip('8')], axis=-1)
    assert bytes(message.data) == expected.tobytes()


@pytest.mark.parametrize('metres', [1.0, 0.01])
def test_depth_becomes_metres_or_millimetres_and_nothing_is_infinite(metres):
    depth = depth_of(8, 6, 1) / np.float32(metres)
    far = depth == 0
    for encoding, kind, nothing, scale, error in (
        ('32FC1', '<f4', np.inf, metres, 1e-5),
        ('16UC1', '<u2', 0, metres * 1000, 0.51),
    ):
        template = ImageTemplate('c', encoding, 8, 6, fill_depth(encoding, metres))
        data = bytes(same_as_rclpy(template.update(STAMP, depth), Image).data)
        values = np.frombuffer(data, kind).reshape(6, 8)
        assert (values[far] == nothing).all()
        assert values[~far] == pytest.approx(depth[~far] * scale, abs=error)


@given(size=sizes, frame=frames, fovy=st.floats(1.0, 179.0))
def test_camera_info_follows_from_size_and_field_of_view(size, frame, fovy):
    lens = intrinsics(*size, fovy)
    raw = CameraInfoTemplate(frame, lens).update(STAMP)
    info = deserialize_message(raw, CameraInfo)
    assert (info.width, info.height, info.header.frame_id) == (*size, frame)
    assert ns_of(info) == STAMP
    assert info.k.tolist() == [lens.fx, 0, lens.cx, 0, lens.fy, lens.cy, 0, 0, 1]
    assert info.p.reshape(3, 4)[:, :3].ravel().tolist() == info.k.tolist()
    # The upper edge of the image is at half of the field of view.
    edge = math.degrees(math.atan(size[1] / 2 / lens.fy))
    assert edge == pytest.approx(fovy / 2, abs=1e-6)


@settings(max_examples=30)
@given(size=sizes, every=st.integers(1, 4), colored=st.booleans(), seed=st.integers(0, 9))
def test_points_project_back_to_their_pixels(size, every, colored, seed):
    width, height = size
    lens = intrinsics(width, height, 60.0)
    depth, color = depth_of(width, height, seed), pixels_of(width, height, seed)
    template = PointsTemplate('c', lens, 1.0, every, colored)
    cloud = same_as_rclpy(template.update(STAMP, depth, color), PointCloud2)
    assert cloud.row_step * cloud.height == len(cloud.data) and not cloud.is_dense
    points = np.frombuffer(bytes(cloud.data), '<f4').reshape(cloud.height, cloud.width, 4)
    seen = depth[::every, ::every] > 0
    assert np.isnan(points[~seen][:, :3]).all()
    x, y, z = (points[..., i][seen] for i in range(3))
    rows, columns = np.nonzero(seen)
    assert z == pytest.approx(depth[::every, ::every][seen])
    assert lens.fx * x / z + lens.cx == pytest.approx(columns * every, abs=1e-3)
    assert lens.fy * y / z + lens.cy == pytest.approx(rows * every, abs=1e-3)
    assert [field.name for field in cloud.fields] == ['x', 'y', 'z', 'rgb'][: 3 + colored]
    if colored:
        packed = np.frombuffer(bytes(cloud.data), '<u4').reshape(points.shape)[..., 3]
        blue, green, red = (color[::every, ::every, i].astype(np.uint32) for i in range(3))
        assert ((packed & 0xFFFFFF) == (red << 16 | green << 8 | blue)).all()


def test_compressed_depth_decodes_as_image_transport_decodes_it():
    depth = depth_of(16, 12, 5)
    depth[0, :3] = (0.3, 5.0, 20.0)
    message = deserialize_message(
        CompressedTemplate('c', 'depth', '32FC1').update(STAMP, depth, 0), CompressedImage
    )
    assert message.format == '32FC1; compressedDepth png'
    data = bytes(message.data)
    _, scale, offset = struct.unpack('<iff', data[:12])
    stored = np.asarray(PilImage.open(io.BytesIO(data[12:]))).astype(float)
    seen = (depth > 0) & (depth < 10)
    assert (stored[~seen] == 0).all()
    decoded = scale / (stored[seen] - offset)
    assert decoded == pytest.approx(depth[seen], rel=0.01)
    message = deserialize_message(
        CompressedTemplate('c', 'depth', '16UC1').update(STAMP, depth, 0), CompressedImage
    )
    stored = np.asarray(PilImage.open(io.BytesIO(bytes(message.data)[12:])))
    assert stored == pytest.approx(depth * 1000, abs=0.51)


def test_jpeg_shows_the_image_and_png_keeps_every_label():
    flat = np.zeros((48, 64, 4), np.uint8)
    flat[...] = (10, 60, 200, 255)
    jpeg = CompressedTemplate('c', 'jpeg', 'rgb8').update(STAMP, flat, 90)
    message = same_as_rclpy(jpeg, CompressedImage)
    assert message.format == 'rgb8; jpeg compressed bgr8'
    shown = np.asarray(PilImage.open(io.BytesIO(bytes(message.data))))
    assert shown.shape == (48, 64, 3) and np.abs(shown.astype(int) - (200, 60, 10)).max() < 8
    labels = pixels_of(9, 5, 3)
    png = CompressedTemplate('c', 'png', 'rgb8').update(STAMP, labels, 1)
    message = same_as_rclpy(png, CompressedImage)
    shown = np.asarray(PilImage.open(io.BytesIO(bytes(message.data))))
    assert (shown == labels[..., 2::-1]).all()
