# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Topics that are built from ticks: `Feed` is one of them, `Publishers` are behind all of them.

A feature makes its feeds from `RobotTopics` or `WorldTopics` (`Feature.feeds`, `world_feeds`).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from functools import partial
from types import MappingProxyType
from typing import Any
from typing import Protocol
from typing import TypeVar

from rclpy.node import Node

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.errors import FeatureErrors
from urlab_ros_bridge.ros.features.errors import text_of
from urlab_ros_bridge.ros.features.taps import TappedPublisher
from urlab_ros_bridge.ros.features.taps import taps_of
from urlab_ros_bridge.ros.features.tick_state import RobotState
from urlab_ros_bridge.ros.features.tick_state import WorldState
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.ros.rclpy_tools import qos
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.schema import key
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.stamp import NANOSECONDS

# Returns a serialised message, or a message object; None: nothing to publish.
Build = Callable[[int], Any]
MemoryT = TypeVar('MemoryT')


@dataclass(frozen=True)
class QosParameters:
    """Declaration of QoS overrides that are not set."""

    declare_qos_overrides: bool = key(
        False,
        'Declare the qos_overrides parameters of all topics, so that `ros2 param list` shows '
        'them. Those set at start-up take effect in any case.',
        name=qos.DECLARE_ALL,
    )


class RateLimiter:
    """
    Passes the first event of each period; periods are counted from time 0 (ns).

    So topics of one rate are published at the same instants, whenever a subscriber joined, and
    those of a multiple of it at these instants too.
    """

    def __init__(self, rate: float = 0.0) -> None:
        self.set_rate(rate)

    def set_rate(self, rate: float) -> None:
        """Change the rate (Hz, 0: no limit); the next one is let through."""
        self._numerator, denominator = max(float(rate), 0.0).as_integer_ratio()
        self._denominator = denominator * NANOSECONDS
        self.clear()

    def clear(self) -> None:
        """Forget the past: after a jump of the clock."""
        self._last: int | None = None

    def due(self, now: int) -> bool:
        """Return whether `now` is allowed by the rate."""
        return not self._numerator or self._last is None or self._period_of(now) != self._last

    def count(self, now: int) -> None:
        """Count a message at `now`."""
        if self._numerator:
            self._last = self._period_of(now)

    def _period_of(self, now: int) -> int:
        return now * self._numerator // self._denominator


class Clearable(Protocol):
    """State that is kept from tick to tick."""

    def clear(self) -> None:
        """Reset it: after a jump of the clock."""


# While time is frozen, a new subscriber gets the message again in so many polls: it may discover
# the publisher a moment after the publisher has discovered it, and nothing is kept for it.
_REPEATS = 5


class Feed:
    """
    One topic.

    :ivar wire: topics of the wire that its message is made of.
    :ivar subscriptions: prefixes to subscribe to for them.
    :ivar rate_name: field of the settings that limits it, empty for none.
    :ivar each_instant: whether every instant of a lockstep is published, whatever the limit.
    :ivar dirty: whether its value is newer than its last message: the rate limit has suppressed
        one, or the value has changed while time is frozen.
    :ivar memory: what `build` remembers of earlier ticks.
    :ivar count: messages published; `dropped`: ticks that were dropped while subscribed.
    :ivar has_subscribers: whether it had any at the last poll.
    :ivar has_new_subscriber: whether one joined since the last message.
    :ivar repeats: whether to publish again while time is frozen, for a subscriber that joined;
        `repeats_left`: in how many further polls.
    """

    def __init__(
        self,
        topic: str,
        publisher: TappedPublisher,
        build: Build,
        *,
        wire: Iterable[bytes] = (),
        subscriptions: Iterable[bytes] | None = None,
        rate_name: str = '',
        each_instant: bool = False,
        memory: Clearable | None = None,
        on_error: Callable[[Exception], None],
    ) -> None:
        self.topic = topic
        self.publisher = publisher
        self.wire = frozenset(wire)
        self.subscriptions = self.wire if subscriptions is None else frozenset(subscriptions)
        self.rate_name = rate_name
        self.each_instant = each_instant
        self.limiter = RateLimiter()
        self.dirty = False
        self.memory = memory
        self.has_subscribers = False
        self.has_new_subscriber = False
        self.repeats = False
        self.count = 0
        self.errors = 0
        self.dropped = 0
        self.last_error = ''
        self._build = build
        self._on_error = on_error
        self._subscribers = self.repeats_left = 0

    def poll_subscribers(self) -> None:
        """Update the number of subscribers."""
        count = self.publisher.get_subscription_count()
        joined = count > self._subscribers
        self.has_new_subscriber = count > 0 and (joined or self.has_new_subscriber)
        self.repeats = count > 0 and self.repeats_left > 0
        self.repeats_left = _REPEATS if joined else max(0, self.repeats_left - 1)
        self._subscribers = count
        self.has_subscribers = count > 0

    def publish(self, stamp_ns: int) -> bool:
        """
        Publish the message of the present tick, if it has one; return whether it did.

        A tick that cannot be read counts as an error of the topic; any other error is reported as
        one of its feature, too.
        """
        try:
            message = self._build(stamp_ns)
            if message is None:
                return False
            self.publisher.publish(message)
        except Exception as error:
            self.errors += 1
            self.last_error = text_of(error)
            if not isinstance(error, UrlabError):
                self._on_error(error)
            return False
        self.limiter.count(stamp_ns)
        self.has_new_subscriber = self.dirty = self.repeats = False
        self.count += 1
        return True

    def clear(self) -> None:
        """Forget what belongs to the time before a jump."""
        self.limiter.clear()
        self.dirty = False
        if self.memory is not None:
            try:
                self.memory.clear()
            except Exception as error:
                self._on_error(error)


class Publishers:
    """Makes publishers with the overridable profile of their topic; one for each topic."""

    def __init__(self, node: Node, before: Publishers | None = None) -> None:
        """
        Begin with none.

        :param before: publishers of the previous world, reused where the type is the same.
        """
        self._node = node
        self._taps = taps_of(node)
        self._publishers: dict[str, TappedPublisher] = {}
        self._before = dict(before._publishers) if before is not None else {}
        self._memories: dict[str, Any] = before._memories if before is not None else {}

    def get(
        self, message_type: type[Any], topic: str, profile: qos.Profile = qos.sensor
    ) -> TappedPublisher:
        """
        Return the publisher of a topic.

        :raises UrlabError: when the topic is taken by another message type.
        """
        found = self._publishers.get(topic)
        if found is None:
            found = self._before.get(topic)
            if found is not None and found.msg_type is message_type:
                self._publishers[topic] = found
                return found
            found = TappedPublisher(
                self._node.create_publisher(
                    message_type,
                    topic,
                    profile(),
                    qos_overriding_options=qos.overridable(self._node, topic),
                )
            )
            self._taps.add(found)
            self._publishers[topic] = found
        elif found.msg_type is not message_type:
            raise TopicTaken(topic, found.msg_type.__name__, message_type.__name__)
        return found

    def of(
        self, topic: Topic, name: str, message_type: type[Any] | None = None
    ) -> TappedPublisher:
        """
        Return the publisher of a declared topic.

        :param message_type: where it may have several.
        :raises InterfaceMissing: when the package of its type is not installed.
        :raises TopicTaken: when the topic is taken by another message type.
        """
        kind = message_type or load_interface(topic.types[0])
        return self.get(kind, name, getattr(qos, topic.profile))

    def adopt(self, names: Iterable[str]) -> None:
        """Reuse publishers of the previous world."""
        self._publishers.update((name, self._before[name]) for name in names)

    def memory(self, topic: str, make: Callable[[], MemoryT]) -> MemoryT:
        """Return the state that a topic keeps from one world to the next, made when it is new."""
        if topic not in self._memories:
            self._memories[topic] = make()
        memory: MemoryT = self._memories[topic]
        return memory

    def close(self, successor: Publishers | None = None) -> None:
        """Destroy all publishers, except those that a successor reuses."""
        kept = successor._publishers if successor is not None else {}
        for topic, publisher in self._publishers.items():
            if kept.get(topic) is not publisher:
                self._taps.discard(publisher)
                self._node.destroy_publisher(publisher.publisher)
        self._publishers.clear()


class TopicTaken(UrlabError):
    """Two things of the model would be published under one name with different types."""

    def __init__(self, topic: str, first: str, second: str) -> None:
        super().__init__(f'topic {topic!r} is already published as {first}, not also as {second}')


def join(namespace: str, topic: str) -> str:
    """Put a topic into a namespace, if there is one."""
    return f'{namespace}/{topic}' if namespace else topic


@dataclass(frozen=True)
class Observer:
    """
    Callbacks for every tick, run before messages are built, even without subscribers.

    :ivar update: takes the stamp (ns), also of an instant that was published before.
    :ivar clear: forgets what belongs to the time before a jump.
    :ivar wire: topics of the wire that it reads.
    """

    update: Callable[[int], None]
    clear: Callable[[], None]
    wire: frozenset[bytes]


@dataclass(frozen=True)
class FirstMessage:
    """A message that is published when its world begins."""

    topic: str
    publisher: TappedPublisher
    message: Any
    feature: str


@dataclass(frozen=True)
class _TopicMaker:
    """
    Makes feeds from the declarations of their topics.

    :ivar errors: what features have raised.
    :ivar notes: what could not be published, and why; features append to it.
    :ivar feeds: all that was made.
    :ivar first_messages: what is published once.
    :ivar observers: of the present feature, which appends to them.
    :ivar feature: its name.
    """

    publishers: Publishers
    settings: Settings
    errors: FeatureErrors
    notes: list[str]
    feeds: list[Feed]
    first_messages: list[FirstMessage]
    observers: list[Observer] = field(default_factory=list)
    feature: str = ''

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
        :param wire: topics of the wire that the message is made of; none: it is built each tick.
        :param subscriptions: prefixes to subscribe to in place of `wire`.
        :param message_type: for a topic that may have several types.
        :param memory: cleared when time jumps.
        :param parts: values of the other fields of the name.
        :param rate: limit (Hz) in place of that of the parameter; 0: none.
        :raises UnknownName: when the topic names a parameter that does not exist.
        :raises TopicTaken: when another feature publishes there with another type.
        """
        if not self.settings.is_on(topic.switches):
            return None
        if topic.rate:
            self.settings.value(topic.rate)
        name = topic.named(self.namespace, parts)
        publisher = self.publishers.of(topic, name, message_type)
        made = Feed(
            name,
            publisher,
            build,
            wire=wire,
            subscriptions=subscriptions,
            rate_name='' if rate else topic.rate,
            each_instant=topic.each_instant,
            memory=memory,
            on_error=partial(self.errors.add, self.feature),
        )
        made.limiter.set_rate(rate)
        self.feeds.append(made)
        return made

    def once(
        self,
        topic: Topic,
        message: Any,
        *,
        namespace: str | None = None,
        parts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """
        Publish a message when the world begins; late subscribers get it too.

        :param namespace: of the topic in place of that of the robot.
        :param parts: values of the other fields of the name.
        """
        name = topic.named(self.namespace if namespace is None else namespace, parts)
        if any(each.topic == name for each in self.first_messages):
            self.notes.append(
                f'{name!r} of {self.feature} is not published: the topic is already in use'
            )
            return
        publisher = self.publishers.of(topic, name, type(message))
        self.first_messages.append(FirstMessage(name, publisher, message, self.feature))


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
