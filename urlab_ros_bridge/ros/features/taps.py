# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Taps: where a recorder gets the messages of the bridge, without DDS in between.

`Publishers` and the subscriptions of commands have one each.  A recorder gives a sink to those
whose topics it records.
"""

from __future__ import annotations

from collections.abc import Callable
import threading
from typing import Any
from typing import Protocol

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy
from rclpy.subscription import Subscription


class Sink(Protocol):
    """The part of a recorder that takes the messages of one topic, as objects or serialised."""

    def add(self, message: Any) -> bytes:
        """Record a published message, and return its bytes."""

    def add_received(self, message: Any) -> None:
        """Record a received message."""


# Name, type and QoS profile of a topic -> its sink, None to leave it out.
FindSink = Callable[[str, Any, Any], Sink | None]


class Tap:
    """
    The tap of a publisher or a subscription.

    :ivar sink: records every message; None while the topic is not recorded.
    """

    sink: Sink | None = None

    def __init__(self, endpoint: Publisher | Subscription) -> None:
        self.topic_name: str = endpoint.topic_name
        self.msg_type: Any = endpoint.msg_type
        self.qos_profile = endpoint.qos_profile


class TappedPublisher(Tap):
    """
    A publisher of rclpy, with the methods that the bridge uses; a recorder is a subscriber.

    :ivar latest: the last message of a latched topic; None before it and for all others.
    """

    def __init__(self, publisher: Publisher) -> None:
        super().__init__(publisher)
        self.publisher = publisher
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


class Taps:
    """The taps of a node; for any thread."""

    def __init__(self) -> None:
        self._taps: list[Tap] = []
        self._find_sink: FindSink | None = None
        self._lock = threading.Lock()

    def add(self, tap: Tap) -> None:
        """Add the tap of a new publisher or subscription."""
        with self._lock:
            self._taps.append(tap)
            self._set_sink(tap)

    def discard(self, tap: Tap) -> None:
        """Remove the tap of a publisher or subscription before that is destroyed."""
        with self._lock:
            if tap in self._taps:
                self._taps.remove(tap)

    def names(self) -> list[str]:
        """Return the full names of all topics."""
        with self._lock:
            return sorted({tap.topic_name for tap in self._taps})

    def record(self, find_sink: FindSink | None) -> list[str]:
        """
        Record every topic that has a sink, from now on; return the names of these topics.

        :param find_sink: returns the sink of a topic; None: record nothing.
        """
        with self._lock:
            self._find_sink = find_sink
            for tap in self._taps:
                self._set_sink(tap)
            return sorted({tap.topic_name for tap in self._taps if tap.sink is not None})

    def latched(self) -> list[tuple[Sink, Any]]:
        """Return the last messages of recorded latched topics, with their sinks."""
        with self._lock:
            return [
                (tap.sink, tap.latest)
                for tap in self._taps
                if isinstance(tap, TappedPublisher)
                and tap.sink is not None
                and tap.latest is not None
            ]

    def _set_sink(self, tap: Tap) -> None:
        find = self._find_sink
        tap.sink = find and find(tap.topic_name, tap.msg_type, tap.qos_profile)


def taps_of(node: Node) -> Taps:
    """Return the taps of a node: those of the bridge, or for other nodes some that nobody uses."""
    found: Taps = getattr(node, 'taps', None) or Taps()
    return found
