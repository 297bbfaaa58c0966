# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The thread of one camera: it receives only while one of its topics has subscribers."""

from __future__ import annotations

from collections.abc import Callable
import math
import threading
import time

import numpy as np

from urlab_ros_bridge.client.cameras.stream import Frame
from urlab_ros_bridge.client.cameras.stream import FrameSource
from urlab_ros_bridge.client.errors import StreamClosed
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.messages.base import check_stamp
from urlab_ros_bridge.ros.topics.cameras.lag import Lag
from urlab_ros_bridge.ros.topics.cameras.outputs import Output
from urlab_ros_bridge.ros.topics.cameras.plan import CameraPlan
from urlab_ros_bridge.ros.topics.cameras.publishing import ImagePublishing
from urlab_ros_bridge.wire.errors import UrlabError

OpenSource = Callable[[CameraInfo], FrameSource]
POLL_SECONDS = 0.1
# Pauses (s) after a failure, and between two warnings.
RETRY_SECONDS, QUIET_SECONDS = 1.0, 10.0
# An image that is later than usual by more is skipped when a newer one has arrived (s).
MAX_LAG = 0.5
# Time limit for the colour image of a depth image (s).
_COLOR_SECONDS = 0.1


class CameraThread:
    """
    Receives and converts the images of one camera; the stream thread publishes them.

    :ivar skipped: number of late images that were skipped in favour of newer ones.
    :ivar watched: whether the camera is received now.
    :ivar last_ns: time of the last image, None before the first.
    """

    def __init__(
        self,
        plan: CameraPlan,
        outputs: list[Output],
        publishing: ImagePublishing,
        timeline: Timeline,
        open_source: OpenSource,
        log: Callable[[str, str], None],
    ) -> None:
        self.plan = plan
        self.skipped = 0
        self._logged_error, self._quiet_until = '', -math.inf
        self.last_ns: int | None = None
        self._outputs = outputs
        self._publishing = publishing
        self._timeline = timeline
        self._open = open_source
        self._log = log
        self._source: FrameSource | None = None
        self._color: _ColorImages | None = None
        self._lag = Lag()
        self._stop, self._moved = threading.Event(), threading.Event()
        self._thread = threading.Thread(
            target=self._run, name=f'camera {plan.camera.name}', daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and close what it received from."""
        self._stop.set()
        self._thread.join(2.0)

    def reopen(self) -> None:
        """Open the camera again: the server streams it from elsewhere."""
        self._moved.set()

    @property
    def watched(self) -> bool:
        """Return whether the camera is received now."""
        return self._source is not None

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._publish_next()
            except StreamClosed:
                self._close()
                self._stop.wait(POLL_SECONDS)
            except UrlabError as error:
                self._failed(str(error))
            except Exception as error:
                self._failed(f'{type(error).__name__}: {error}')
        self._close()

    def _publish_next(self) -> None:
        wanted = [output for output in self._outputs if output.has_subscribers]
        if self._moved.is_set():
            self._moved.clear()
            self._close()
        if not wanted:
            self._close()
            self._stop.wait(POLL_SECONDS)
            return
        source = self._source
        if source is None:
            source = self._source = self._open(self.plan.camera)
        frame = source.receive(POLL_SECONDS)
        if frame is None:
            return
        # The last one is published however late it is: while time is frozen no other follows.
        while self._late(frame) and (newer := source.receive(0.0)) is not None:
            self.skipped += 1
            frame = newer
        self._publish(wanted, frame)

    def _publish(self, wanted: list[Output], frame: Frame) -> None:
        stamp_ns = self._timeline.stamp_ns if frame.stamp_ns is None else frame.stamp_ns
        if stamp_ns is None:
            return
        check_stamp(stamp_ns)
        color = self._color_of(frame) if any(item.needs_color for item in wanted) else None
        messages = [
            (output, output.make(stamp_ns, frame, color))
            for output in wanted
            if color is not None or not output.needs_color
        ]

        def send() -> None:
            if not self._stop.is_set():
                for output, message in messages:
                    output.publisher.publish(message)
                self.last_ns = stamp_ns

        self._publishing.publish(stamp_ns, send)
        self._logged_error = ''

    def _color_of(self, frame: Frame) -> np.ndarray | None:
        """Return the colour image of the same time."""
        camera = self.plan.color
        if camera is None:
            return None
        if self._color is None:
            self._color = _ColorImages(self._open(camera))
        return self._color.at(frame.stamp_ns)

    def _late(self, frame: Frame) -> bool:
        if frame.wall_time is None or self._publishing.stepping.in_lockstep:
            return False
        return self._lag.of(frame.wall_time, time.monotonic()) > MAX_LAG

    def _close(self) -> None:
        for source in (self._source, self._color):
            if source is not None:
                source.close()
        self._source = self._color = self.last_ns = None

    def _failed(self, text: str) -> None:
        now = time.monotonic()
        if text != self._logged_error and now >= self._quiet_until:
            self._logged_error, self._quiet_until = text, now + QUIET_SECONDS
            self._log('warning', f'camera {self.plan.camera.name}: {text}')
        self._close()
        self._stop.wait(RETRY_SECONDS)


class _ColorImages:
    """Recent colour images by stamp, for the depth images."""

    def __init__(self, source: FrameSource) -> None:
        self._source = source
        self._held: dict[int | None, np.ndarray] = {}

    def at(self, stamp_ns: int | None) -> np.ndarray | None:
        deadline = time.monotonic() + _COLOR_SECONDS
        while stamp_ns not in self._held:
            frame = self._source.receive(max(deadline - time.monotonic(), 0.0))
            if frame is None:
                return None
            self._held[frame.stamp_ns] = frame.pixels
            while len(self._held) > 4:
                del self._held[next(iter(self._held))]
        return self._held[stamp_ns]

    def close(self) -> None:
        self._source.close()
