# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The pictures of one camera out of its shared-memory region.

A region holds the newest picture and has room for the next; there is no queue.  A picture is
copied once, into memory that is reused as soon as the picture is no longer referenced.
"""

from __future__ import annotations

from pathlib import Path
import time

import numpy as np

from urlab_ros_bridge.client.cameras.frame_buffers import FrameBuffers
from urlab_ros_bridge.client.cameras.frames import CameraStats
from urlab_ros_bridge.client.cameras.frames import Frame
from urlab_ros_bridge.client.cameras.frames import shape_pixels
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.client.transports.shm_region import Directory
from urlab_ros_bridge.client.transports.shm_region import RegionStream
from urlab_ros_bridge.transport.shm import RegionReader
from urlab_ros_bridge.transport.shm.files import camera_file
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.transport.shm.region import time_of
from urlab_ros_bridge.wire.camera_frame import BYTES_PER_PIXEL
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable

_SIGN = 1 << 63
_RESERVE_SECONDS, _RESERVE_POLL = 1.0, 0.002


class ShmCameraStream(RegionStream):
    """
    Frames of one camera, always the newest; the interface is `frames.FrameSource`.

    The server renders while a region is open, so close an unused stream.  `receive`
    may run in one thread while another one closes.  With the bundled server frames have stamps and
    numbers; a stock server's have none.

    :ivar stats: counters, see `CameraStats`; `missed` counts frames that a newer one replaced.
    """

    def __init__(self, directory: Directory, camera: CameraInfo) -> None:
        """
        Open the region, which has to be there; the server reserves its memory then.

        :param directory: the handshake's `shm_session_dir`, or a function that returns that of
            the latest handshake; only with a function does the stream continue after a restart.
        :raises RegionUnavailable: when the region cannot be opened, or there is no room for it.
        :raises MalformedRegion: when it is none, or not for pictures of this size.
        """
        self.camera = camera
        self.stats = CameraStats()
        self._size = camera.resolution[0] * camera.resolution[1] * BYTES_PER_PIXEL
        self._lends = False
        self._buffers = FrameBuffers()
        super().__init__(directory, region_name(camera))
        reader = self._source.current()
        if reader is not None and reader.region.capacity < self._size:
            self.close()
            reason = f'it has room for {reader.region.capacity} bytes, {self._size} are needed'
            raise MalformedRegion(self._source.path, reason)
        if reader is None or not _has_memory(reader.region):
            self.close()
            raise RegionUnavailable(self._source.path, 'there is no room for it')

    def receive(self, timeout: float | None = None) -> Frame | None:
        """Return the newest frame, see `RegionStream.receive`."""
        frame: Frame | None = super().receive(timeout)
        return frame

    def lend(self) -> None:
        """
        Save the copy: `Frame.pixels` is the region itself, for about one period of the camera.

        Ask `intact` after using them, and let go of them before the stream is closed.
        """
        self._lends = True

    def intact(self, frame: Frame) -> bool:
        """
        Return whether the pixels of the last frame received are still intact.

        A reader that is too slow for lent pixels once gets copies from then on.
        """
        reader = self._last[0]
        if not self._lends or reader is None or reader.intact:
            return True
        self._lends = False
        self.stats.missed += 1
        return False

    def _read(self, reader: RegionReader) -> Frame | None:
        try:
            pixels = self._take(reader)
        except (MalformedRegion, FrameTooLarge):
            self.stats.decode_errors += 1
            return None
        return None if pixels is None else self._frame(reader, pixels)

    def _take(self, reader: RegionReader) -> memoryview | np.ndarray | None:
        """Return the pixels of the newest frame, None when there is none."""
        if self._lends:
            lent = reader.lend()
            if lent is not None and len(lent) != self._size:
                raise FrameTooLarge(len(lent), self._size)
            return lent
        buffer = self._buffers.take(self._size)
        size = reader.read_into(buffer)
        if size is not None and size != self._size:
            raise FrameTooLarge(size, self._size)
        return None if size is None else buffer

    def _frame(self, reader: RegionReader, pixels: memoryview | np.ndarray) -> Frame:
        stats, (width, height) = self.stats, self.camera.resolution
        stats.frames += 1
        stats.bytes += self._size
        stats.missed += self._count(reader)
        stats.last_receive = time.monotonic()
        stamp = number = None
        if reader.region.tagged:
            stamp, number = (reader.tag ^ _SIGN) - _SIGN, reader.sequence
        return Frame(
            stamp,
            number,
            width,
            height,
            self.camera.encoding,
            shape_pixels(self.camera, width, height, pixels),
            time_of(reader.clock, time.time()),
        )


def _has_memory(region: Region) -> bool:
    """Wait until the server has reserved the memory of a region; false if it has no room."""
    deadline = time.monotonic() + _RESERVE_SECONDS
    # A stock server's region has neither the extension nor a limit.
    while region.tagged and not region.reserved and time.monotonic() < deadline:
        if region.stale():
            return False
        time.sleep(_RESERVE_POLL)
    return True


def region_name(camera: CameraInfo) -> str:
    """
    Return the name of a camera's file, by the prefix in its topic.

    >>> region_name(Camera('eye', 'real', (4, 2), 45.0, '', 'cart/camera_ucm1/eye'))
    'cam_cart_eye.shm'
    """
    prefix = camera.topic.partition('/camera')[0]
    return camera_file(Path(), prefix, camera.name).name


__all__ = ['ShmCameraStream', 'region_name']
