# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Builders of the published topics of one robot, and of the whole world."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from types import MappingProxyType

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feed import Build
from urlab_ros_bridge.ros.features.feed import Clearable
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.tick_state import RobotState
from urlab_ros_bridge.ros.features.tick_state import WorldState
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan


@dataclass(frozen=True)
class Observer:
    """
    What follows every tick, before its messages are made, with and without subscribers.

    :ivar update: takes the stamp (ns), also of an instant that was published before.
    :ivar clear: forgets what belongs to the time before a jump.
    :ivar wire: topics of the wire that it reads.
    """

    update: Callable[[int], None]
    clear: Callable[[], None]
    wire: frozenset[bytes]


@dataclass(frozen=True)
class _TopicMaker:
    """
    Makes feeds from the declarations of their topics.

    :ivar notes: what could not be published, and why; features append to it.
    :ivar feeds: all that was made.
    :ivar observers: features append to them.
    """

    publishers: Publishers
    settings: Settings
    notes: list[str] = field(default_factory=list)
    feeds: list[Feed] = field(default_factory=list)
    observers: list[Observer] = field(default_factory=list)

    @property
    def namespace(self) -> str:
        """Namespace of the topics, empty for none."""
        return ''

    def feed(
        self,
        topic: Topic,
        build: Build,
        *,
        wire: Iterable[bytes],
        subscriptions: Iterable[bytes] | None = None,
        message_type: type | None = None,
        memory: Clearable | None = None,
        parts: Mapping[str, str] = MappingProxyType({}),
        rate: float = 0.0,
    ) -> Feed | None:
        """
        Publish a topic as it is declared; return None when its switch is off.

        :param build: returns the message for a stamp (ns), as an object or serialised; None when
            the present tick has no values for it.
        :param wire: topics of the wire that the message is made of.
        :param subscriptions: prefixes to subscribe to in place of `wire`.
        :param message_type: for a topic that may have several types.
        :param memory: cleared when time jumps.
        :param parts: values of the other fields of the name.
        :param rate: limit (Hz) in place of that of the parameter; 0: none.
        :raises TopicTaken: when another feature publishes there with another type.
        """
        if not self.settings.is_on(topic.switch):
            return None
        name = topic.named(self.namespace, parts)
        publisher = self.publishers.of(topic, name, message_type)
        made = Feed(
            name,
            publisher,
            build,
            wire=wire,
            subscriptions=subscriptions,
            rate_name=topic.rate if topic.rate in self.settings.TABLE and not rate else '',
            each_instant=topic.each_instant,
            memory=memory,
        )
        made.limiter.set_rate(rate)
        self.feeds.append(made)
        return made


@dataclass(frozen=True, kw_only=True)
class RobotTopics(_TopicMaker):
    """
    One robot, for `Feature.feeds`.

    :ivar state: its values in the present tick.
    """

    plan: RobotPlan
    state: RobotState

    @property
    def namespace(self) -> str:
        """Namespace of the robot, empty for none."""
        return self.plan.namespace

    @property
    def joint_rows(self) -> tuple[bytes, ...]:
        """Topics of the wire with the joints, one each."""
        return tuple(self.state.topics[: len(self.plan.joints)])

    @property
    def base_row(self) -> tuple[bytes, ...]:
        """Topic of the wire with the base, alone."""
        return (self.state.topics[len(self.plan.joints) + 1],)


@dataclass(frozen=True, kw_only=True)
class WorldTopics(_TopicMaker):
    """
    The whole world, for `Feature.world_feeds`.

    :ivar state: its values in the present tick.
    """

    plan: WorldPlan
    state: WorldState
