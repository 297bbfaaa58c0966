# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What a round waits for besides answers: images; and answers that were lost."""

from __future__ import annotations

from collections.abc import Iterable
import math
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


Ids = frozenset[tuple[int, ...]]
# Pause before an instant is published again, doubled each time up to the longest one (s of wall
# time): a node that is discovered slowly still gets the instant soon.
REPEAT_SECONDS = 2.0
LONGEST_PAUSE = 10.0
# Other processes may take one for dead that was suspended this long (s of wall time).
SUSPENDED_SECONDS = 5.0


class Repetition:
    """
    When to publish an instant again, because an answer to it may be lost.

    DDS drops what a node publishes before it has discovered the subscription of the bridge.  That
    may be the first answer of a node, or its next one after this process was suspended for so long
    that others took it for dead.  So an instant is published again while it waits for a publisher
    that has not answered yet.  Nodes whose answers arrive get every instant once, however slow
    they are.
    """

    def __init__(self) -> None:
        self._seen: Ids = frozenset()
        self._have_answered: Ids = frozenset()
        self.begin_instant(time.monotonic())

    def begin_instant(self, now: float) -> None:
        """Begin to wait for answers (s by time.monotonic)."""
        self._last_call = now
        self._schedule(now)

    def saw(self, publishers: Ids) -> bool:
        """Take the present publishers of awaited topics; return whether there are new ones."""
        before, self._seen = self._seen, self._seen | publishers
        return before != self._seen

    def all_answered(self) -> None:
        """Record that every topic has answered."""
        self._have_answered = self._seen

    def is_due(self, publishers: Ids, now: float) -> bool:
        """
        Return whether to publish the instant again; call it regularly.

        :param publishers: of the topics that have not answered.
        """
        last_call, self._last_call = self._last_call, now
        was_suspended = now - last_call > SUSPENDED_SECONDS
        if was_suspended:
            self._have_answered = frozenset()
        if self.saw(publishers) or was_suspended:
            self._schedule(now)
        if publishers <= self._have_answered or now < self._next:
            return False
        self._schedule(now, min(2.0 * self._pause, LONGEST_PAUSE))
        return True

    def _schedule(self, now: float, pause: float = REPEAT_SECONDS) -> None:
        self._pause, self._next = pause, now + pause
