# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""All topics of one plan."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from typing import TypeVar

from rclpy.node import Node

from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.ros.features import old_hooks
from urlab_ros_bridge.ros.features.errors import FeatureErrors
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.feed import FirstMessage
from urlab_ros_bridge.ros.features.feed import Observer
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.features.feed import WorldTopics
from urlab_ros_bridge.ros.features.tick_state import WorldState
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.plan.plan import WorldPlan

TopicsT = TypeVar('TopicsT', RobotTopics, WorldTopics)


class PublishedWorld:
    """
    The topics of all robots and entities.

    Made in the link thread (`CurrentWorld`), then used by the stream thread alone.

    :ivar publishers: of all topics.
    :ivar feeds: transforms before everything else.
    :ivar notes: what could not be published, and why.
    """

    def __init__(
        self,
        node: Node,
        plan: WorldPlan,
        settings: Settings,
        features: Sequence[Feature],
        errors: FeatureErrors,
        before: PublishedWorld | None = None,
    ) -> None:
        """
        Make the publishers of all features.

        :param errors: gets what features raise; the topics of the others are published.
        :param before: the world that this one will replace; what both publish keeps
            the publishers that there are.
        """
        self.notes = list(plan.notes)
        self.state = WorldState(plan)
        self._tick: Tick | None = None
        self._errors = errors
        self.publishers: Publishers = Publishers(
            node, before.publishers if before is not None else None
        )
        self.feeds: list[Feed] = []
        try:
            self._make_all(plan, settings, features)
        except Exception:
            self.publishers.close(before.publishers if before is not None else None)
            raise

    def _make_all(self, plan: WorldPlan, settings: Settings, features: Sequence[Feature]) -> None:
        self._observers: list[tuple[str, Observer]] = []  # each with the name of its feature
        self._first_messages: list[FirstMessage] = []
        shared = (self.publishers, settings, self._errors, self.notes, self.feeds)
        once = self._first_messages
        for robot in plan.robots:
            state = self.state.robots[robot.prefix]
            robot_topics = RobotTopics(*shared, once, plan=robot, state=state)
            for feature in features:
                self._make(feature.name, feature.feeds, robot_topics)
        world_topics = WorldTopics(*shared, once, plan=plan, state=self.state)
        for feature in features:
            self._make(feature.name, feature.world_feeds, world_topics)
        self.feeds.sort(key=lambda feed: not feed.topic.endswith('tf'))
        self.apply(settings)
        for feature in features:
            if feature.latched is not None:
                with self._errors.caught(feature.name):
                    old_hooks.latch(
                        replace(world_topics, feature=feature.name),
                        feature.latched(plan, settings),
                    )

    def _make(
        self, feature: str, make: Callable[[TopicsT], object] | None, topics: TopicsT
    ) -> None:
        """Make the topics of one feature; when it fails, those that it has made stay."""
        if make is None:
            return
        observers: list[Observer] = []
        with self._errors.caught(feature):
            make(replace(topics, feature=feature, observers=observers))
        self._observers += [(feature, observer) for observer in observers]

    def publish_first(self) -> None:
        """Publish what is published once."""
        for first in self._first_messages:
            with self._errors.caught(first.feature):
                first.publisher.publish(first.message)

    def apply(self, settings: Settings) -> None:
        """Take over changed settings."""
        for feed in self.feeds:
            if feed.rate_name:
                feed.limiter.set_rate(settings.value(feed.rate_name))

    def poll_subscribers(self) -> None:
        """Count the subscribers of all topics."""
        for feed in self.feeds:
            feed.poll_subscribers()

    def subscriptions(self) -> set[bytes]:
        """Return the prefixes of the wire that are needed now."""
        observed = {topic for _, observer in self._observers for topic in observer.wire}
        wanted = {
            prefix for feed in self.feeds if feed.has_subscribers for prefix in feed.subscriptions
        }
        return observed | wanted

    def publish(self, tick: Tick, stamp_ns: int, instant: bool = False) -> int:
        """
        Publish a tick; return the number of messages.

        :param instant: it is one of a lockstep: limits do not hold for what nodes answer.
        :raises UrlabError: when the tick cannot be read.
        """
        self._tick = tick
        has_values, sent = self._fill(tick, stamp_ns), 0
        for feed in self.feeds:
            if not feed.has_subscribers or (feed.wire and not has_values):
                continue
            feed.repeats_left = 0  # a subscriber that misses this message gets the next one
            if feed.limiter.due(stamp_ns) or (instant and feed.each_instant):
                sent += feed.publish(stamp_ns)
            else:
                feed.dirty = True
        return sent

    def repeat(self, stamp_ns: int) -> int:
        """Publish the last instant of a lockstep again; return the number of messages."""
        return 0 if self._tick is None else self.publish(self._tick, stamp_ns, instant=True)

    def update(self, tick: Tick, stamp_ns: int) -> None:
        """
        Mark the feeds whose values differ in a tick that has the time of the one before.

        :raises UrlabError: when the snapshot cannot be read.
        """
        before, self._tick = self._tick or tick, tick
        if tick.rows:
            values = dict(before.rows)
            changed = {topic for topic, payload in tick.rows if values.get(topic) != payload}
            feeds = [feed for feed in self.feeds if not feed.wire.isdisjoint(changed)]
        else:
            feeds = self.feeds if _content(tick) != _content(before) else []
        if feeds:
            self._fill(tick, stamp_ns)
        for feed in feeds:
            feed.dirty = True

    def publish_changes(self, stamp_ns: int, repeat: bool = True) -> int:
        """
        Publish while time is frozen, whatever the limits; return the number of messages.

        :param stamp_ns: of the last tick.
        :param repeat: publish again to subscribers that have just joined.
        """
        return sum(
            feed.publish(stamp_ns)
            for feed in self.feeds
            if feed.has_subscribers
            and (feed.dirty or feed.has_new_subscriber or (repeat and feed.repeats))
        )

    def _fill(self, tick: Tick, stamp_ns: int) -> bool:
        found = self.state.fill(tick)
        if found:
            for feature, observer in self._observers:
                with self._errors.caught(feature):
                    observer.update(stamp_ns)
        return found

    def clear(self) -> None:
        """Reset per-epoch state after a jump; static transforms stay."""
        for feature, observer in self._observers:
            with self._errors.caught(feature):
                observer.clear()
        for feed in self.feeds:
            feed.clear()

    def close(self, successor: PublishedWorld) -> None:
        """Destroy the publishers, except those that the next world reuses."""
        self.publishers.close(successor.publishers)


# Fields of a snapshot that belong to the message and not to the world.
_OF_THE_MESSAGE = ('op', 'step', 'sim_time', 'wall_time')


def _content(tick: Tick) -> dict[str, Any] | None:
    """Return the state in a snapshot, without the time at which it was made."""
    snapshot = None if tick.rows else tick.state()
    if snapshot is None:
        return None
    return {key: value for key, value in snapshot.raw.items() if key not in _OF_THE_MESSAGE}
