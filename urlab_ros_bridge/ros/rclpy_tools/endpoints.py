# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Publishers and subscriptions of a node that other threads make and destroy."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from typing import TypeVar

from rclpy.exceptions import InvalidHandle
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription

Endpoint = TypeVar('Endpoint', Publisher, Subscription)


def with_topics(endpoints: Iterable[Endpoint]) -> Iterator[tuple[Endpoint, str]]:
    """Yield each with its topic (resolved name), without those that have just been destroyed."""
    for each in list(endpoints):
        try:
            topic = each.topic_name
        except InvalidHandle:
            continue
        yield each, topic
