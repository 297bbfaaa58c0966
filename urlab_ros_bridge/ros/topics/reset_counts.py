# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""reset_count of each robot: a new number is a new episode, also where time is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import threading

from std_msgs.msg import UInt64

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.plan.plan import WorldPlan

Note = Callable[[Mapping[str, str], bool], contextlib.AbstractContextManager[None]]
RESET_COUNT = Topic('{robot}/reset_count', ('std_msgs/msg/UInt64',), 'latched')


class ResetCounts(Part):
    """
    Counts resets, and publishes the counts for late subscribers too.

    A reset that sets time back is counted for every client; one that keeps time only when a
    service of the bridge made it.

    :ivar notes: make a context for each reset by a service, from texts that describe it and
        whether it keeps time.
    """

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._lock = threading.Lock()
        self._publishers = Publishers(bridge.node)
        self._topics: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self.notes: list[Note] = []

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Publish the counts of these robots; those that were there before keep theirs."""
        topics = {robot.prefix: RESET_COUNT.named(robot.namespace) for robot in plan.robots}
        with self._lock:
            publishers = Publishers(self._bridge.node, self._publishers)
            new = set(topics.values()) - set(self._topics.values())
            for topic in set(topics.values()):
                publishers.of(RESET_COUNT, topic)
            self._publishers.close(publishers)
            self._publishers, self._topics = publishers, topics
        self._bridge.run_in_stream(lambda: self._publish(new))

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """Count a reset that set time back."""
        if went_back:
            self._count('')

    def add(self, only: str = '') -> None:
        """
        Count a reset that kept time.

        :param only: prefix of the robot that was reset; empty: all.
        """
        self._bridge.stream_tasks.run_and_wait(lambda: self._count(only))

    @contextlib.contextmanager
    def noted(self, texts: Mapping[str, str], keeps_time: bool) -> Iterator[None]:
        """Let all `notes` know of the reset that the block makes."""
        with contextlib.ExitStack() as stack:
            for note in self.notes:
                stack.enter_context(note(texts, keeps_time))
            yield

    def _count(self, only: str) -> None:
        with self._lock:
            topics = {topic for prefix, topic in self._topics.items() if only in ('', prefix)}
            self._counts.update(topics)
        self._publish(topics)

    def _publish(self, topics: set[str]) -> None:
        with self._lock:  # another plan may have withdrawn some of them
            for topic in topics & set(self._topics.values()):
                self._publishers.of(RESET_COUNT, topic).publish(UInt64(data=self._counts[topic]))


FEATURE = Feature('reset counts', topics=(RESET_COUNT,), attach=ResetCounts)
