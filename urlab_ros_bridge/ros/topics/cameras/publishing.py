# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Images in the stream thread: nothing from before a jump of time follows it."""

from __future__ import annotations

from collections.abc import Callable

from urlab_ros_bridge.ros.features.stepping import Stepping
from urlab_ros_bridge.ros.features.stream_tasks import StreamTasks
from urlab_ros_bridge.ros.features.timeline import Timeline

# An image from before a jump is ahead of the new time; one of this epoch is at most as far ahead
# as the state of its tick is late.
AHEAD_NS = 200_000_000


class ImagePublishing:
    """
    Publishes images in the stream thread, unless they are from before a jump of time.

    In lockstep they are awaited, however late they are, and may be repeated.
    """

    def __init__(self, timeline: Timeline, tasks: StreamTasks, stepping: Stepping) -> None:
        self.stepping = stepping
        self._timeline = timeline
        self._tasks = tasks
        self._epoch_start_ns = 0
        # The images of the newest stamp of a lockstep, for `repeat`.
        self._newest: list[tuple[int, Callable[[], None]]] = []

    def jump(self, stamp_ns: int) -> None:
        """Begin an epoch; called in the stream thread."""
        self._epoch_start_ns = stamp_ns

    def publish(self, stamp_ns: int, send: Callable[[], None]) -> None:
        """
        Publish an image, and wait for that: the next one is converted afterwards.

        :param send: publishes its messages.
        """

        def publish() -> None:
            now, lockstep = self._timeline.stamp_ns, self.stepping.lockstep
            # An image may be one tick ahead.
            ahead_ns = AHEAD_NS if lockstep is None else max(AHEAD_NS, lockstep.period_ns)
            if now is None or not self._epoch_start_ns <= stamp_ns <= now + ahead_ns:
                return
            send()
            others = [each for each in self._newest if each[0] == stamp_ns]
            self._newest = [] if lockstep is None else [*others, (stamp_ns, send)]
            if lockstep is not None:
                lockstep.image_published()

        self._tasks.run_and_wait(publish)

    def repeat(self) -> None:
        """Publish the images of the present instant of a lockstep again."""

        def publish_again() -> None:
            for stamp_ns, send in self._newest:
                if stamp_ns == self._timeline.stamp_ns:
                    send()

        self._tasks.put(publish_again)
