# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A feature of the bridge, and the bridge: what features share, and when it calls them.

A feature is one file, which ends with a `Feature`; the list of all is `program.features`.  The
node, config/bridge.yaml, the pages in docs/ and the tests are made from that list.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from typing import TypeVar

from rclpy.node import Node

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.features.declarations import FrameRule
from urlab_ros_bridge.ros.features.declarations import RosAction
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.robot_topics import RobotTopics
from urlab_ros_bridge.ros.features.robot_topics import WorldTopics
from urlab_ros_bridge.ros.features.timeline import Timeline
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.wire.errors import UrlabError

PartT = TypeVar('PartT')


class PartMissing(UrlabError):
    """A feature needs a part of another one that is not in the list of features, or after it."""

    def __init__(self, kind: type) -> None:
        super().__init__(
            f'no feature has added a {kind.__name__} yet; list the feature that adds it before '
            'those that use it'
        )


@dataclass(frozen=True)
class Status:
    """
    How one part of the bridge is, for /diagnostics.

    :ivar level: ok, warning or error.
    """

    name: str
    text: str
    values: Mapping[str, Any]
    level: str = 'ok'


@dataclass(frozen=True)
class Attached:
    """
    What a feature does at which moment; all of it is optional.

    All are called in the order of the list of features, but for `jump`, `stop` and `destroy`,
    which are called in the opposite one.

    :ivar start: the bridge starts.
    :ivar begin: all features have started: ticks and connections may come.
    :ivar wanted: returns prefixes of the wire that are needed now beside those of topics.
    :ivar plan: takes the plan of another world, before that world is published.
    :ivar published: takes the plan and the handshake after every connection, also of the world
        that was there; without a session there is no handshake.
    :ivar tick: takes the stamp (ns) of a tick that was published; in the stream thread, so quick.
    :ivar jump: takes the stamp of a new epoch and whether time went back, before anything of it
        is published; in the stream thread.
    :ivar beat: takes the monotonic time (s), once a second; in the stream thread.
    :ivar changed: takes changed settings.
    :ivar status: returns what /diagnostics says of it.
    :ivar stop: the bridge ends: robots come to rest, threads end.
    :ivar destroy: withdraws nodes of its own; after `stop`, or in place of `start`.
    """

    start: Callable[[], None] | None = None
    begin: Callable[[], None] | None = None
    wanted: Callable[[], set[bytes]] | None = None
    plan: Callable[[WorldPlan], None] | None = None
    published: Callable[[WorldPlan, Handshake | None], None] | None = None
    tick: Callable[[int], None] | None = None
    jump: Callable[[int, bool], None] | None = None
    beat: Callable[[float], None] | None = None
    changed: Callable[[Settings], None] | None = None
    status: Callable[[], Iterable[Status]] | None = None
    stop: Callable[[], object] | None = None
    destroy: Callable[[], None] | None = None


@dataclass(frozen=True)
class Feature:
    """
    One thing that the bridge does.

    :ivar name: for the reader.
    :ivar parameters: a frozen dataclass whose fields are made by `schema.key`, each with a
        default; the fields become attributes of `Settings`.  In `Key.extra`: ``live`` for one that
        may be changed while the node runs, ``name`` for a ROS name other than that of the field,
        ``group`` for another group than that of the feature.
    :ivar group: heading under which documentation lists the parameters.
    :ivar check: returns what is wrong with a combination of values that are right by themselves.
    :ivar attach: makes its threads, publishers and the like, and returns when they are called.
    :ivar feeds: makes the topics of one robot that are published from ticks.
    :ivar world_feeds: makes those that belong to no robot.
    :ivar latched: returns, by topic, messages that are published once for each world.
    """

    name: str
    parameters: type | None = None
    group: str = ''
    check: Callable[[Settings], Iterable[str]] | None = None
    topics: tuple[Topic, ...] = ()
    actions: tuple[RosAction, ...] = ()
    frames: tuple[FrameRule, ...] = ()
    services: tuple[Service, ...] = ()
    attach: Callable[[Bridge], Attached | None] | None = None
    feeds: Callable[[RobotTopics], Iterable[Feed]] | None = None
    world_feeds: Callable[[WorldTopics], Iterable[Feed]] | None = None
    latched: Callable[[WorldPlan, Settings], dict[str, Any]] | None = None


class Bridge:
    """
    What features work with, and how they are called.

    A feature adds what others may use of it, and they take it by its class; which parts there are
    is the business of the features alone.

    :ivar node: the node of topics and parameters.
    :ivar features: all features, in order.
    :ivar settings: returns the values of all parameters now; from any thread.
    :ivar log: takes a severity (info, warning) and a text.
    :ivar timeline: where simulation time stands.
    :ivar on_plan: takes a new plan, and whether the server closes ticks with its sim_time row.
    :ivar fail: takes the reason why the bridge must not go on, once it runs; from any thread.
    :ivar status_fd: file descriptor that gets a JSON line a second, None for none.
    :ivar plan: what is published at present.
    """

    def __init__(
        self,
        node: Node,
        features: tuple[Feature, ...],
        settings: Callable[[], Settings],
        log: Callable[[str, str], None],
        *,
        timeline: Timeline,
        on_plan: Callable[[WorldPlan, bool], None],
        fail: Callable[[UrlabError], None],
        status_fd: int | None = None,
    ) -> None:
        self.node = node
        self.features = features
        self.settings = settings
        self.log = log
        self.timeline = timeline
        self.plan = WorldPlan()
        self.on_plan = on_plan
        self.fail = fail
        self.status_fd = status_fd
        self._parts: dict[type, Any] = {}
        self._attached: list[Attached] = []
        self._ticks: tuple[Callable[[int], None], ...] = ()

    def add(self, part: PartT) -> PartT:
        """Offer a part to features that come later; return it."""
        self._parts[type(part)] = part
        return part

    def part(self, kind: type[PartT]) -> PartT:
        """
        Return the part of a class.

        :raises PartMissing: when no feature has added it.
        """
        try:
            found: PartT = self._parts[kind]
        except KeyError:
            raise PartMissing(kind) from None
        return found

    def attach(self) -> None:
        """Attach all features; when one of them fails, `destroy` withdraws the others."""
        for feature in self.features:
            if feature.attach is not None:
                self._attached.append(feature.attach(self) or Attached())
        self._ticks = tuple(each.tick for each in self._attached if each.tick is not None)

    def start(self) -> None:
        """Start all features, then let everything begin."""
        for each in self._attached:
            if each.start is not None:
                each.start()
        for each in self._attached:
            if each.begin is not None:
                each.begin()

    def stop(self) -> None:
        """Stop the robots that were driven from here, then all threads."""
        for each in reversed(self._attached):
            if each.stop is not None:
                each.stop()

    def destroy(self) -> None:
        """Withdraw what features have beside the node; again it does nothing."""
        while self._attached:
            each = self._attached.pop()
            if each.destroy is not None:
                each.destroy()

    def take_plan(self, plan: WorldPlan) -> None:
        """Announce another world, before it is published."""
        self.plan = plan
        for each in self._attached:
            if each.plan is not None:
                each.plan(plan)

    def published(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Announce that a world is published."""
        for each in self._attached:
            if each.published is not None:
                each.published(plan, handshake)

    def wanted(self) -> set[bytes]:
        """Return the prefixes of the wire that features need beside those of topics."""
        found = (each.wanted() for each in self._attached if each.wanted is not None)
        return set().union(*found)

    def tick(self, stamp_ns: int) -> None:
        """Announce a tick that was published."""
        for tick in self._ticks:
            tick(stamp_ns)

    def jump(self, stamp_ns: int, went_back: bool) -> None:
        """Announce a new epoch."""
        for each in reversed(self._attached):
            if each.jump is not None:
                each.jump(stamp_ns, went_back)

    def beat(self, now: float) -> None:
        """Announce that about a second has passed."""
        for each in self._attached:
            if each.beat is not None:
                each.beat(now)

    def changed(self, settings: Settings) -> None:
        """Announce changed settings."""
        for each in self._attached:
            if each.changed is not None:
                each.changed(settings)

    def statuses(self) -> list[Status]:
        """Return how all features are."""
        found = (each.status() for each in self._attached if each.status is not None)
        return [status for some in found for status in some]


__all__ = ['Attached', 'Bridge', 'Feature', 'PartMissing', 'Status']
