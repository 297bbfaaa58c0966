# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The images of one camera, received as frames: over ZeroMQ or through shared memory."""

from __future__ import annotations

from pathlib import Path
import time

import numpy as np

from urlab_ros_bridge.client.cameras.frames import CameraStats
from urlab_ros_bridge.client.cameras.frames import Frame
from urlab_ros_bridge.client.cameras.frames import shape_pixels
from urlab_ros_bridge.client.errors import CameraUnavailable
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.transport.keys import KeySource
from urlab_ros_bridge.transport.keys import read_client_keys
from urlab_ros_bridge.transport.shm.access import RegionReader
from urlab_ros_bridge.transport.shm.directory import camera_file
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.transport.shm.region import time_of
from urlab_ros_bridge.transport.shm.stream import Directory
from urlab_ros_bridge.transport.shm.stream import open_stream
from urlab_ros_bridge.transport.shm.stream import RegionStream
from urlab_ros_bridge.transport.stream import SubscriberStream
from urlab_ros_bridge.transport.subscriber import Subscriber
from urlab_ros_bridge.wire.camera_frame import BYTES_PER_PIXEL
from urlab_ros_bridge.wire.camera_frame import CameraFrame
from urlab_ros_bridge.wire.camera_frame import MAX_SIDE
from urlab_ros_bridge.wire.camera_frame import unpack_frame
from urlab_ros_bridge.wire.errors import FrameTooLarge
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable
from urlab_ros_bridge.wire.errors import WireError
from urlab_ros_bridge.wire.stamp import BadTime
from urlab_ros_bridge.wire.stamp import seconds_to_ns

_MAX_HEADER = 512  # bytes
_PARTS = 2  # of a message: the topic and the image
_DRAIN = 100  # messages at most that one poll takes
_FEW, _MANY = 2, 100  # messages that wait for a consumer that lags
_SIGN = 1 << 63
_RESERVE_SECONDS, _RESERVE_POLL = 1.0, 0.002


class CameraStream(SubscriberStream[Frame]):
    """
    Frames of one camera over ZeroMQ.

    It reconnects automatically.  The server renders only while subscribed, so close an unused
    stream.  `receive` may run in one thread while another one closes.

    :ivar stats: counters, see `CameraStats`.
    """

    def __init__(
        self,
        endpoint: str,
        camera: CameraInfo,
        *,
        topic: str = '',
        newest_only: bool = True,
        keys: KeySource = None,
    ) -> None:
        """
        Connect; a server that is not up yet is waited for.

        :param endpoint: where the server streams the camera, as ``tcp://host:port``.
        :param topic: without the blank at its end; default: the camera's.
        :param newest_only: of several frames that wait, `receive` returns the newest one.
        :param keys: see `Session`.
        """
        self.camera = camera
        self.stats = CameraStats()
        self._newest_only = newest_only
        self._last_id: int | None = None
        subscriber = Subscriber(
            endpoint,
            # A topic is a prefix: the blank keeps front_rgb apart from front_rgb2.
            [f'{topic or camera.topic} '.encode()],
            max_bytes=MAX_SIDE * MAX_SIDE * BYTES_PER_PIXEL + _MAX_HEADER,
            rcvhwm=_FEW if newest_only else _MANY,
            keys=read_client_keys(keys),
        )
        super().__init__(endpoint, subscriber)

    def _next(self) -> Frame | None:
        """Take what has arrived, up to the first frame or all of it."""
        found = None
        for _ in range(_DRAIN):
            parts = self._subscriber.receive()
            if parts is None:
                break
            frame = self._decode(parts)
            if frame is None:
                continue
            if found is not None:
                self.stats.dropped += 1
            found = frame
            if not self._newest_only:
                break
        return found

    def _decode(self, parts: list[memoryview]) -> Frame | None:
        stats, camera = self.stats, self.camera
        if len(parts) != _PARTS:
            stats.decode_errors += 1
            return None
        try:
            raw = unpack_frame(parts[1], *camera.resolution)
            frame = to_frame(raw, camera)
        except (WireError, BadTime):
            stats.decode_errors += 1
            return None
        stats.frames += 1
        stats.bytes += len(raw.pixels)
        stats.last_receive = time.monotonic()
        number = raw.frame_id
        if number is not None:
            if self._last_id is not None and number > self._last_id + 1:
                stats.missed += number - self._last_id - 1
            self._last_id = number
        return frame


class ShmCameraStream(RegionStream[Frame]):
    """
    Frames of one camera through shared memory, always the newest.

    A region holds the newest image and has room for the next; there is no queue.  The server
    renders while a region is open, so close an unused stream.  `receive` may run in one thread
    while another one closes.  With the bundled server frames have stamps and numbers; a stock
    server's have none.

    :ivar stats: counters, see `CameraStats`; `missed` counts frames that a newer one replaced.
    """

    def __init__(self, directory: Directory, camera: CameraInfo) -> None:
        """
        Open the region, which has to be there; the server reserves its memory then.

        :param directory: the handshake's `shm_session_dir`, or a function that returns that of
            the latest handshake; only with a function does the stream continue after a restart.
        :raises RegionUnavailable: when the region cannot be opened, or there is no room for it.
        :raises MalformedRegion: when it is not a region, or too small for images of this size.
        """
        self.camera = camera
        self.stats = CameraStats()
        self._size = camera.resolution[0] * camera.resolution[1] * BYTES_PER_PIXEL
        super().__init__(directory, region_name(camera))
        reader, path = self._current_reader(), self._path()
        if reader is not None and reader.region.capacity < self._size:
            self.close()
            reason = f'it has room for {reader.region.capacity} bytes, {self._size} are needed'
            raise MalformedRegion(path, reason)
        if reader is None or not _has_memory(reader.region):
            self.close()
            raise RegionUnavailable(path, 'there is no room for it')

    def _read(self, reader: RegionReader) -> Frame | None:
        buffer = np.empty(self._size, np.uint8)
        try:
            size = reader.read_into(buffer)
        except (MalformedRegion, FrameTooLarge):
            size = -1
        if size is None:
            return None
        if size != self._size:
            self.stats.decode_errors += 1
            return None
        return self._frame(reader, buffer)

    def _frame(self, reader: RegionReader, pixels: np.ndarray) -> Frame:
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


FrameSource = CameraStream | ShmCameraStream


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

    >>> region_name(CameraInfo('eye', topic='cart/camera_ucm1/eye'))
    'cam_cart_eye.shm'
    """
    prefix = camera.topic.partition('/camera')[0]
    return camera_file(Path(), prefix, camera.name).name


def to_frame(raw: CameraFrame, camera: CameraInfo) -> Frame:
    """
    Give the pixels their shape.

    :raises BadTime: when the header holds no time.
    """
    pixels = shape_pixels(camera, raw.width, raw.height, raw.pixels)
    stamp = None if raw.sim_time is None else seconds_to_ns(raw.sim_time)
    return Frame(
        stamp, raw.frame_id, raw.width, raw.height, camera.encoding, pixels, raw.wall_time
    )


def open_camera(
    camera: CameraInfo,
    host: str = '127.0.0.1',
    *,
    newest_only: bool = True,
    shm_dir: Directory = '',
    transport: str = 'auto',
    keys: KeySource = None,
) -> FrameSource:
    """
    Open the stream of a camera of the handshake.

    :param host: where the server runs; only the port of the camera's endpoint is used, because
        servers name the address that they bound.
    :param newest_only: of several frames that wait, `receive` returns the newest one.  In shared
        memory no other is kept.
    :param shm_dir: the handshake's `shm_session_dir`, or a function that returns that of the
        latest handshake, with which a stream continues after a restart of the server.
    :param transport: ``zmq``, ``shm``, or ``auto``: shared memory when the server is here.
    :param keys: see `Session`.
    :raises CameraUnavailable: when the server does not stream this camera.
    :raises RegionUnavailable: with ``shm``, when there is none.
    :raises MalformedRegion: with ``shm``, when it makes no sense.
    :raises UnknownName: for another transport.
    """
    if camera.port is None:
        raise CameraUnavailable(camera.name)
    endpoint = f'tcp://{host}:{camera.port}'
    return open_stream(
        transport,
        shm_dir,
        host,
        lambda: ShmCameraStream(shm_dir, camera),
        lambda: CameraStream(endpoint, camera, newest_only=newest_only, keys=keys),
    )


__all__ = [
    'CameraStats',
    'CameraStream',
    'Frame',
    'FrameSource',
    'ShmCameraStream',
    'open_camera',
    'region_name',
    'to_frame',
]
