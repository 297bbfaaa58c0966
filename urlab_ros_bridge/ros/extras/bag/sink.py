# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What a bag puts into the tap of a topic.

A bag gets the bytes that are published.  A message that is not serialised yet is serialised once,
for bag and middleware.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.serialization import serialize_message

from urlab_ros_bridge.ros.extras.bag.metadata import BagTopic
from urlab_ros_bridge.ros.messages.stamps import stamp_reader

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


def as_bytes(message: Any) -> bytes:
    """Return a message in its serialised form."""
    return message if isinstance(message, bytes) else serialize_message(message)
