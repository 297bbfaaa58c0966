# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""All that can be recorded: the publishers and the subscriptions of a node."""

from __future__ import annotations

from collections.abc import Callable
import threading
from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription

from urlab_ros_bridge.ros.bag.taps import Now
from urlab_ros_bridge.ros.bag.taps import RecordablePublisher
from urlab_ros_bridge.ros.bag.taps import RecordedCallback
from urlab_ros_bridge.ros.bag.taps import Sink

# Full name of a topic, message class, profile -> where its messages go; None: not wanted.
FindSink = Callable[[str, Any, Any], Sink | None]


class Taps:
    """What there is to record; any thread may add and take away."""

    def __init__(self, now: Now) -> None:
        self.now = now
        self._find: FindSink | None = None
        self._publishers: list[RecordablePublisher] = []
        self._subscriptions: list[tuple[Subscription, RecordedCallback]] = []
        self._lock = threading.Lock()

    def topics(self) -> list[str]:
        """Return the full names of all topics."""
        with self._lock:
            return sorted(
                {each.topic_name for each in self._publishers}
                | {subscription.topic_name for subscription, _ in self._subscriptions}
            )

    def record(self, find: FindSink | None) -> list[str]:
        """Record into these sinks from now on, None: nothing; return the topics."""
        with self._lock:
            self._find = find
            for publisher in self._publishers:
                self._connect(publisher)
            for subscription, callback in self._subscriptions:
                self._connect_subscription(subscription, callback)
            recorded = [each.topic_name for each in self._publishers if each.recorded]
            recorded += [
                each.topic_name
                for each, callback in self._subscriptions
                if callback.sink is not None
            ]
        return sorted(set(recorded))

    def latched(self) -> list[tuple[Sink, Any]]:
        """
        Return the latched messages that are true at all times, with where they go.

        Those that report a time are published again for a new subscriber, which a bag is.
        """
        with self._lock:
            return [
                (publisher.sink, publisher.latest)
                for publisher in self._publishers
                if publisher.sink is not None
                and publisher.latest is not None
                and publisher.sink.timeless(publisher.latest)
            ]

    def add(self, publisher: RecordablePublisher) -> None:
        """Take a publisher in."""
        with self._lock:
            self._publishers.append(publisher)
            self._connect(publisher)

    def add_subscription(self, subscription: Subscription, callback: RecordedCallback) -> None:
        """Take a subscription in."""
        with self._lock:
            self._subscriptions.append((subscription, callback))
            self._connect_subscription(subscription, callback)

    def discard(self, entity: Publisher | Subscription) -> None:
        """Forget a publisher or a subscription that is about to be destroyed."""
        with self._lock:
            self._publishers = [each for each in self._publishers if each is not entity]
            self._subscriptions = [pair for pair in self._subscriptions if pair[0] is not entity]

    def _connect(self, publisher: RecordablePublisher) -> None:
        publisher.record(self._sink(publisher))

    def _connect_subscription(
        self, subscription: Subscription, callback: RecordedCallback
    ) -> None:
        callback.sink = self._sink(subscription)

    def _sink(self, entity: Publisher | Subscription) -> Sink | None:
        if self._find is None:
            return None
        return self._find(entity.topic_name, entity.msg_type, entity.qos_profile)


class RecordableNode(Node):
    """
    A node whose topics can be recorded.

    :ivar taps: set it before anything that is to be recorded is made.
    """

    taps: Taps | None = None

    def create_publisher(self, *args: Any, **options: Any) -> Publisher:
        """Make a publisher that can be recorded."""
        if self.taps is None:
            return super().create_publisher(*args, **options)
        options['publisher_class'] = RecordablePublisher
        publisher = super().create_publisher(*args, **options)
        if isinstance(publisher, RecordablePublisher):
            self.taps.add(publisher)
        return publisher

    def destroy_publisher(self, publisher: Publisher) -> bool:
        """Destroy a publisher."""
        if self.taps is not None:
            self.taps.discard(publisher)
        return super().destroy_publisher(publisher)

    def create_subscription(
        self,
        msg_type: Any,
        topic: str,
        callback: Callable[..., None],
        *args: Any,
        **options: Any,
    ) -> Subscription:
        """Make a subscription that can be recorded."""
        if self.taps is None:
            return super().create_subscription(msg_type, topic, callback, *args, **options)
        callback = RecordedCallback(callback, self.taps.now)
        subscription = super().create_subscription(msg_type, topic, callback, *args, **options)
        self.taps.add_subscription(subscription, callback)
        return subscription

    def destroy_subscription(self, subscription: Subscription) -> bool:
        """Destroy a subscription."""
        if self.taps is not None:
            self.taps.discard(subscription)
        return super().destroy_subscription(subscription)


__all__ = ['FindSink', 'RecordableNode', 'Taps']
