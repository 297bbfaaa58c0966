# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Everything that one plan makes the bridge publish."""

from __future__ import annotations

from collections.abc import Collection

from rclpy.node import Node

from urlab_ros_bridge.client.tick import Tick
from urlab_ros_bridge.ros import qos
from urlab_ros_bridge.ros.articulation import description_messages
from urlab_ros_bridge.ros.articulation import robot_feeds
from urlab_ros_bridge.ros.articulation import static_messages
from urlab_ros_bridge.ros.entities import entity_feeds
from urlab_ros_bridge.ros.feed import Feed
from urlab_ros_bridge.ros.feed import Publishers
from urlab_ros_bridge.ros.link_tf import link_feeds
from urlab_ros_bridge.ros.markers import entity_marker_feeds
from urlab_ros_bridge.ros.markers import SceneTopic
from urlab_ros_bridge.ros.plan import WorldPlan
from urlab_ros_bridge.ros.sensor_feeds import sensor_names
from urlab_ros_bridge.ros.sensor_feeds import SensorFeeds
from urlab_ros_bridge.ros.settings import Settings
from urlab_ros_bridge.ros.state import WorldState


class World:
    """
    The topics of all robots and entities.

    Made in one thread, then used by the stream thread alone.

    :ivar feeds: transforms before everything else.
    :ivar notes: what could not be published, and why.
    """

    def __init__(
        self, node: Node, plan: WorldPlan, settings: Settings, before: World | None = None
    ) -> None:
        """
        Make the publishers.

        :param before: the world whose place this one will take; what both publish goes on with
            the publishers that there are.
        :raises InterfaceMissing: without tf2_msgs.
        :raises TopicTaken: when robots without namespace share a topic of different types.
        """
        self.plan = plan
        self.notes = list(plan.notes)
        self.state = WorldState(plan, sensor_names)
        self._publishers = Publishers(node, before._publishers if before is not None else None)
        self.feeds: list[Feed] = []
        for robot in plan.robots:
            state = self.state.robots[robot.prefix]
            self.feeds += robot_feeds(robot, state, self._publishers, settings)
            self.feeds += link_feeds(robot, state, self._publishers, settings)
            sensors = SensorFeeds(robot, state, self._publishers, settings)
            self.feeds += sensors.make()
            self.notes += sensors.notes
        self.feeds += entity_feeds(self.state.entities, self._publishers, settings)
        self.feeds += entity_marker_feeds(plan.scene, self.state.entities, self._publishers)
        self.feeds.sort(key=lambda feed: not feed.topic.endswith('tf'))
        self.apply(settings)
        self._scene = SceneTopic(plan.scene, self._publishers) if plan.scene.static else None
        self._static = static_messages(plan, settings) | description_messages(plan)
        for topic, message in self._static.items():
            self._publishers.get(type(message), topic, qos.latched).publish(message)

    def apply(self, settings: Settings) -> None:
        """Take over changed settings."""
        for feed in self.feeds:
            if feed.rate_name:
                feed.limiter.set_rate(getattr(settings, feed.rate_name))

    def look(self) -> None:
        """See who listens to what."""
        for feed in self.feeds:
            feed.look()
        if self._scene is not None:
            self._scene.look()

    def subscriptions(self) -> set[bytes]:
        """Return the prefixes of the wire that are needed now."""
        return {prefix for feed in self.feeds if feed.wanted for prefix in feed.subscriptions}

    def publish(self, tick: Tick, stamp_ns: int) -> int:
        """
        Publish a tick; return the number of messages.

        :raises UrlabError: when the snapshot cannot be read.
        """
        if not self.state.fill(tick):
            return 0
        return sum(
            feed.emit(stamp_ns)
            for feed in self.feeds
            if feed.wanted and feed.limiter.due(stamp_ns)
        )

    def publish_again(self, tick: Tick, stamp_ns: int, changed: Collection[bytes] | None) -> int:
        """
        Publish what is new in a tick whose time was published before.

        :param changed: topics of the wire with other values; None: all of them.
        """
        if not self.state.fill(tick):
            return 0
        return sum(
            feed.emit(stamp_ns)
            for feed in self.feeds
            if feed.wanted and (feed.grew or changed is None or not feed.wire.isdisjoint(changed))
        )

    def clear(self) -> None:
        """Forget what belongs to the time before a jump; static transforms stay."""
        for feed in self.feeds:
            feed.clear()
        if self._scene is not None:
            self._scene.clear()

    def close(self, successor: World) -> None:
        """Destroy the publishers, but for those that the next world goes on with."""
        self._publishers.close(successor._publishers)
