# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a round waits for besides answers: images, requests, and peers after a suspension."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import contextmanager
import math
import threading
import time

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


# Other processes may take one for dead that was suspended this long (s of wall time).
STALL_SECONDS = 5.0
REPEAT_SECONDS = 1.0
REPETITIONS = 30


class Stall:
    """
    When to repeat an instant because this process was suspended while it waited.

    During that time DDS elsewhere takes it for dead, so the answer may be lost.  Both sides need a
    while to discover each other again, so the instant is repeated more than once.
    """

    def __init__(self) -> None:
        self._last_call = time.monotonic()
        self._left = 0
        self._next = math.inf

    def repeat_now(self, now: float) -> bool:
        """Return whether to repeat it; call it regularly (s by time.monotonic)."""
        last, self._last_call = self._last_call, now
        if now - last > STALL_SECONDS:
            self._left, self._next = REPETITIONS, now + REPEAT_SECONDS
        if not self._left or now < self._next:
            return False
        self._left, self._next = self._left - 1, now + REPEAT_SECONDS
        return True


class RoundLock:
    """
    Held by a round, or by any number of requests, which come first.

    A reset in the middle of a round would be answered by some nodes before and by others after it.
    So a request waits for the end of the round, but not forever: the round's answers may depend on
    that very request.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests = 0
        self._in_round = False

    @contextmanager
    def request(self, timeout: float) -> Iterator[None]:
        """
        Keep the next round from beginning.

        :param timeout: s to wait for the end of the present round.
        """
        with self._changed:
            self._requests += 1
            self._changed.wait_for(lambda: not self._in_round, timeout)
        try:
            yield
        finally:
            with self._changed:
                self._requests -= 1
                self._changed.notify_all()

    @contextmanager
    def round(self, timeout: float) -> Iterator[bool]:
        """
        Begin a round; yield False when there are requests.

        :param timeout: s to wait for the end of requests.
        """
        with self._changed:
            self._in_round = self._changed.wait_for(lambda: not self._requests, timeout)
        try:
            yield self._in_round
        finally:
            with self._changed:
                self._in_round = False
                self._changed.notify_all()
