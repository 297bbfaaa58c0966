# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What features make topics with: one robot, or the whole world."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field

from urlab_ros_bridge.ros.features.feed import Build
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.feed import join
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.tick_state import RobotState
from urlab_ros_bridge.ros.features.tick_state import WorldState
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan


@dataclass(frozen=True)
class RobotTopics:
    """
    One robot, for `Feature.feeds`.

    :ivar state: its values in the present tick.
    :ivar notes: what could not be published, and why; features append to it.
    """

    plan: RobotPlan
    state: RobotState
    publishers: Publishers
    settings: Settings
    notes: list[str] = field(default_factory=list)

    @property
    def joint_rows(self) -> tuple[bytes, ...]:
        """Return the topics of the wire with the robot's joints, one each."""
        return tuple(self.state.topics[: len(self.plan.joints)])

    @property
    def base_row(self) -> tuple[bytes, ...]:
        """Return the topic of the wire with the robot's base, alone."""
        return (self.state.topics[len(self.plan.joints) + 1],)

    def feed(
        self,
        name: str,
        message_type: type,
        build: Build,
        *,
        wire: Iterable[bytes],
        rate_name: str = '',
        each_instant: bool = False,
        subscriptions: Iterable[bytes] | None = None,
    ) -> Feed:
        """
        Make a topic below the robot's namespace.

        :param build: returns its message for a stamp (ns), as an object or serialised; None when
            the present tick says nothing of it.
        :param wire: topics of the wire that the message is made of.
        :param rate_name: parameter that limits it.
        :param each_instant: whether every instant of a lockstep is published all the same.
        :param subscriptions: prefixes to subscribe to in place of `wire`.
        :raises TopicTaken: when another feature publishes there with another type.
        """
        topic = join(self.plan.namespace, name)
        return Feed(
            topic,
            self.publishers.get(message_type, topic),
            build,
            wire=wire,
            subscriptions=subscriptions,
            rate_name=rate_name,
            each_instant=each_instant,
        )


@dataclass(frozen=True)
class WorldTopics:
    """The whole world, for `Feature.world_feeds`."""

    plan: WorldPlan
    state: WorldState
    publishers: Publishers
    settings: Settings


__all__ = ['RobotTopics', 'WorldTopics']
