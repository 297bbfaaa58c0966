# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Of several bridges of one name on a ROS domain the oldest stays, and the others end.

On one machine a lock decides (`name_lock`), before anything is published.  Those that it does not
reach, on other machines or in other networks, are found by DDS, which may take any time on a busy
machine.  For these every bridge announces itself once a second on a hidden topic: which one it is,
and how old.  One that hears an older one for a while ends, at its start or whenever discovery
finds the other.  Being listed in the graph does not count: a bridge that was killed stays there
until its lease is over (20 s with Fast DDS), but is silent.

Ages are those of the clock that no one sets (CLOCK_BOOTTIME), so jumps of the wall clock do not
matter.  On one machine births are compared exactly.  Between machines an age arrives late by the
way of its message, so births within `TIE_SECONDS` count as one, and names decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
import re
import time
import uuid

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.plan.names import full_name
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.ros.reports.name_lock import lock_of
from urlab_ros_bridge.ros.reports.name_lock import NameLock
from urlab_ros_bridge.ros.reports.other_publishers import ADVICE
from urlab_ros_bridge.ros.reports.other_publishers import OtherPublishers
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.errors import UrlabError

# Hidden, so that neither lists nor bags of all topics have it: played back it would be heard.
TOPIC = '~/_presence'
# Nodes are found so long after the own node was made, at the latest; with more delay the other is
# found later, and the younger one ends then (s).
DISCOVERY_SECONDS = 1.0
# A bridge that is shutting down may take so long, or longer on a busy machine (s).
LEAVING_SECONDS = 3.0
# It is listened for, or waited for the lock, so long at a time (s).
ROUND_SECONDS = 0.1
# A new listener hears a bridge that lives within this, and then once a second (s).
ANSWER_SECONDS = 1.5
# One that is silent for so long is forgotten (s).
FORGET_SECONDS = 10.0
# Births on different machines that are closer than this cannot be told apart (s).
TIE_SECONDS = 1.0
# Others that are remembered, whatever is sent.
_MAX_OTHERS = 16
_MAX_NS = 1 << 63
_WORDS = re.compile(r'([\w-]{1,64}) ([0-9a-f]{32}) (\d{1,19}) (\d{1,19})')


@dataclass(frozen=True)
class SecondBridgeParameters:
    """What to do about a second bridge."""

    second_bridge: str = key(
        'refuse',
        'What to do if an older bridge with the same full name runs on this ROS domain. "refuse": '
        'do not start, or exit if it is found later. "warn": publish everything twice.',
        choices=('refuse', 'warn'),
    )


class SecondBridge(UrlabError):
    """A bridge of the same name runs on this ROS domain."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f'another bridge named {name} publishes on this ROS domain: {ADVICE}; '
            'to run both anyway, set the parameter second_bridge to "warn"'
        )


def now_ns() -> int:
    """Return the time since the machine was started, suspended or not (ns)."""
    return time.clock_gettime_ns(getattr(time, 'CLOCK_BOOTTIME', time.CLOCK_MONOTONIC))


def machine() -> str:
    """Return what identifies the clock of `now_ns`: this start of this machine."""
    try:
        return Path('/proc/sys/kernel/random/boot_id').read_text(encoding='ascii').strip()
    except OSError:
        return f'{uuid.getnode():x}'


@dataclass(frozen=True, slots=True)
class Presence:
    """
    Which bridge it is, and since when it is at work.

    :ivar machine: whose clock `born` is of.
    :ivar name: drawn by lot; decides between bridges that are equally old.
    :ivar born: ns of that clock.
    """

    machine: str
    name: str
    born: int

    @classmethod
    def now(cls) -> Presence:
        """Return that of a bridge that begins now."""
        return cls(machine(), uuid.uuid4().hex, now_ns())

    def text(self, now: int) -> str:
        """Return the announcement of a moment (ns)."""
        return f'{self.machine} {self.name} {self.born} {max(now - self.born, 0)}'

    def outranks(self, other: Presence, heard: int) -> bool:
        """
        Return whether this one stays, of the two.

        :param heard: when this one was born by the clock of the other, as far as the other knows
            by its announcements (ns); it matters for another machine only.
        """
        if self.machine == other.machine:
            return (self.born, self.name) < (other.born, other.name)
        lead = other.born - heard
        tie = int(TIE_SECONDS * 1e9)
        return lead > tie or (lead >= -tie and self.name < other.name)


def read_announcement(text: str) -> tuple[Presence, int] | None:
    """Return who announces itself, and its age (ns); None for any other text."""
    found = _WORDS.fullmatch(text)
    if found is None:
        return None
    born, age = int(found[3]), int(found[4])
    return (Presence(found[1], found[2], born), age) if max(born, age) < _MAX_NS else None


@dataclass(slots=True)
class _Heard:
    """When another bridge was heard (ns), and when it was born by the own clock at the latest."""

    first: int
    last: int
    born: int
    count: int = 1


class OlderBridges:
    """Those that have been heard and outrank this one."""

    def __init__(self, own: Presence) -> None:
        self._own = own
        self._heard: dict[str, _Heard] = {}

    def take(self, text: str, now: int) -> None:
        """Take an announcement that is heard at a time (ns); any text is harmless."""
        found = read_announcement(text)
        if found is None or found[0].name == self._own.name:
            return
        other, age = found
        before = self._heard.get(other.name)
        born = now - age if before is None else min(before.born, now - age)
        if not other.outranks(self._own, born):
            self._heard.pop(other.name, None)
        elif before is None or now - before.last > FORGET_SECONDS * 1e9:
            while len(self._heard) >= _MAX_OTHERS:
                del self._heard[next(iter(self._heard))]
            self._heard[other.name] = _Heard(now, now, born)
        else:
            before.last, before.born, before.count = now, born, before.count + 1

    @property
    def last(self) -> int | None:
        """Return when one was heard last (ns), None for never."""
        return max((each.last for each in list(self._heard.values())), default=None)

    @property
    def stay(self) -> bool:
        """Return whether one has been heard for so long that it is not about to leave."""
        return any(
            each.count > 2 and each.last - each.first >= LEAVING_SECONDS * 1e9
            for each in list(self._heard.values())
        )


def twins(node: Node) -> int:
    """Return how many other nodes have the full name of this one."""
    own = node.get_fully_qualified_name()
    names = node.get_node_names_and_namespaces()
    # The own node is listed too.
    return max(sum(full_name(namespace, name) == own for name, namespace in names) - 1, 0)


def refuse_second(
    node: Node, made: int, older: OlderBridges, announce: Callable[[], None]
) -> bool:
    """
    Make sure that no older bridge of this name is at work; call it before anything is published.

    :param made: when the node was made (ns).
    :param announce: announces this one; it is called until it is clear who stays.
    :return: whether one is listed that seems to be dead, or younger.
    :raises SecondBridge: when one is, and does not go.
    """
    announce()
    while not twins(node):
        if now_ns() - made >= DISCOVERY_SECONDS * 1e9:
            return False
        time.sleep(0.05)
    listener = _Listener(node, older)
    try:
        return _decide(node, older, listener, announce)
    finally:
        listener.close()


def _decide(
    node: Node, older: OlderBridges, listener: _Listener, announce: Callable[[], None]
) -> bool:
    """Listen until it is clear who stays."""
    begun, rounds = now_ns(), 0
    while twins(node):
        last = older.last
        listener.listen(ROUND_SECONDS)
        announce()
        rounds = rounds + 1 if older.last == last else 0
        if older.stay:
            raise SecondBridge(node.get_fully_qualified_name())
        # Who has spoken speaks again after a second.
        patience = ANSWER_SECONDS if older.last is None else 2 * ANSWER_SECONDS
        silent = (now_ns() - (older.last or begun)) / 1e9
        # Counted too, for a process without processor time hears nothing.
        if silent >= patience <= rounds * ROUND_SECONDS:
            return True
    return False


def take_name(node: Node, lock: NameLock, wait: bool) -> None:
    """
    Take the lock on the name of a node; who has just been asked to end may still hold it.

    :param wait: until it is free, for `LEAVING_SECONDS`; or go on without it.
    :raises SecondBridge: when it does not become free.
    :raises OSError: as `NameLock.take` does.
    """
    # Counted, for on a busy machine the other gets as little processor time as this one.
    for _ in range(round(LEAVING_SECONDS / ROUND_SECONDS)):
        if lock.take() or not wait:
            return
        time.sleep(ROUND_SECONDS)
    raise SecondBridge(node.get_fully_qualified_name())


class _Listener:
    """A node that hears announcements before the bridge itself is spun."""

    def __init__(self, bridge: Node, older: OlderBridges) -> None:
        name = f'{bridge.get_name()}_start'
        self._older = older
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
        topic = bridge.resolve_topic_name(TOPIC)
        self._node.create_subscription(String, topic, self._on_presence, qos.announcements())

    def _on_presence(self, message: String) -> None:
        self._older.take(message.data, now_ns())

    def listen(self, seconds: float) -> None:
        self._executor.spin_once(timeout_sec=seconds)

    def close(self) -> None:
        self._executor.remove_node(self._node)
        self._executor.shutdown()
        self._node.destroy_node()


class Announcer(Part):
    """Holds the name of the bridge and announces it; ends it when an older one is heard."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge, self._node = bridge, bridge.node
        self._made = now_ns()
        self._own: Presence | None = None
        self._older: OlderBridges | None = None
        self._failed = False
        self._lock = lock_of(self._node)
        override = qos.overridable(self._node, TOPIC)
        self._publisher = self._node.create_publisher(
            String, TOPIC, qos.latched(), qos_overriding_options=override
        )
        self._node.create_subscription(
            String, TOPIC, self._on_presence, qos.announcements(), qos_overriding_options=override
        )

    def start(self) -> None:
        """
        Begin: a managed node that is not active yet does not count.

        :raises SecondBridge: when an older one is at work and this one is to refuse it.
        """
        self._take_name()
        try:
            self._enter()
        except BaseException:
            self.destroy()
            raise

    def destroy(self) -> None:
        """Leave the name to others: this bridge publishes nothing more."""
        if self._lock is not None:
            self._lock.release()

    def _take_name(self) -> None:
        if self._lock is None:
            return
        try:
            take_name(self._node, self._lock, self._refuses)
        except OSError as error:
            self._lock = None
            self._bridge.log(
                'warning',
                f'cannot lock the name of this bridge ({error.strerror or error}): another bridge '
                'on this machine is found by its announcements only',
            )

    def _enter(self) -> None:
        """Be one of those that are heard, unless an older one is."""
        self._own = Presence.now()
        self._older = OlderBridges(self._own)
        if not self._refuses:
            self._announce()
        elif refuse_second(self._node, self._made, self._older, self._announce):
            self._bridge.part(OtherPublishers).ignore_dead()

    def beat(self, now: float) -> None:
        """Announce, and end the bridge if it must not go on."""
        self._announce()
        if not self._refuses or self._failed or self._older is None or not self._older.stay:
            return
        # Not a bag that is played back: a bridge has a node.
        self._failed = twins(self._node) > 0
        if self._failed:
            self._bridge.fail(SecondBridge(self._node.get_fully_qualified_name()))

    @property
    def _refuses(self) -> bool:
        return self._bridge.settings(SecondBridgeParameters).second_bridge == 'refuse'

    def _announce(self) -> None:
        if self._own is not None:
            self._publisher.publish(String(data=self._own.text(now_ns())))

    def _on_presence(self, message: String) -> None:
        if self._older is not None:
            self._older.take(message.data, now_ns())


def attach(bridge: Bridge) -> Part:
    """Lock the name of this bridge and announce it; end it when an older one is heard."""
    return Announcer(bridge)


TOPICS = (
    Topic(TOPIC, ('std_msgs/msg/String',), 'latched', '', '1 Hz of wall time'),
    Topic(TOPIC, ('std_msgs/msg/String',), 'announcements', incoming=True),
)
FEATURE = Feature(
    'second bridge',
    SecondBridgeParameters,
    group='Connection',
    topics=TOPICS,
    attach=attach,
)


__all__ = [
    'OlderBridges',
    'Presence',
    'SecondBridge',
    'read_announcement',
    'refuse_second',
    'take_name',
    'twins',
]
