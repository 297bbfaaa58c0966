# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Frames of cameras."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.wire.camera_frame import BYTES_PER_PIXEL


class Frame(NamedTuple):
    """
    One image; rows run top-down.

    :ivar stamp_ns: simulated time of the capture, None when not reported.
    :ivar frame_id: sequence number, None when not reported.
    :ivar dtype: ``bgra8`` or ``float32``.
    :ivar pixels: read-only view: (height, width, 4) uint8, or (height, width) float32 in the
        handshake's `depth_unit`.  Its memory is the caller's.
    :ivar wall_time: Unix time of the capture in s, None when not reported.
    """

    stamp_ns: int | None
    frame_id: int | None
    width: int
    height: int
    dtype: str
    pixels: np.ndarray
    wall_time: float | None = None

    def __repr__(self) -> str:
        """Return everything but the pixels."""
        time = '' if self.stamp_ns is None else f' at {self.stamp_ns * 1e-9:.6g} s'
        number = '' if self.frame_id is None else f' {self.frame_id}'
        return f'<Frame{number}{time}: {self.width}x{self.height} {self.dtype}>'


@dataclass(slots=True)
class CameraStats:
    """
    Counters of a stream since it was opened.

    :ivar dropped: frames discarded because a newer one had arrived.
    :ivar missed: frames that never arrived, by the gaps in their numbers.
    :ivar last_receive: `time.monotonic` of the last frame, None before the first.
    """

    frames: int = 0
    bytes: int = 0
    dropped: int = 0
    missed: int = 0
    decode_errors: int = 0
    last_receive: float | None = None


def shape_pixels(camera: CameraInfo, width: int, height: int, pixels: Any) -> np.ndarray:
    """Return a read-only view of a buffer of pixels in its shape, see `Frame.pixels`."""
    if camera.encoding == 'float32':
        shaped: np.ndarray = np.frombuffer(pixels, '<f4').reshape(height, width)
    else:
        shaped = np.frombuffer(pixels, np.uint8).reshape(height, width, BYTES_PER_PIXEL)
    shaped.flags.writeable = False
    return shaped


def copy_rgb(target: np.ndarray, pixels: np.ndarray) -> None:
    """
    Copy BGRA pixels as RGB.

    Two strided copies, red with green as one swapped word and blue alone, take two thirds of the
    time of three copies of a channel each; indexing with a reversed axis takes four times as long.

    :param target: shape (height, width, 3), uint8, contiguous.
    :param pixels: shape (height, width, 4), uint8; an image that is not contiguous is copied.
    """
    count = target.size // 3
    if not count:
        return
    source = np.ascontiguousarray(pixels)
    red_green = np.ndarray((count,), '<u2', target.data, 0, (3,))
    # Bytes 1 and 2 of a pixel, green and red, read in the other order.
    red_green[...] = np.ndarray((count,), '>u2', source.data, 1, (4,))
    target.reshape(-1)[2::3] = source.reshape(-1)[::4]


__all__ = ['CameraStats', 'Frame', 'copy_rgb', 'shape_pixels']
