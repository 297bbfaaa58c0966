# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Live images of cameras as JPEG: one stream and one encoding for all viewers."""

from __future__ import annotations

from collections.abc import Callable
import io
import logging

import numpy as np
from PIL import Image

from urlab_ros_bridge.client.cameras.frames import copy_rgb
from urlab_ros_bridge.client.cameras.frames import Frame
from urlab_ros_bridge.client.cameras.stream import FrameSource
from urlab_ros_bridge.client.errors import StreamClosed
from urlab_ros_bridge.gateways.serving.latest import PeriodicThread
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)

QUALITY = 80
# Images per second at most; people look at them.
RATE = 15.0
_LONGEST_WAIT = 0.2
# Near is light and far is dark, so that hands stand out from walls.
_DEPTH_COLORS = np.array(
    [[253, 231, 159], [246, 142, 82], [190, 62, 98], [96, 30, 105], [22, 12, 48]], np.float32
)
_NEAR, _FAR = 0.2, 8.0  # m

# Takes the size, the simulated time (s) and the JPEG of an image.
Show = Callable[[int, int, float, bytes], None]


class ImageFeed:
    """The images of one camera, from its first viewer to its last."""

    def __init__(self, source: FrameSource, depth_scale: float, show: Show) -> None:
        """
        Begin.

        :param depth_scale: metres of one unit of depth.
        :param show: called by a thread of this feed.
        """
        self._source = source
        self._scale = depth_scale
        self._show = show
        self._thread = PeriodicThread('webxr-images', self._show_next, RATE)
        self._thread.start()

    def close(self) -> None:
        """Stop; may be called by any thread but the feed's own."""
        self._source.close()
        self._thread.stop()

    def _show_next(self) -> None:
        try:
            frame = self._source.receive(_LONGEST_WAIT)
        except StreamClosed:
            return
        except UrlabError as error:
            _LOG.warning('skipped an image: %s', error)
            return
        if frame is not None:
            stamp = (frame.stamp_ns or 0) * 1e-9
            self._show(frame.width, frame.height, stamp, jpeg(frame, self._scale))


def jpeg(frame: Frame, depth_scale: float) -> bytes:
    """Return an image as JPEG; depth as colours, from light (near) to dark (far)."""
    if frame.dtype == 'float32':
        rgb = depth_colors(frame.pixels * depth_scale)
    else:
        rgb = np.empty((frame.height, frame.width, 3), np.uint8)
        copy_rgb(rgb, frame.pixels)
    out = io.BytesIO()
    Image.fromarray(rgb).save(out, 'JPEG', quality=QUALITY)
    return out.getvalue()


def depth_colors(metres: np.ndarray) -> np.ndarray:
    """Return colours of distances, shape (height, width, 3); no depth counts as farthest."""
    valid = np.isfinite(metres) & (metres > 0.0)
    near = np.clip(np.where(valid, metres, _FAR), _NEAR, _FAR)
    share = np.log(near / _NEAR) / np.log(_FAR / _NEAR) * (len(_DEPTH_COLORS) - 1)
    below = np.minimum(share.astype(np.intp), len(_DEPTH_COLORS) - 2)
    part = (share - below)[..., None].astype(np.float32)
    colors: np.ndarray = _DEPTH_COLORS[below] * (1 - part) + _DEPTH_COLORS[below + 1] * part
    return colors.astype(np.uint8)


__all__ = ['ImageFeed', 'depth_colors', 'jpeg']
