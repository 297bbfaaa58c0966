# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""~/statistics: load and health of the bridge as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
import math
from typing import Any

from urlab_ros_bridge.client.state.stream import StreamStats
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.counters import Counters
from urlab_ros_bridge.ros.link.counters import Rates
from urlab_ros_bridge.ros.messages.base import time_to_ros
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

BRIDGE_STATISTICS = 'urlab_msgs/msg/BridgeStatistics'
STREAM_STATISTICS = 'urlab_msgs/msg/StreamStatistics'


@dataclass(frozen=True)
class Stream:
    """
    One topic in figures, also where several feeds publish on it, as on /tf.

    :ivar rate: Hz since the measurement before.
    :ivar age: s since the last message, NaN before the first.
    """

    count: int = 0
    dropped: int = 0
    rate: float = 0.0
    age: float = math.nan


class FeedMeter:
    """
    Rate and age of every topic, from one call to the next.

    :ivar streams: by the full name of the topic.
    """

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, int]] = {}
        self._last: dict[str, float] = {}
        self.streams: dict[str, Stream] = {}

    def measure(self, feeds: Iterable[Feed], now: float) -> None:
        """Bring `streams` up to date; `now` is a monotonic time (s)."""
        counts, dropped = Counter[str](), Counter[str]()
        for feed in feeds:
            counts[feed.publisher.topic_name] += feed.count
            dropped[feed.publisher.topic_name] += feed.dropped
        before, self._before, self.streams = self._before, {}, {}
        for name, count in counts.items():
            then, last_count = before.get(name, (now, count))
            if count != last_count or (count and name not in self._last):
                self._last[name] = now
            # A remade feed counts from zero.
            rate = max(0.0, (count - last_count) / (now - then)) if now > then else 0.0
            age = now - self._last.get(name, math.nan)
            self.streams[name] = Stream(count, dropped[name], rate, age)
            self._before[name] = (now, count)


def statistics_to_ros(
    counters: Counters,
    source: StreamStats,
    rates: Rates,
    link: ServerLink,
    stamp_ns: int | None,
    meter: FeedMeter,
) -> Any:
    """
    Return the message.

    :raises InterfaceMissing: without urlab_msgs.
    """
    state = link.state
    stream_type = load_interface(STREAM_STATISTICS)
    streams = [
        stream_type(
            name=name,
            count=stream.count,
            dropped=stream.dropped,
            rate=stream.rate,
            age=stream.age,
        )
        for name, stream in meter.streams.items()
    ]
    return load_interface(BRIDGE_STATISTICS)(
        sim_time=time_to_ros(stamp_ns or 0),
        real_time_factor=rates.real_time_factor,
        server_mode=state.mode,
        paused=bool(state.paused),
        connected=state.connected,
        tick_rate=rates.tick_rate,
        message_rate=rates.message_rate,
        ticks=counters.ticks,
        messages=counters.messages,
        ticks_dropped=source.dropped_ticks + source.torn_ticks,
        decode_errors=counters.decode_errors + source.decode_errors,
        latency_p50=rates.latency_p50,
        latency_p99=rates.latency_p99,
        reconnects=link.reconnects,
        streams=streams,
    )
