# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Publishers and subscriptions that can be recorded.

The bag gets the very bytes that are published; a message that is not bytes yet is serialised once,
for both.  Only publishers that are recorded at the time pay for it.
"""

from __future__ import annotations

from collections.abc import Callable
import inspect
from typing import Any

from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy
from rclpy.serialization import serialize_message

from urlab_ros_bridge.ros.bag.storage.topic import BagTopic
from urlab_ros_bridge.ros.messages.bag_stamps import stamp_reader
from urlab_ros_bridge.ros.rclpy_tools.message_info import message_in

# A picture may be so far ahead of the tick that was published last; what is further ahead is of
# the time before a reset.
AHEAD_NS = 200_000_000

Put = Callable[[BagTopic, int, bytes], None]
# Returns the time of the tick that is being published, None before the first.
Now = Callable[[], int | None]


class Sink:
    """Where the messages of one topic go while it is recorded."""

    def __init__(self, topic: BagTopic, message_type: type[Any], put: Put, now: Now) -> None:
        self.topic = topic
        self._stamp_of = stamp_reader(message_type)
        self._put = put
        self._now = now

    def take(self, message: Any) -> bytes:
        """Record a message at its own stamp, or else at that of the tick; return its bytes."""
        data = as_bytes(message)
        now = self._now()
        if now is not None:
            stamp = self._stamp_of(data)
            self._put(self.topic, stamp if 0 < stamp <= now + AHEAD_NS else now, data)
        return data

    def take_at(self, message: Any, stamp_ns: int) -> None:
        """Record a message at another time than its own: a command when it was heard."""
        self._put(self.topic, stamp_ns, as_bytes(message))

    def timeless(self, message: Any) -> bool:
        """Return whether a message says nothing about when it is true."""
        return self._stamp_of(as_bytes(message)) == 0


class RecordablePublisher(Publisher):
    """
    A publisher that a recorder counts as a subscriber of.

    :ivar latest: the last message of a latched topic, None before it and for all others.
    :ivar sink: where its messages go, None while it is not recorded; change it with `record`.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.latest: Any = None
        self.sink: Sink | None = None
        self._latched = self.qos_profile.durability is DurabilityPolicy.TRANSIENT_LOCAL
        self.record(None)

    def record(self, sink: Sink | None) -> None:
        """Record every message from now on; None: none."""
        self.sink = sink
        # The method of this object alone is exchanged, so that publishing costs nothing more
        # while nothing is recorded.
        vars(self).pop('publish', None)
        if sink is not None or self._latched:
            vars(self)['publish'] = self._publish_noted

    @property
    def recorded(self) -> bool:
        """Return whether it is recorded now."""
        return self.sink is not None

    def get_subscription_count(self) -> int:
        """Return how many listen, the recorder among them."""
        return super().get_subscription_count() + (self.sink is not None)

    def note(self, message: Any) -> Any:
        """Record a message that is about to be published in another way; return it to publish."""
        if self._latched:
            self.latest = message
        sink = self.sink
        return message if sink is None else sink.take(message)

    def _publish_noted(self, message: Any) -> None:
        super().publish(self.note(message))


class RecordedCallback:
    """The callback of a subscription that can be recorded."""

    def __init__(self, callback: Callable[..., None], now: Now) -> None:
        self.sink: Sink | None = None
        # rclpy looks at it to see whether the callback wants the info of a message.
        self.__signature__ = inspect.signature(callback)
        self._callback = callback
        self._now = now

    def __call__(self, *arguments: Any) -> None:
        if self.sink is not None:
            self._record(self.sink, message_in(arguments))
        self._callback(*arguments)

    def _record(self, sink: Sink, message: Any) -> None:
        now = self._now()
        if now is not None:
            sink.take_at(message, now)


def as_bytes(message: Any) -> bytes:
    """Return a message as it is serialised."""
    return message if isinstance(message, bytes) else serialize_message(message)


__all__ = ['AHEAD_NS', 'RecordablePublisher', 'RecordedCallback', 'Sink', 'as_bytes']
