# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Compressed images, in the formats of the image_transport plugins.

Colours become JPEG, labels PNG (a lossy colour would be another label), depth a PNG of 16 bits:
millimetres, or quantised inverse metres as compressed_depth_image_transport makes them.
"""

from __future__ import annotations

import io
import struct

import numpy as np
from sensor_msgs.msg import CompressedImage
from std_msgs.msg import Header

from urlab_ros_bridge.ros.messages.cdr.blob import BlobTemplate

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
