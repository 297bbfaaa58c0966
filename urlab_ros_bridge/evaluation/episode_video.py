# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One episode as an MP4 file (H.264): the images of all cameras side by side, in simulated time.

The package `av` (FFmpeg) is optional: call `require_av` before `EpisodeVideo`.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from urlab_ros_bridge.gateways.chiral.protocol.codec import CameraView
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation

# The format that browsers, phones and slides play, with the index at the beginning.
CODEC, PIXEL_FORMAT = 'libx264', 'yuv420p'
QUALITY = {'crf': '20', 'preset': 'veryfast'}
_RATE_DIGITS = 1000  # 29.97 Hz is the fraction 29970 / 1000


def require_av() -> Any:
    """
    Return the module `av`.

    :raises ImportError: when it is not installed.
    """
    import av  # type: ignore[import-not-found,unused-ignore]

    return av


class EpisodeVideo:
    """
    Writes a file that plays in simulated time: each image is shown until the next one.

    An episode without cameras gives no file.
    """

    def __init__(self, path: Path, rate: float) -> None:
        """
        Prepare; the file is made with the first image.

        :param rate: images per simulated second, at most.
        :raises ImportError: when the package `av` is not installed.
        """
        self._av = require_av()
        self._path = path
        self._rate = Fraction(round(rate * _RATE_DIGITS), _RATE_DIGITS)
        self._container: Any = None
        self._stream: Any = None
        self._began = 0.0
        self._last = -1  # number of the last image, counted in periods of the rate

    def add(self, seen: Observation, action: np.ndarray | None) -> None:
        """Add the images of an observation."""
        if not seen.cameras:
            return
        now = float(seen.extra.get('sim_time', seen.timestamp))
        image = side_by_side(seen.cameras)
        if self._container is None:
            self._open(image.size)
            self._began = now
        number = round((now - self._began) * float(self._rate))
        if number > self._last:
            self._last = number
            frame = self._av.VideoFrame.from_image(image)
            frame.pts, frame.time_base = number, 1 / self._rate
            self._container.mux(self._stream.encode(frame))

    def close(self, summary: dict[str, str]) -> None:
        """Flush the encoder and write the index."""
        if self._container is not None:
            self._container.mux(self._stream.encode())
            self._container.close()
            self._container = None

    def _open(self, size: tuple[int, int]) -> None:
        self._container = self._av.open(
            str(self._path), 'w', format='mp4', options={'movflags': 'faststart'}
        )
        self._stream = self._container.add_stream(CODEC, rate=self._rate, options=QUALITY)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = PIXEL_FORMAT
        self._stream.codec_context.time_base = 1 / self._rate


def side_by_side(views: list[CameraView]) -> Image.Image:
    """Return the images of all cameras in a row, as high as the highest; both sides are even."""
    height = max(view.image.shape[0] for view in views)
    images = []
    for view in views:
        image = Image.fromarray(np.squeeze(view.image)).convert('RGB')
        width = max(1, round(image.width * height / image.height))
        images.append(image.resize((width, height)))
    width = sum(image.width for image in images)
    # H.264 stores one colour for each two by two pixels.
    whole = Image.new('RGB', (width + width % 2, height + height % 2))
    left = 0
    for image in images:
        whole.paste(image, (left, 0))
        left += image.width
    return whole


__all__ = ['EpisodeVideo', 'require_av', 'side_by_side']
