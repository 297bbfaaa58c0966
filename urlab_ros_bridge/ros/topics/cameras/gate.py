# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Holds back images of an earlier epoch.

Cameras publish in their own threads, because an image takes longer than a tick.  After a jump of
time the clock comes first and nothing older may follow, so they take a lock that a jump takes too.
"""

from __future__ import annotations

from collections.abc import Callable
import threading

from urlab_ros_bridge.ros.features.timeline import Timeline

# An image from before a jump is ahead of the new time; one of this epoch is at most as far ahead
# as the state of its tick is late.
AHEAD_NS = 200_000_000


class FrameGate:
    """Admits images of the present epoch."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._lock = threading.Lock()
        self._start_ns = 0
        self._shut = False
        self._ahead_ns = AHEAD_NS
        self._on_sent: Callable[[], None] | None = None

    @property
    def waited_for(self) -> bool:
        """Whether a thread waits for every image, however late it is."""
        return self._on_sent is not None

    def stepped(self, on_sent: Callable[[], None] | None, ahead_ns: int = AHEAD_NS) -> None:
        """
        Set the callback for every published image; None: none.

        :param ahead_ns: largest accepted lead of an image over the state of its tick.
        """
        self._on_sent, self._ahead_ns = on_sent, ahead_ns

    def sent(self) -> None:
        """Notify the waiting thread that an image was published."""
        if self._on_sent is not None:
            self._on_sent()

    def jump(self) -> None:
        """Hold back all images until `tick`; none of the old epoch is being published then."""
        with self._lock:
            self._shut = True

    def tick(self, stamp_ns: int) -> None:
        """Record that everything of this time was published."""
        if self._shut:
            with self._lock:
                self._start_ns, self._shut = stamp_ns, False

    def publish(self, stamp_ns: int, send: Callable[[], None]) -> bool:
        """Publish an image of the present epoch; return False for another."""
        with self._lock:
            now = self._timeline.stamp_ns
            if self._shut or now is None or not self._start_ns <= stamp_ns <= now + self._ahead_ns:
                return False
            send()
            return True
