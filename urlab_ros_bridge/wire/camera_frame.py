# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Camera frames: bare pixels (stock plugin) or pixels behind a UCM1 header (newer builds).

Rows run top-down, tightly packed, four bytes a pixel: BGRA8, or float32 for depth.  The topic of a
camera message is ``{prefix}/camera/{name}`` with one trailing blank.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from urlab_ros_bridge.wire.errors import MalformedRow

MAGIC = 0x314D4355  # the bytes "UCM1"
BYTES_PER_PIXEL = 4
MAX_SIDE = 16384
_V1 = struct.Struct('<IIQdII')
_V2 = struct.Struct('<IIQdIId')
HEADER_BYTES = _V2.size  # of version 2


class CameraFrame(NamedTuple):
    """
    One image.

    :ivar pixels: view of ``width * height * 4`` bytes.
    :ivar frame_id: running number, None for bare pixels.
    :ivar sim_time: seconds of simulation at capture, None for bare pixels.
    :ivar wall_time: unix seconds at capture, only in version 2.
    """

    width: int
    height: int
    pixels: memoryview
    frame_id: int | None = None
    sim_time: float | None = None
    wall_time: float | None = None


def camera_topic(prefix: str, name: str) -> bytes:
    """Return the PUB topic of a camera; the blank at its end is part of it."""
    return f'{prefix}/camera/{name} '.encode()


def ucm1_topic(prefix: str, name: str) -> bytes:
    """Return the topic of the same camera with UCM1 headers, an extension; a blank ends it too."""
    return f'{prefix}/camera_ucm1/{name} '.encode()


def pack_header(
    width: int, height: int, frame_id: int, sim_time: float, wall_time: float | None = None
) -> bytes:
    """Return a UCM1 header: version 1 (32 bytes), or version 2 (40 bytes) with a wall time."""
    if wall_time is None:
        return _V1.pack(MAGIC, 1, frame_id, sim_time, width, height)
    return _V2.pack(MAGIC, 2, frame_id, sim_time, width, height, wall_time)


def unpack_frame(payload: bytes | memoryview, width: int, height: int) -> CameraFrame:
    """
    Decode a camera payload.

    :param width: resolution of the handshake, used for bare pixels.
    :param height: resolution of the handshake, used for bare pixels.
    :raises MalformedRow: when the payload is neither bare pixels of that size nor a whole UCM1
        frame.  Bare pixels win when both readings fit.
    """
    view = memoryview(payload).cast('B') if not isinstance(payload, bytes) else memoryview(payload)
    size = len(view)
    if size == width * height * BYTES_PER_PIXEL:
        return CameraFrame(width, height, view)
    if size >= _V1.size:
        magic, version, frame_id, sim_time, w, h = _V1.unpack_from(view)
        head = {1: _V1.size, 2: _V2.size}.get(version) if magic == MAGIC else None
        if head and w <= MAX_SIDE and h <= MAX_SIDE and size == head + w * h * BYTES_PER_PIXEL:
            wall = _V2.unpack_from(view)[6] if version == 2 else None
            return CameraFrame(w, h, view[head:], frame_id, sim_time, wall)
    raise MalformedRow('camera', size, f'{width}x{height}x4 bytes, with or without UCM1 header')
