# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The one owner of the published world: it takes a new world, or the reason why there is none."""

from __future__ import annotations

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.features.errors import text_of
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.link.world import PublishedWorld
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.plan.plan import WorldPlan


class CurrentWorld(Part):
    """
    The world that is published.

    The link thread hands over each world that it has planned, and makes its topics here.  The
    stream thread begins to publish them between two ticks.

    :ivar plan: of the newest world; from any thread.
    :ivar problem: why nothing of it is published, empty when all is well.
    :ivar topics: what the stream publishes; None before the first connection.  For the stream
        thread, which replaces it.
    :ivar has_sim_time: whether the server closes ticks with its sim_time row.
    """

    def __init__(self, bridge: Bridge) -> None:
        """Begin without a world."""
        self.plan = WorldPlan()
        self.problem = ''
        self.topics: PublishedWorld | None = None
        self.has_sim_time = True
        self._newest: PublishedWorld | None = None
        self._bridge = bridge
        bridge.on_settings.append(self.apply)

    def take(
        self,
        plan: WorldPlan,
        handshake: Handshake | None,
        *,
        has_sim_time: bool,
        problem: str = '',
    ) -> None:
        """
        Publish a world from its first tick on; called in the link thread, after each connection.

        A world whose plan equals the one before keeps its topics.  If the topics cannot be made,
        nothing is published, and `problem` gives the reason.

        :param handshake: None without a session.
        :param has_sim_time: whether the server closes ticks with its sim_time row.
        :param problem: why the plan is empty.
        """
        bridge, topics = self._bridge, None
        if plan != self.plan or self._newest is None:
            bridge.errors.begin_world()
            try:
                topics = self._make(plan)
            except Exception as error:
                bridge.errors.add('topics of the world', error)
                plan, problem = WorldPlan(), f'its topics cannot be made: {text_of(error)}'
                topics = self._make(plan)
            self._newest = topics
        self.plan, self.problem, self.has_sim_time = plan, problem, has_sim_time
        bridge.run_in_stream(lambda: self._begin(topics))
        bridge.take_world(plan, handshake)

    def apply(self, settings: Settings) -> None:
        """Apply changed rates; may be called from any thread."""
        topics = self.topics
        if topics is not None:
            topics.apply(settings)

    def _make(self, plan: WorldPlan) -> PublishedWorld:
        bridge = self._bridge
        topics = PublishedWorld(
            bridge.node, plan, bridge.all_settings(), bridge.features, bridge.errors, self._newest
        )
        for note in topics.notes:
            bridge.log('warning', note)
        return topics

    def _begin(self, topics: PublishedWorld | None) -> None:
        """
        Begin a new epoch with the next tick; called in the stream thread.

        :param topics: None: those of the world before.
        """
        self._bridge.timeline.request_jump()
        if topics is None:
            return
        before, self.topics = self.topics, topics
        if before is not None:
            before.close(topics)
        topics.apply(self._bridge.all_settings())
        topics.publish_first()
        topics.poll_subscribers()


FEATURE = Feature('published world', attach=CurrentWorld)
