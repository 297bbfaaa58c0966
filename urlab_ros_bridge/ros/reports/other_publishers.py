# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Other publishers of the bridge's topics: a second bridge, another simulator, a bag.

A second bridge of the same name is refused at its start.  A bridge that was killed stays in the
graph until its lease is over (20 s with Fast DDS), so being listed does not count: a bridge that
is connected sends each new subscriber of /clock the time, and a silent one counts as dead.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
import time

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from urlab_ros_bridge.ros.features.feature import Attached
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.plan.names import full_name
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.errors import UrlabError

CLOCK = '/clock'
# Topics that several nodes publish together.
SHARED = (
    'tf',
    'tf_static',
    'diagnostics',
    'rosout',
    'parameter_events',
    'robot_description',
    'initialpose',
)
# Nodes are found so long after the own node was made, at the latest (s).
DISCOVERY_SECONDS = 1.0
# A bridge that is shutting down may take so long (s).
LEAVING_SECONDS = 3.0
# It is listened for so long at a time (s).
ROUND_SECONDS = 0.1
# A connected bridge sends a new subscriber the time within this (s).
ANSWER_SECONDS = 1.5
# Names of the dead are listed no longer than this (s).
LEASE_SECONDS = 30.0
LOOK_SECONDS = 2.0
# One seen for less than this is about to leave, as a refused second bridge (s).
SETTLED_SECONDS = 10.0
_ADVICE = (
    'stop one of the two (on this machine `pgrep -af urlab` shows them), or give one another '
    'ROS_DOMAIN_ID'
)


@dataclass(frozen=True)
class SecondBridgeParameters:
    """What to do about a second bridge."""

    second_bridge: str = key(
        'refuse',
        'What to do at start-up when a bridge of the same full name runs on this ROS '
        'domain: "refuse" to start, or "warn" and publish everything twice.',
        choices=('refuse', 'warn'),
    )


class SecondBridge(UrlabError):
    """A bridge of the same name runs on this ROS domain."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f'another bridge named {name} publishes on this ROS domain: {_ADVICE}; '
            'to run both anyway, set the parameter second_bridge to "warn"'
        )


def twins(node: Node) -> int:
    """Return how many other nodes have the full name of this one."""
    own = node.get_fully_qualified_name()
    names = node.get_node_names_and_namespaces()
    # The own node is listed too.
    return max(sum(full_name(namespace, name) == own for name, namespace in names) - 1, 0)


def refuse_second(node: Node, born: float) -> bool:
    """
    Make sure that no other bridge of this name is at work; call it before anything is published.

    :param born: when the node was made (s by time.monotonic).
    :return: whether one is listed that seems to be dead.
    :raises SecondBridge: when one is, and does not go.
    """
    while not twins(node):
        if time.monotonic() - born >= DISCOVERY_SECONDS:
            return False
        time.sleep(0.05)
    ear = _ClockListener(node)
    try:
        begun, rounds = time.monotonic(), 0
        while twins(node):
            ear.listen(ROUND_SECONDS)
            rounds += 1
            waited = time.monotonic() - begun
            if ear.heard and waited >= LEAVING_SECONDS:
                raise SecondBridge(node.get_fully_qualified_name())
            # Counted too, for a process without processor time hears nothing.
            if not ear.heard and waited >= ANSWER_SECONDS <= rounds * ROUND_SECONDS:
                return True
    finally:
        ear.close()
    return False


class _ClockListener:
    """
    A node that listens to /clock.

    :ivar heard: a time has been received.
    """

    def __init__(self, bridge: Node) -> None:
        name = f'{bridge.get_name()}_start'
        self.heard = False
        self._node = Node(
            name,
            context=bridge.context,
            namespace=bridge.get_namespace(),
            cli_args=['--ros-args', '-r', f'__node:={name}'],
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._executor = SingleThreadedExecutor(context=bridge.context)
        self._executor.add_node(self._node)
        self._node.create_subscription(Clock, CLOCK, self._hear, qos.clock())

    def _hear(self, message: Clock) -> None:
        self.heard = True

    def listen(self, seconds: float) -> None:
        self._executor.spin_once(timeout_sec=seconds)

    def close(self) -> None:
        self._executor.remove_node(self._node)
        self._executor.shutdown()
        self._node.destroy_node()


class OtherPublishers:
    """
    Watches, while the bridge runs, for other publishers of its topics.

    :ivar text: their names, and what to do about it; empty without any.
    :ivar topics: topic -> full names of the nodes.
    """

    def __init__(
        self,
        node: Node,
        log: Callable[[str, str], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Start without any.

        :param log: takes a severity (info, warning) and a text.
        """
        self.text = ''
        self.topics: dict[str, list[str]] = {}
        self._node = node
        self._log = log
        self._monotonic = monotonic
        self._next = monotonic() + LOOK_SECONDS
        self._seen = ''
        self._since = monotonic()
        self._dead_until = 0.0

    def ignore_dead(self) -> None:
        """Take nodes of the own name for dead until their lease must be over."""
        self._dead_until = self._monotonic() + LEASE_SECONDS

    def check(self) -> None:
        """Check, if it is time to; what stays for a while is logged, once."""
        now = self._monotonic()
        if now < self._next:
            return
        self._next = now + LOOK_SECONDS
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
            self._log('info', 'no other node publishes the topics of this bridge any more')
        self.text, self.topics = text, found

    def _find(self) -> dict[str, list[str]]:
        own = self._node.get_fully_qualified_name()
        counts: dict[str, int] = {}
        for publisher in list(self._node.publishers):
            topic = publisher.topic_name
            counts[topic] = counts.get(topic, 0) + 1
        found = {}
        for topic, count in counts.items():
            if topic.rpartition('/')[2] in SHARED or self._node.count_publishers(topic) <= count:
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
            f'another bridge named {own} publishes on this ROS domain, so all is published twice: '
            f'{_ADVICE}'
        )
    if CLOCK in found:
        return (
            f'{_list(found[CLOCK])} publishes {CLOCK} too, so nodes with use_sim_time get two '
            f'times: {_ADVICE}'
        )
    if found:
        verb = 'publishes' if len(names) == 1 else 'publish'
        return (
            f'{_list(names)} {verb} {_list(sorted(found))} too: stop the nodes that are not '
            'needed, or remap '
            'its topics'
        )
    return ''


def _list(names: Iterable[str]) -> str:
    return list_names('name', names, 4).partition(': ')[2]


def attach(bridge: Bridge) -> Attached:
    """Check for others once in a while; at the start a second bridge is refused."""
    others = OtherPublishers(bridge.node, bridge.log)
    born = time.monotonic()

    def start() -> None:
        if bridge.settings().second_bridge == 'refuse' and refuse_second(bridge.node, born):
            others.ignore_dead()

    def status() -> Iterator[Status]:
        values = {f'{topic} also from': ', '.join(names) for topic, names in others.topics.items()}
        level = 'warning' if others.text else 'ok'
        yield Status('other publishers', others.text or 'none', values, level)

    return Attached(start=start, beat=lambda now: others.check(), status=status)


FEATURE = Feature('other publishers', SecondBridgeParameters, group='Connection', attach=attach)


__all__ = ['OtherPublishers', 'SecondBridge', 'describe', 'refuse_second', 'twins']
