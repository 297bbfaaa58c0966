# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""reset_count of each robot: a new number is a new episode, also where time is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib

from std_msgs.msg import UInt64

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.plan.plan import RobotPlan
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
        self._robots: dict[str, RobotPlan] = {}  # by prefix
        self._counts: Counter[str] = Counter()
        self.notes: list[Note] = []

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Publish the counts of these robots; those that were there before keep theirs."""
        before = {robot.namespace for robot in self._robots.values()}
        self._robots = {robot.prefix: robot for robot in plan.robots}
        for robot in plan.robots:
            if robot.namespace not in before:
                self._publish(robot)

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
        for prefix, robot in self._robots.items():
            if only in ('', prefix):
                self._counts[prefix] += 1
                self._publish(robot)

    def _publish(self, robot: RobotPlan) -> None:
        self._bridge.once(RESET_COUNT, UInt64(data=self._counts[robot.prefix]), robot)


FEATURE = Feature('reset counts', topics=(RESET_COUNT,), attach=ResetCounts)
