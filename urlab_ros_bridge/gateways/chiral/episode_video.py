# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One episode as a video: the pictures of all cameras side by side, Motion JPEG in an AVI file.

Pillow makes the pictures; the container (Microsoft, "AVI RIFF File Reference") is laid out here,
so that no video library is needed.
"""

from __future__ import annotations

import io
from pathlib import Path
import struct

import numpy as np
from PIL import Image

from urlab_ros_bridge.gateways.chiral.codec import CameraView
from urlab_ros_bridge.gateways.chiral.codec import Observation

QUALITY = 90
_STREAM = b'00dc'
_HAS_INDEX = 0x10
_KEYFRAME = 0x10
_MICROSECONDS = 1_000_000
_RATE_SCALE = 1000  # the rate is a fraction of this denominator: 29.97 is 29970 / 1000


class EpisodeVideo:
    """
    Writes a file that plays in simulated time: a frame is repeated until the next one is due.

    An episode without cameras gives no file.
    """

    def __init__(self, path: Path, rate: float) -> None:
        """
        Prepare; the file is made with the first picture.

        :param rate: frames per simulated second.
        """
        self._path = path
        self._rate = rate
        self._frames: list[int] = []  # sizes
        self._size = (0, 0)
        self._file: io.BufferedWriter | None = None
        self._began = 0.0
        self._last = b''

    def add(self, seen: Observation, action: np.ndarray | None) -> None:
        """Take the pictures of an observation."""
        if not seen.cameras:
            return
        now = float(seen.extra.get('sim_time', seen.timestamp))
        picture = side_by_side(seen.cameras)
        if self._file is None:
            self._file = self._path.open('wb')
            self._began, self._size = now, picture.size
            self._file.write(self._head())
        missing = round((now - self._began) * self._rate) - len(self._frames)
        for _ in range(missing if self._last else 0):
            self._write(self._last)
        data = io.BytesIO()
        picture.save(data, 'JPEG', quality=QUALITY)
        self._last = data.getvalue()
        self._write(self._last)

    def close(self, summary: dict[str, str]) -> None:
        """End the file: its index, and the sizes that are known only now."""
        if self._file is None:
            return
        self._file.write(_chunk(b'idx1', self._index()))
        length = self._file.tell()
        self._file.seek(0)
        self._file.write(self._head(length))
        self._file.close()

    def _write(self, data: bytes) -> None:
        self._frames.append(len(data))
        self._file.write(_chunk(_STREAM, data))

    def _index(self) -> bytes:
        entries, offset = [], 4  # from the word `movi`
        for size in self._frames:
            entries.append(struct.pack('<4sIII', _STREAM, _KEYFRAME, offset, size))
            offset += 8 + size + size % 2
        return b''.join(entries)

    def _head(self, length: int = 0) -> bytes:
        """Return everything before the first frame; its size is the same whatever is in it."""
        width, height = self._size
        count, largest = len(self._frames), max(self._frames, default=0)
        main = struct.pack(
            '<14I',
            round(_MICROSECONDS / self._rate), 0, 0, _HAS_INDEX, count, 0, 1, largest,
            width, height, 0, 0, 0, 0,
        )  # fmt: skip
        rate = round(self._rate * _RATE_SCALE)
        stream = struct.pack(
            '<4s4sIHHIIIIIIIIHHHH',
            b'vids', b'MJPG', 0, 0, 0, 0, _RATE_SCALE, rate, 0, count, largest, 0xFFFFFFFF, 0,
            0, 0, width, height,
        )  # fmt: skip
        kind = struct.pack(
            '<IiiHH4sIiiII', 40, width, height, 1, 24, b'MJPG', width * height * 3, 0, 0, 0, 0
        )
        streams = _list(b'strl', _chunk(b'strh', stream) + _chunk(b'strf', kind))
        head = _list(b'hdrl', _chunk(b'avih', main) + streams)
        movie = 4 + sum(8 + size + size % 2 for size in self._frames)
        movie_head = struct.pack('<4sI4s', b'LIST', movie, b'movi')
        return struct.pack('<4sI4s', b'RIFF', max(length - 8, 0), b'AVI ') + head + movie_head


def side_by_side(views: list[CameraView]) -> Image.Image:
    """Return the pictures of all cameras in a row, as high as the highest."""
    height = max(view.image.shape[0] for view in views)
    pictures = []
    for view in views:
        picture = Image.fromarray(np.squeeze(view.image)).convert('RGB')
        width = max(1, round(picture.width * height / picture.height))
        pictures.append(picture.resize((width, height)))
    whole = Image.new('RGB', (sum(picture.width for picture in pictures), height))
    left = 0
    for picture in pictures:
        whole.paste(picture, (left, 0))
        left += picture.width
    return whole


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack('<4sI', name, len(data)) + data + b'\0' * (len(data) % 2)


def _list(name: bytes, data: bytes) -> bytes:
    return _chunk(b'LIST', name + data)
