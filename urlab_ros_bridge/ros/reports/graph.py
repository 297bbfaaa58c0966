# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Checks of the ROS graph, by timers in the executor: in the stream they would delay ticks.

One finds other publishers of the bridge's topics: a second bridge, another simulator, a bag.  The
other finds publishers of commands of a type that the bridge does not accept: ROS connects
publishers and subscribers of one type only, and says nothing of the others.  The most frequent
case is cmd_vel, which is a Twist on Jazzy and a TwistStamped from Kilted on.  One process cannot
subscribe to both: a DDS participant has one type for a topic.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
from dataclasses import dataclass
import time
from typing import Any
from typing import TypeVar

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.node import NodeNameNonExistentError
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from rclpy.timer import Timer

from urlab_ros_bridge.client.replies.handshake import Handshake
from urlab_ros_bridge.ros.commands.velocity import cmd_vel_value
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.plan.names import full_name
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.wire.errors import list_names

CHECK_SECONDS = 2.0


Endpoint = TypeVar('Endpoint', Publisher, Subscription)


def with_topics(endpoints: Iterable[Endpoint]) -> Iterator[tuple[Endpoint, str]]:
    """Yield each with its topic (resolved name), without those that another thread destroys."""
    for each in list(endpoints):
        with contextlib.suppress(InvalidHandle):
            yield each, each.topic_name


class GraphCheck(Part):
    """
    A check that is repeated every `CHECK_SECONDS` while the bridge runs.

    :cvar name: of its entry in /diagnostics.
    :ivar problem: why the last one failed, empty when it did not.
    """

    name = ''

    def __init__(self, node: Node, log: Callable[[str, str], None]) -> None:
        """
        Prepare.

        :param log: takes a severity (info, warning) and a text.
        """
        self.problem = ''
        self._node = node
        self._log = log
        self._timer: Timer | None = None

    def check(self) -> None:
        """Read the graph."""
        raise NotImplementedError

    def results(self) -> Iterable[Status]:
        """Return what the last check has found."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the timer."""
        self._timer = self._node.create_timer(CHECK_SECONDS, self.run)

    def stop(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def run(self) -> None:
        """Check; a failure is logged once, until a check succeeds again."""
        try:
            self.check()
            problem = ''
        except Exception as error:
            # The graph of a context that is shut down cannot be read: that is no problem.
            if not self._node.context.ok():
                return
            problem = f'{type(error).__name__}: {error}'
            if problem != self.problem:
                self._log('warning', f'check of the ROS graph for {self.name} failed: {problem}')
        self.problem = problem

    def statuses(self) -> Iterator[Status]:
        """Yield what the check has found, or why it failed."""
        if self.problem:
            yield Status(self.name, f'unknown: {self.problem}', {}, 'warning')
        else:
            yield from self.results()


CLOCK = '/clock'
DESCRIPTION = 'robot_description'
# Topics that several nodes publish together.
SHARED = (
    'tf',
    'tf_static',
    'diagnostics',
    'rosout',
    'parameter_events',
    DESCRIPTION,
    'initialpose',
)
# The graph lists a killed node no longer than this (s).
LEASE_SECONDS = 30.0
# A node seen for less than this may be shutting down (s).
SETTLED_SECONDS = 10.0
ADVICE = (
    'stop one of the two (on this machine `pgrep -af urlab` lists them), or give one of them a '
    'different ROS_DOMAIN_ID'
)


class OtherPublishers(GraphCheck):
    """
    Other publishers of the bridge's topics.

    :ivar text: their names, and what to do about it; empty without any.
    :ivar topics: topic -> full names of the nodes.
    """

    name = 'other publishers'

    def __init__(
        self,
        node: Node,
        log: Callable[[str, str], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(node, log)
        self.text = ''
        self.topics: dict[str, list[str]] = {}
        self._shared: tuple[str, ...] = SHARED
        self._monotonic = monotonic
        self._seen = ''
        self._since = monotonic()
        self._dead_until = 0.0

    def take_world(self, plan: WorldPlan, handshake: Handshake | None) -> None:
        """Watch descriptions for controller_manager too: it takes the first that it gets."""
        controlled = any('<ros2_control' in robot.appearance.urdf for robot in plan.robots)
        self._shared = tuple(name for name in SHARED if not (controlled and name == DESCRIPTION))

    def start(self) -> None:
        """Begin; nodes of this bridge's name may be killed ones until their lease expires."""
        super().start()
        self._dead_until = self._monotonic() + LEASE_SECONDS

    def check(self) -> None:
        """Check; what stays for a while is logged, once."""
        now = self._monotonic()
        found = self._find()
        own = self._node.get_fully_qualified_name()
        if now < self._dead_until:
            found = {
                topic: others
                for topic, names in found.items()
                if (others := [name for name in names if name != own])
            }
        text = describe(found, own)
        if text != self._seen:
            self._seen, self._since = text, now
        if text == self.text or (text and now - self._since < SETTLED_SECONDS):
            return
        if text:
            self._log('warning', text)
        else:
            self._log('info', 'no other node publishes topics of this bridge any more')
        self.text, self.topics = text, found

    def results(self) -> Iterator[Status]:
        """Yield what was found."""
        values = {f'{topic} also from': ', '.join(names) for topic, names in self.topics.items()}
        yield Status(self.name, self.text or 'none', values, 'warning' if self.text else 'ok')

    def _find(self) -> dict[str, list[str]]:
        own = self._node.get_fully_qualified_name()
        counts: dict[str, int] = {}
        for _, topic in with_topics(self._node.publishers):
            if topic.rpartition('/')[2] not in self._shared:
                counts[topic] = counts.get(topic, 0) + 1
        elsewhere = self._topics_of_others(own)
        found = {}
        for topic in sorted(counts if elsewhere is None else counts.keys() & elsewhere):
            count = counts[topic]
            if self._node.count_publishers(topic) <= count:
                continue
            names = [
                full_name(info.node_namespace, info.node_name)
                for info in self._node.get_publishers_info_by_topic(topic)
                # The graph may know of a publisher before it knows its node.
                if '_UNKNOWN_' not in info.node_name
            ]
            others = {name for name in names if name != own}
            if names.count(own) > count:
                others.add(own)
            if others:
                found[topic] = sorted(others)
        return found

    def _topics_of_others(self, own: str) -> set[str] | None:
        """
        Return what nodes of other names publish; None where several nodes have one name.

        This is faster: a query for a topic goes through all publishers of the graph, one for a
        node through those of the node.  It covers only one node of each name.
        """
        nodes = self._node.get_node_names_and_namespaces()
        if len(set(nodes)) < len(nodes):
            return None
        topics: set[str] = set()
        for name, namespace in nodes:
            if full_name(namespace, name) == own:
                continue
            try:
                published = self._node.get_publisher_names_and_types_by_node(name, namespace)
            except NodeNameNonExistentError:  # it has just ended
                continue
            topics.update(topic for topic, _ in published)
        return topics


def describe(found: dict[str, list[str]], own: str) -> str:
    """
    Return the other publishers, and what to do; empty without any.

    :param found: topic -> full names of the nodes.
    :param own: full name of the bridge: another node of this name is a second bridge, which
        explains everything else.
    """
    names = sorted({name for nodes in found.values() for name in nodes})
    if own in names:
        return (
            f'another bridge named {own} publishes on this ROS domain, so every message is '
            f'published twice: {ADVICE}'
        )
    if CLOCK in found:
        return (
            f'{_list(found[CLOCK])} publishes {CLOCK} too, so nodes with use_sim_time get two '
            f'clocks: {ADVICE}'
        )
    if found:
        verb = 'publishes' if len(names) == 1 else 'publish'
        return (
            f'{_list(names)} {verb} {_list(sorted(found))} too: stop the nodes that are not '
            'needed, or remap their topics'
        )
    return ''


def _list(names: Iterable[str]) -> str:
    return list_names('name', names, 4).partition(': ')[2]


OTHER_PUBLISHERS = Feature(
    OtherPublishers.name,
    group='Connection',
    attach=lambda bridge: OtherPublishers(bridge.node, bridge.log),
)


@dataclass(frozen=True)
class OtherType:
    """A publisher that the bridge cannot receive."""

    topic: str
    node: str
    type_name: str
    taken: str

    def __str__(self) -> str:
        text = (
            f'{self.node} publishes {self.topic} as {self.type_name}, which is ignored: the '
            f'bridge takes {self.taken}'
        )
        value = cmd_vel_value(self.type_name)
        if not value:
            return text
        return f'{text}. To use this type, start the bridge with cmd_vel_type set to "{value}"'


class OtherTypes(GraphCheck):
    """
    Publishers of other types on the topics that the bridge subscribes to.

    :ivar found: those of another type, now.
    """

    name = 'types of commands'

    def __init__(self, node: Node, log: Callable[[str, str], None]) -> None:
        super().__init__(node, log)
        self.found: tuple[OtherType, ...] = ()
        self._logged: set[OtherType] = set()

    def check(self) -> None:
        """Check the graph; each publisher is logged once."""
        self.found = tuple(self._find())
        for each in self.found:
            if each not in self._logged:
                self._logged.add(each)
                self._log('warning', str(each))

    def results(self) -> Iterator[Status]:
        """Return the publishers that were found."""
        found = self.found
        text = '; '.join(map(str, found)) or 'all have the accepted types'
        values = {f'{each.topic} from {each.node}': each.type_name for each in found}
        yield Status(self.name, text, values, 'warning' if found else 'ok')

    def _find(self) -> Iterable[OtherType]:
        # One query for all topics: one for a single topic goes through the whole graph, too.
        types = dict(self._node.get_topic_names_and_types())
        for subscription, topic in with_topics(self._node.subscriptions):
            kind: Any = subscription.msg_type
            taken = f'{kind.__module__.replace(".", "/").rpartition("/")[0]}/{kind.__name__}'
            if all(each == taken for each in types.get(topic, ())):
                continue
            for info in self._node.get_publishers_info_by_topic(topic):
                # The graph may know of a publisher before it knows its node.
                if info.topic_type != taken and '_UNKNOWN_' not in info.node_name:
                    name = full_name(info.node_namespace, info.node_name)
                    yield OtherType(topic, name, info.topic_type, taken)


OTHER_TYPES = Feature(OtherTypes.name, attach=lambda bridge: OtherTypes(bridge.node, bridge.log))
