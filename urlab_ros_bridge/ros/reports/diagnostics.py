# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""/diagnostics: one status for the connection, the clock, the commands, and each topic."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import math
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.msg import DiagnosticStatus
from diagnostic_msgs.msg import KeyValue

from urlab_ros_bridge.client.state.stream import StreamStats
from urlab_ros_bridge.ros.features.feature import Status
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.counters import Counters
from urlab_ros_bridge.ros.link.counters import Rates
from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.reports.statistics import FeedMeter
from urlab_ros_bridge.ros.reports.statistics import Stream
from urlab_ros_bridge.wire.errors import count_of

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR

_LEVELS = {'ok': OK, 'warning': WARN, 'error': ERROR}
_CLOCK_TEXTS = {
    'sim_time': (OK, 'simulation time from the row sim_time'),
    'state_full': (OK, 'simulation time from state/full'),
    'wall': (WARN, 'the server does not report simulation time: stamps are wall time'),
    '': (WARN, 'no tick yet'),
}


def value_text(value: object) -> str:
    """
    Return a value as /diagnostics shows it.

    >>> value_text(False), value_text(0.1 + 0.2), value_text(3), value_text(math.nan)
    ('no', '0.3', '3', 'unknown')
    """
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    if isinstance(value, float) and math.isnan(value):
        return 'unknown'
    return f'{value:.6g}' if isinstance(value, float) else str(value)


def status(
    node: str, name: str, level: bytes, message: str, values: Mapping[str, Any]
) -> DiagnosticStatus:
    """Return one status; values become text."""
    pairs = [KeyValue(key=key, value=value_text(value)) for key, value in values.items()]
    return DiagnosticStatus(
        name=f'{node}: {name}', level=level, message=message, hardware_id='urlab', values=pairs
    )


def connection_status(
    node: str, link: ServerLink, rates: Rates, notes: Iterable[str]
) -> DiagnosticStatus:
    """Return the state of the connection as text, and what to do about it."""
    state = link.state
    well, text = link.describe()
    level = OK if well else WARN if state.connected else ERROR
    values: dict[str, Any] = {
        'endpoint': state.endpoint,
        'state endpoint': state.state_endpoint,
        'phase': state.phase.value,
        'mode': state.mode or 'unknown',
        'paused': 'unknown' if state.paused is None else state.paused,
        'real time factor': rates.real_time_factor,
        'reconnects': link.reconnects,
        'last error': state.problem,
    }
    values |= {f'note {number}': note for number, note in enumerate(notes, 1)}
    return status(node, 'connection', level, text, values)


def stream_status(
    node: str, counters: Counters, source: StreamStats, rates: Rates, silence: float
) -> DiagnosticStatus:
    """Report on the state stream and the source of time."""
    level, text = _CLOCK_TEXTS[counters.closed_by]
    errors = counters.decode_errors + source.decode_errors
    return status(
        node,
        'state stream',
        level,
        text,
        {
            'clock source': counters.closed_by or 'none',
            'ticks per s': rates.tick_rate,
            'ticks': counters.ticks,
            'age of the last tick (s)': silence,
            'dropped ticks': source.dropped_ticks,
            'torn ticks': source.torn_ticks,
            'decode errors': errors,
            'last error': counters.last_error,
            'latency p50 (ms)': rates.latency_p50 * 1e3,
            'latency p99 (ms)': rates.latency_p99 * 1e3,
        },
    )


def feature_status(node: str, given: Status) -> DiagnosticStatus:
    """Report on a feature, as it says itself."""
    return status(node, given.name, _LEVELS[given.level], given.text, given.values)


def topic_statuses(
    node: str, feeds: Iterable[Feed], meter: FeedMeter
) -> Iterator[DiagnosticStatus]:
    """Report on each topic once, also where several feeds publish on it, as on /tf."""
    topics: dict[str, list[Feed]] = {}
    for feed in feeds:
        topics.setdefault(feed.publisher.topic_name, []).append(feed)
    for name, members in topics.items():
        yield _topic_status(node, name, members, meter.streams.get(name, Stream()))


def _topic_status(node: str, name: str, feeds: Sequence[Feed], stream: Stream) -> DiagnosticStatus:
    errors = sum(feed.errors for feed in feeds)
    last_error = next((feed.last_error for feed in feeds if feed.last_error), '')
    if last_error:
        level, text = WARN, f'{count_of(errors, "error")}, the last: {last_error}'
    elif not any(feed.has_subscribers for feed in feeds):
        level, text = OK, 'no subscribers'
    else:
        level, text = OK, 'publishing'
    return status(
        node,
        name,
        level,
        text,
        {
            'rate (Hz)': stream.rate,
            'messages': stream.count,
            'age (s)': stream.age,
            'drops': stream.dropped,
            'errors': errors,
            'last error': last_error,
        },
    )


def diagnostics_to_ros(stamp_ns: int | None, statuses: list[DiagnosticStatus]) -> DiagnosticArray:
    """Return the message; its stamp is simulation time like every other."""
    return DiagnosticArray(header=header_to_ros(stamp_ns or 0, ''), status=statuses)
