# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""/clock: first in every tick, rate-limited; the last time before a pause is always published."""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.feed import RateLimiter
from urlab_ros_bridge.ros.messages.base import ConstantTemplate
from urlab_ros_bridge.ros.parameters.checks import rate
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class ClockParameters:
    """Rate of /clock, and its timing at a jump."""

    clock_rate: float = key(
        100.0,
        'Maximum rate of /clock (Hz of wall time), 0: every tick. A pause, a step and a reset are '
        'always published.',
        low=0.0,
        check=rate,
        high=10000.0,
        live=True,
    )
    jump_settle_time: float = key(
        0.05,
        'Pause in publishing before and after the first /clock when time jumps back (s of wall '
        'time). Subscribers read /clock and /tf in different threads; without the pause an old '
        'transform may reach a TF buffer that was just cleared, and hide newer ones until its '
        'time is reached again.',
        low=0.0,
        high=5.0,
        live=True,
    )


class ClockTemplate(ConstantTemplate):
    """rosgraph_msgs/Clock."""

    def __init__(self) -> None:
        super().__init__(Clock(), 'clock')


# The time is repeated for new subscribers, once in each poll: they may discover this publisher a
# moment later than it discovers them, and nothing is kept for them.
_REPEATS_FOR_NEW_SUBSCRIBERS = 10


class ClockPublisher:
    """
    Publishes simulation time.

    The limit counts wall time, so that slow motion and single steps are shown in full.

    :ivar count: messages so far.
    """

    def __init__(self, node: Node, rate: float) -> None:
        self._template = ClockTemplate()
        self._publisher = Publishers(node).of(CLOCK, CLOCK.name)
        self._limiter = RateLimiter(rate)
        self._stamp_ns: int | None = None
        self._dirty = False
        self._subscribers = 0
        self._repeats_left = 0
        self._count_at_poll = 0
        self.count = 0

    def set_rate(self, rate: float) -> None:
        """Change the limit (Hz of wall time, 0: none)."""
        self._limiter.set_rate(rate)

    def tick(self, stamp_ns: int, wall_ns: int, always: bool = False) -> bool:
        """
        Publish the time of a tick, or hold it back; return whether it was published.

        :param wall_ns: a monotonic wall clock.
        :param always: publish whatever the limit says: after a jump of time.
        """
        self._stamp_ns = stamp_ns
        self._dirty = not always and not self._limiter.due(wall_ns)
        if self._dirty:
            return False
        self._limiter.count(wall_ns)
        self._publish(stamp_ns)
        return True

    def publish_held_back(self) -> None:
        """Publish the time that the limit has held back: it is frozen now."""
        if self._dirty and self._stamp_ns is not None:
            self._publish(self._stamp_ns)

    def poll_subscribers(self) -> None:
        """Publish the time to new subscribers, even while it is frozen."""
        subscribers = self._publisher.get_subscription_count()
        if subscribers > self._subscribers:
            self._repeats_left = _REPEATS_FOR_NEW_SUBSCRIBERS
        self._subscribers = subscribers
        if self._repeats_left and self._stamp_ns is not None:
            self._repeats_left -= 1
            first = self._repeats_left == _REPEATS_FOR_NEW_SUBSCRIBERS - 1
            if first or self.count == self._count_at_poll:
                self._publish(self._stamp_ns)
        self._count_at_poll = self.count

    def _publish(self, stamp_ns: int) -> None:
        # Publishing costs the same without subscribers.
        if self._publisher.get_subscription_count():
            self._publisher.publish(self._template.update(stamp_ns))
        self._dirty = False
        self.count += 1


CLOCK = Topic('/clock', ('rosgraph_msgs/msg/Clock',), 'clock', rate='clock_rate')
FEATURE = Feature('clock', ClockParameters, group='What is published', topics=(CLOCK,))
