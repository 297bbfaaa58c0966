# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The messages of cameras: camera_info, images, compressed images and point clouds.

Colours arrive as BGRA; depth as float32 in the server's unit, 0 where nothing is seen.  Compressed
images have the formats of the image_transport plugins: JPEG for colours, PNG for labels (a lossy
colour would be another label), a PNG of 16 bits for depth: millimetres, or quantised inverse
metres as compressed_depth_image_transport makes them.
"""

from __future__ import annotations

from collections.abc import Callable
import io
import math
import struct
from typing import Any
from typing import NamedTuple

import numpy as np
from sensor_msgs.msg import CameraInfo
from sensor_msgs.msg import CompressedImage
from sensor_msgs.msg import Image
from sensor_msgs.msg import PointCloud2
from sensor_msgs.msg import PointField
from std_msgs.msg import Header

from urlab_ros_bridge.client.cameras.frames import copy_rgb
from urlab_ros_bridge.ros.messages.base import ConstantTemplate
from urlab_ros_bridge.ros.messages.cdr.blob import BlobTemplate


class Intrinsics(NamedTuple):
    """
    A pinhole camera in pixels; the middle of the top left pixel is (0, 0).

    :ivar fx, fy: focal length; both follow from the vertical field of view, pixels are square.
    :ivar cx, cy: principal point, the middle of the image.
    """

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float


def intrinsics(width: int, height: int, fovy: float) -> Intrinsics:
    """
    Return the intrinsics of a camera.

    :param fovy: vertical field of view in degrees.

    >>> intrinsics(640, 480, 90.0)
    Intrinsics(width=640, height=480, fx=240.0, fy=240.0, cx=319.5, cy=239.5)
    """
    focal = round(height / 2.0 / math.tan(math.radians(fovy) / 2.0), 9)
    return Intrinsics(width, height, focal, focal, (width - 1) / 2.0, (height - 1) / 2.0)


class CameraInfoTemplate(ConstantTemplate):
    """sensor_msgs/CameraInfo: no distortion, no rectification, the whole image."""

    def __init__(self, frame_id: str, camera: Intrinsics) -> None:
        fx, fy, cx, cy = camera.fx, camera.fy, camera.cx, camera.cy
        super().__init__(
            CameraInfo(
                header=Header(frame_id=frame_id),
                height=camera.height,
                width=camera.width,
                distortion_model='plumb_bob',
                d=[0.0] * 5,
                k=[fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
                r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
                p=[fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
            )
        )


# Channels of BGRA that make up each encoding of colours.
_CHANNELS = {'rgb8': (2, 1, 0), 'bgr8': (0, 1, 2), 'rgba8': (2, 1, 0, 3), 'bgra8': (0, 1, 2, 3)}
_DEPTHS: dict[str, np.dtype[Any]] = {'32FC1': np.dtype('<f4'), '16UC1': np.dtype('<u2')}
COLOR_ENCODINGS = tuple(_CHANNELS)
DEPTH_ENCODINGS = tuple(_DEPTHS)
_MILLIMETRES = 1000.0
_MAX_16 = 65535

Fill = Callable[[np.ndarray, np.ndarray], None]


def fill_color(encoding: str) -> Fill:
    """
    Return a function (target, pixels) that converts BGRA.

    :param encoding: one of COLOR_ENCODINGS; target then has shape (height, width, channels).
    """
    channels = _CHANNELS[encoding]
    if encoding == 'bgra8':
        return _copy
    if encoding == 'rgb8':
        return copy_rgb

    def fill(target: np.ndarray, pixels: np.ndarray) -> None:
        # One plane at a time is six times as fast as one indexed assignment.
        for index, channel in enumerate(channels):
            target[..., index] = pixels[..., channel]

    return fill


def fill_depth(encoding: str, metres: float) -> Fill:
    """
    Return a function (target, depth) that converts a depth image according to REP-118.

    32FC1: metres, +inf where nothing is within the range of the camera.  16UC1: millimetres, 0
    there and beyond 65.535 m.

    :param metres: the unit of the depth in metres.
    """

    def fill_metres(target: np.ndarray, depth: np.ndarray) -> None:
        if metres == 1.0:
            target[...] = depth
        else:
            np.multiply(depth, np.float32(metres), out=target)
        target[~(depth > 0.0)] = np.inf

    def fill_millimetres(target: np.ndarray, depth: np.ndarray) -> None:
        scaled = np.rint(depth * np.float32(metres * _MILLIMETRES))
        target[...] = np.where((scaled > 0) & (scaled <= _MAX_16), scaled, 0)

    return fill_metres if encoding == '32FC1' else fill_millimetres


class ImageTemplate:
    """
    sensor_msgs/Image of one camera.

    :ivar size: bytes of the pixels.
    """

    def __init__(self, frame_id: str, encoding: str, width: int, height: int, fill: Fill) -> None:
        """
        Prepare the message.

        :param encoding: one of COLOR_ENCODINGS or DEPTH_ENCODINGS.
        :raises CdrError: when the middleware serialises in another way than expected.
        """
        depth = _DEPTHS.get(encoding)
        channels = 1 if depth else len(_CHANNELS[encoding])
        self._dtype = depth or np.dtype(np.uint8)
        self._shape: tuple[int, ...] = (height, width) if depth else (height, width, channels)
        step = width * channels * self._dtype.itemsize
        self.size = step * height
        self._fill = fill
        self._template = BlobTemplate(
            Image(
                header=Header(frame_id=frame_id),
                height=height,
                width=width,
                encoding=encoding,
                is_bigendian=0,
                step=step,
            )
        )

    def update(self, stamp_ns: int, pixels: np.ndarray) -> bytes:
        """
        Return the serialised message.

        :param pixels: (height, width, 4) uint8 BGRA, or (height, width) float32.
        """
        message, data = self._template.begin(stamp_ns, self.size)
        self._fill(data.view(self._dtype).reshape(self._shape), pixels)
        return message


def _copy(target: np.ndarray, pixels: np.ndarray) -> None:
    target[...] = pixels


# Header of a compressed depth image: format (INV_DEPTH), and the two parameters of the quantiser.
_DEPTH_HEADER = struct.Struct('<iff')
_INVERSE = 0
_QUANTIZATION = 100.0
_MAX_DEPTH = 10.0
_PNG_LEVEL = 1


class CompressedTemplate:
    """sensor_msgs/CompressedImage of one camera."""

    def __init__(self, frame_id: str, kind: str, encoding: str, metres: float = 1.0) -> None:
        """
        Prepare the message.

        :param kind: `jpeg` or `png` of BGRA, or `depth`.
        :param encoding: of the raw topic, which decoders give back.
        :param metres: the unit of the depth in metres.
        :raises CdrError: when the middleware serialises in another way than expected.
        """
        self._kind, self._encoding, self._metres = kind, encoding, metres
        formats = {'jpeg': 'jpeg compressed bgr8', 'png': 'png compressed bgr8'}
        form = f'{encoding}; {formats.get(kind, "compressedDepth png")}'
        self._template = BlobTemplate(
            CompressedImage(header=Header(frame_id=frame_id), format=form)
        )

    def update(self, stamp_ns: int, pixels: np.ndarray, quality: int) -> bytes:
        """
        Return the serialised message.

        :param pixels: (height, width, 4) uint8 BGRA, or (height, width) float32.
        :param quality: of JPEG, 1 to 100.
        """
        if self._kind == 'depth':
            data = self._depth(pixels)
        else:
            data = encode_color(pixels, self._kind, quality)
        return self._template.pack(stamp_ns, data)

    def _depth(self, depth: np.ndarray) -> bytes:
        metres = depth * np.float32(self._metres)
        if self._encoding == '16UC1':
            millimetres = np.rint(metres * 1000.0)
            usable = (millimetres > 0) & (millimetres <= 65535)
            return _DEPTH_HEADER.pack(_INVERSE, 0.0, 0.0) + _png16(
                np.where(usable, millimetres, 0)
            )
        scale = _QUANTIZATION * (_QUANTIZATION + 1.0)
        offset = 1.0 - scale / _MAX_DEPTH
        with np.errstate(divide='ignore'):
            inverse = np.rint(scale / metres + offset)
        usable = (metres > 0) & (metres < _MAX_DEPTH) & (inverse <= 65535)
        return _DEPTH_HEADER.pack(_INVERSE, scale, offset) + _png16(np.where(usable, inverse, 0))


def encode_color(pixels: np.ndarray, form: str, quality: int) -> bytes:
    """
    Return an image file.

    :param pixels: (height, width, 4) uint8 BGRA.
    :param form: `jpeg` or `png`.
    :param quality: of JPEG, 1 to 100.
    """
    from PIL import Image as PilImage  # only for subscribers of compressed images

    height, width = pixels.shape[:2]
    image = PilImage.frombuffer('RGB', (width, height), pixels, 'raw', 'BGRX', 0, 1)
    stream = io.BytesIO()
    if form == 'jpeg':
        image.save(stream, 'JPEG', quality=quality)
    else:
        image.save(stream, 'PNG', compress_level=_PNG_LEVEL)
    return stream.getvalue()


def _png16(values: np.ndarray) -> bytes:
    from PIL import Image as PilImage

    stream = io.BytesIO()
    PilImage.fromarray(values.astype(np.uint16)).save(stream, 'PNG', compress_level=_PNG_LEVEL)
    return stream.getvalue()


_POINT = 16  # bytes: x, y, z, and the colour or nothing


class PointsTemplate:
    """
    sensor_msgs/PointCloud2 with a row of points for each row of pixels.

    Points that nothing was seen at are NaN.  With colour there is a field `rgb` as PCL packs it.
    """

    def __init__(
        self, frame_id: str, camera: Intrinsics, metres: float, every: int, colored: bool
    ) -> None:
        """
        Prepare the message.

        :param metres: the unit of the depth in metres.
        :param every: of the rows and columns only each such one becomes points.
        :raises CdrError: when the middleware serialises in another way than expected.
        """
        columns, rows = np.arange(0, camera.width, every), np.arange(0, camera.height, every)
        self._every, self._colored = every, colored
        self._x = ((columns - camera.cx) / camera.fx * metres).astype(np.float32)[None, :]
        self._y = ((rows - camera.cy) / camera.fy * metres).astype(np.float32)[:, None]
        self._metres = np.float32(metres)
        self._shape = (len(rows), len(columns), 4)
        self.size = len(rows) * len(columns) * _POINT
        names = ('x', 'y', 'z', 'rgb') if colored else ('x', 'y', 'z')
        self._template = BlobTemplate(
            PointCloud2(
                header=Header(frame_id=frame_id),
                height=len(rows),
                width=len(columns),
                fields=[
                    PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
                    for i, name in enumerate(names)
                ],
                is_bigendian=False,
                point_step=_POINT,
                row_step=len(columns) * _POINT,
                is_dense=False,
            )
        )

    def update(self, stamp_ns: int, depth: np.ndarray, color: np.ndarray | None = None) -> bytes:
        """
        Return the serialised message.

        :param depth: (height, width) float32, 0 where nothing is seen.
        :param color: (height, width, 4) uint8 BGRA of the same view, when the cloud has colour.
        """
        message, data = self._template.begin(stamp_ns, self.size)
        points = data.view('<f4').reshape(self._shape)
        depth = depth[:: self._every, :: self._every]
        depth = np.where(depth > 0.0, depth, np.float32(np.nan))
        np.multiply(depth, self._x, out=points[..., 0])
        np.multiply(depth, self._y, out=points[..., 1])
        np.multiply(depth, self._metres, out=points[..., 2])
        packed = data.view('<u4').reshape(self._shape)[..., 3]
        if self._colored and color is not None:
            # BGRA read as a little-endian word is 0xAARRGGBB, which is how PCL packs a colour.
            packed[...] = color.view('<u4')[:: self._every, :: self._every, 0]
        else:
            packed[...] = 0
        return message
