# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""~/statistics: load and health of the bridge as numbers."""

from __future__ import annotations

from collections.abc import Iterable
import math
from typing import Any

from urlab_ros_bridge.client.stream import StreamStats
from urlab_ros_bridge.ros.compat import load_interface
from urlab_ros_bridge.ros.connection import Link
from urlab_ros_bridge.ros.convert import time_to_ros
from urlab_ros_bridge.ros.counters import Counters
from urlab_ros_bridge.ros.counters import Rates
from urlab_ros_bridge.ros.feed import Feed

BRIDGE_STATISTICS = 'urlab_msgs/msg/BridgeStatistics'
STREAM_STATISTICS = 'urlab_msgs/msg/StreamStatistics'


class FeedMeter:
    """Rate and age of every topic, from one call to the next."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, int]] = {}
        self._last: dict[str, float] = {}
        self.rates: dict[str, float] = {}
        self.ages: dict[str, float] = {}

    def measure(self, feeds: Iterable[Feed], now: float) -> None:
        """Bring `rates` (Hz) and `ages` (s, NaN before the first message) up to date."""
        before, self._before = self._before, {}
        self.rates, self.ages = {}, {}
        for feed in feeds:
            then, count = before.get(feed.topic, (now, feed.count))
            if feed.count != count or (feed.count and feed.topic not in self._last):
                self._last[feed.topic] = now
            seconds = now - then
            rate = (feed.count - count) / seconds if seconds > 0 else 0.0
            # A feed that was made anew counts from zero.
            self.rates[feed.topic] = max(0.0, rate)
            last = self._last.get(feed.topic)
            self.ages[feed.topic] = math.nan if last is None else now - last
            self._before[feed.topic] = (now, feed.count)


def statistics_to_ros(
    counters: Counters,
    source: StreamStats,
    rates: Rates,
    link: Link,
    stamp_ns: int | None,
    feeds: Iterable[Feed],
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
            name=feed.topic,
            count=feed.count,
            dropped=feed.dropped,
            rate=meter.rates.get(feed.topic, 0.0),
            age=meter.ages.get(feed.topic, math.nan),
        )
        for feed in feeds
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
