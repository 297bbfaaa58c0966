# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The topics of a node that can be recorded: its factories of publishers and subscriptions wrap them.

A bag gets the bytes that are published.  A message that is not serialised yet is serialised once,
for bag and middleware.
"""

from __future__ import annotations

from collections.abc import Callable
import inspect
import threading
from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy
from rclpy.serialization import serialize_message
from rclpy.subscription import Subscription

from urlab_ros_bridge.ros.extras.bag.metadata import BagTopic
from urlab_ros_bridge.ros.messages.stamps import stamp_reader
from urlab_ros_bridge.ros.rclpy_tools.message_info import message_in

# An image may be so far ahead of the last published tick; a stamp further ahead is from before a
# reset.
MAX_AHEAD_NS = 200_000_000

Put = Callable[[BagTopic, int, bytes], None]
# Returns the time of the tick that is being published, None before the first.
Now = Callable[[], int | None]


class Sink:
    """The part of a bag that takes the messages of one topic."""

    def __init__(self, topic: BagTopic, message_type: type[Any], put: Put, now: Now) -> None:
        self.topic = topic
        self._stamp_of = stamp_reader(message_type)
        self._put = put
        self._now = now

    def add(self, message: Any) -> bytes:
        """Record a message at its own stamp, or else at that of the tick; return its bytes."""
        data = as_bytes(message)
        now = self._now()
        if now is not None:
            stamp = self._stamp_of(data)
            self._put(self.topic, stamp if 0 < stamp <= now + MAX_AHEAD_NS else now, data)
        return data

    def add_received(self, message: Any) -> None:
        """Record a message at the time of the tick: its own stamp is by the sender's clock."""
        now = self._now()
        if now is not None:
            self.add_at(message, now)

    def add_at(self, message: Any, stamp_ns: int) -> None:
        """Record a message at a given time."""
        self._put(self.topic, stamp_ns, as_bytes(message))

    def has_stamp(self, message: Any) -> bool:
        """Return whether a message has a stamp other than zero."""
        return self._stamp_of(as_bytes(message)) != 0


FindSink = Callable[[str, Any, Any], Sink | None]
Endpoint = Publisher | Subscription


class RecordablePublisher:
    """
    A publisher of rclpy, with the methods that the bridge uses.

    A recorder counts as a subscriber.

    :ivar sink: records every message; None while the topic is not recorded.
    :ivar latest: the last message of a latched topic; None before it and for all others.
    """

    def __init__(self, publisher: Publisher) -> None:
        self.publisher = publisher
        self.topic_name: str = publisher.topic_name
        self.msg_type = publisher.msg_type
        self.qos_profile = publisher.qos_profile
        self.sink: Sink | None = None
        self.latest: Any = None
        self._publish = publisher.publish
        self._latched = self.qos_profile.durability is DurabilityPolicy.TRANSIENT_LOCAL

    def publish(self, message: Any) -> None:
        """Publish a message, as an object or as serialised bytes."""
        if self._latched:
            self.latest = message
        sink = self.sink
        self._publish(message if sink is None else sink.add(message))

    def get_subscription_count(self) -> int:
        """Return the number of subscribers, including a recorder."""
        return self.publisher.get_subscription_count() + (self.sink is not None)


class RecordableCallback:
    """
    The callback of a subscription.

    :ivar sink: records every message; None while the topic is not recorded.
    """

    def __init__(self, callback: Callable[..., None]) -> None:
        self.sink: Sink | None = None
        # By the signature rclpy decides whether to pass the info of a message.
        self.__signature__ = inspect.signature(callback)
        self._callback = callback

    def __call__(self, *arguments: Any) -> None:
        if self.sink is not None:
            self.sink.add_received(message_in(arguments))
        self._callback(*arguments)


class RecordableTopics:
    """All publishers and subscriptions that can be recorded; for any thread."""

    def __init__(self, now: Now) -> None:
        self.now = now
        self._find_sink: FindSink | None = None
        self._entries: dict[Endpoint, RecordablePublisher | RecordableCallback] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Return the full names of all topics."""
        with self._lock:
            return sorted({endpoint.topic_name for endpoint in self._entries})

    def record(self, find_sink: FindSink | None) -> list[str]:
        """
        Record every topic that has a sink; return the names of these topics.

        :param find_sink: name, type and QoS profile of a topic -> its sink; None: record nothing.
        """
        with self._lock:
            self._find_sink = find_sink
            for endpoint in self._entries:
                self._set_sink(endpoint)
            entries = self._entries.items()
            return sorted({each.topic_name for each, entry in entries if entry.sink is not None})

    def latched(self) -> list[tuple[Sink, Any]]:
        """
        Return the last messages of recorded latched topics, with their sinks.

        Messages with a stamp are left out: they are published again for a new subscriber, and a
        bag counts as one.
        """
        with self._lock:
            return [
                (entry.sink, entry.latest)
                for entry in self._entries.values()
                if isinstance(entry, RecordablePublisher)
                and entry.sink is not None
                and entry.latest is not None
                and not entry.sink.has_stamp(entry.latest)
            ]

    def add(self, endpoint: Endpoint, entry: RecordablePublisher | RecordableCallback) -> None:
        """Add a publisher or a subscription."""
        with self._lock:
            self._entries[endpoint] = entry
            self._set_sink(endpoint)

    def discard(self, endpoint: Endpoint) -> None:
        """Remove a publisher or a subscription before it is destroyed."""
        with self._lock:
            self._entries.pop(endpoint, None)

    def _set_sink(self, endpoint: Endpoint) -> None:
        find, sink = self._find_sink, None
        if find is not None:
            sink = find(endpoint.topic_name, endpoint.msg_type, endpoint.qos_profile)
        self._entries[endpoint].sink = sink


class RecordableNode(Node):
    """
    A node whose topics can be recorded.

    :ivar topics: set it before you create publishers and subscriptions that can be recorded.
    """

    topics: RecordableTopics | None = None

    def create_publisher(self, *args: Any, **options: Any) -> Any:
        """Create a publisher that can be recorded."""
        publisher = super().create_publisher(*args, **options)
        if self.topics is None:  # those that every node has
            return publisher
        recordable = RecordablePublisher(publisher)
        self.topics.add(publisher, recordable)
        return recordable

    def destroy_publisher(self, publisher: Publisher | RecordablePublisher) -> bool:
        """Destroy a publisher."""
        if isinstance(publisher, RecordablePublisher):
            publisher = publisher.publisher
        if self.topics is not None:
            self.topics.discard(publisher)
        return super().destroy_publisher(publisher)

    def create_subscription(
        self,
        msg_type: Any,
        topic: str,
        callback: Callable[..., None],
        *args: Any,
        **options: Any,
    ) -> Subscription:
        """Create a subscription that can be recorded."""
        if self.topics is None:
            return super().create_subscription(msg_type, topic, callback, *args, **options)
        recordable = RecordableCallback(callback)
        subscription = super().create_subscription(msg_type, topic, recordable, *args, **options)
        self.topics.add(subscription, recordable)
        return subscription

    def destroy_subscription(self, subscription: Subscription) -> bool:
        """Destroy a subscription."""
        if self.topics is not None:
            self.topics.discard(subscription)
        return super().destroy_subscription(subscription)


def as_bytes(message: Any) -> bytes:
    """Return a message in its serialised form."""
    return message if isinstance(message, bytes) else serialize_message(message)
