# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Keeps pictures of an earlier timeline back.

Cameras publish in their own threads.  After a jump of time the clock comes first and nothing
older may follow, so a picture is published under a lock that the jump takes too.
"""

from __future__ import annotations

from collections.abc import Callable
import threading

from urlab_ros_bridge.ros.features.timeline import Timeline

# A picture of the timeline before a jump is ahead of the new time; one of this timeline is at most
# as far ahead as the state of its tick is late.
AHEAD_NS = 200_000_000


class FrameGate:
    """Lets pictures through that belong to the present timeline."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._lock = threading.Lock()
        self._start_ns = 0
        self._shut = False
        self._ahead_ns = AHEAD_NS
        self._on_sent: Callable[[], None] | None = None

    @property
    def waited_for(self) -> bool:
        """Whether a thread waits for every picture, however late it is."""
        return self._on_sent is not None

    def stepped(self, on_sent: Callable[[], None] | None, ahead_ns: int = AHEAD_NS) -> None:
        """
        Report every picture to a callback; None: no more.

        :param ahead_ns: a picture may be ahead of the state of its tick by so much.
        """
        self._on_sent, self._ahead_ns = on_sent, ahead_ns

    def sent(self) -> None:
        """Notify the waiting thread that a picture was published."""
        if self._on_sent is not None:
            self._on_sent()

    def jump(self) -> None:
        """Let nothing through until `tick`; none of the old timeline is on its way out then."""
        with self._lock:
            self._shut = True

    def tick(self, stamp_ns: int) -> None:
        """Note that everything of this time was published."""
        if self._shut:
            with self._lock:
                self._start_ns, self._shut = stamp_ns, False

    def publish(self, stamp_ns: int, send: Callable[[], None]) -> bool:
        """Send a picture if it belongs to the present timeline; return whether it did."""
        with self._lock:
            now = self._timeline.stamp_ns
            if self._shut or now is None or not self._start_ns <= stamp_ns <= now + self._ahead_ns:
                return False
            send()
            return True


__all__ = ['AHEAD_NS', 'FrameGate']
