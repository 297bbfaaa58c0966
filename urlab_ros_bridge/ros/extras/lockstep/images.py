# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The camera images that a round of a lockstep waits for."""

from __future__ import annotations

from collections.abc import Iterable
import math

from urlab_ros_bridge.ros.topics.cameras.thread import CameraThread
from urlab_ros_bridge.wire.stamp import NANOSECONDS


def is_due(rate: float, stamp_ns: int, last_ns: int | None) -> bool:
    """
    Return whether a camera takes an image at an instant.

    Servers take them on the grid of multiples of 1 / rate, at the first instant of each cell.

    :param rate: Hz of simulation time.
    :param last_ns: time of the last image, None when there was none.
    """
    if last_ns is None or last_ns > stamp_ns:
        return True
    return _cell(rate, stamp_ns) != _cell(rate, last_ns)


def _cell(rate: float, stamp_ns: int) -> int:
    return math.floor(stamp_ns * rate / NANOSECONDS + 1e-9)


class ImageWait:
    """
    The camera images that a round waits for.

    A camera that did not deliver is not waited for again until it has.

    :ivar missed: images that were not waited for any longer.
    """

    def __init__(self) -> None:
        self.missed = 0
        self._given_up: dict[str, int | None] = {}

    def missing(self, threads: Iterable[CameraThread], stamp_ns: int) -> list[str]:
        """Return the cameras whose image of an instant was not published yet."""
        return [
            thread.plan.topic
            for thread in threads
            if thread.watched
            and thread.plan.camera.rate > 0
            and not thread.plan.camera.latency
            and self._given_up.get(thread.plan.topic, -1) != thread.last_ns
            and is_due(thread.plan.camera.rate, stamp_ns, thread.last_ns)
        ]

    def give_up(self, threads: Iterable[CameraThread], stamp_ns: int) -> None:
        """Wait no longer for the images that are missing."""
        threads = list(threads)
        missing = self.missing(threads, stamp_ns)
        self.missed += len(missing)
        for thread in threads:
            if thread.plan.topic in missing:
                self._given_up[thread.plan.topic] = thread.last_ns
