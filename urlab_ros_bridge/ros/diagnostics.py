# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""/diagnostics: one status for the connection, the clock, the commands, and each topic."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.msg import DiagnosticStatus
from diagnostic_msgs.msg import KeyValue

from urlab_ros_bridge.client.stream import StreamStats
from urlab_ros_bridge.ros.bag.recorder import BagReport
from urlab_ros_bridge.ros.connection import Link
from urlab_ros_bridge.ros.convert import header_to_ros
from urlab_ros_bridge.ros.counters import Counters
from urlab_ros_bridge.ros.counters import Rates
from urlab_ros_bridge.ros.feed import Feed
from urlab_ros_bridge.ros.link_state import describe
from urlab_ros_bridge.ros.refusals import Refusals
from urlab_ros_bridge.ros.statistics import FeedMeter

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR

_CLOCK_TEXTS = {
    'sim_time': (OK, 'simulation time from the row sim_time'),
    'state_full': (OK, 'simulation time from state/full'),
    'wall': (WARN, 'the server tells no simulation time: stamps are wall time'),
    '': (WARN, 'no tick yet'),
}


def status(
    node: str, name: str, level: bytes, message: str, values: Mapping[str, Any]
) -> DiagnosticStatus:
    """Return one status; values become text."""
    pairs = [
        KeyValue(key=key, value=f'{value:.6g}' if isinstance(value, float) else str(value))
        for key, value in values.items()
    ]
    return DiagnosticStatus(
        name=f'{node}: {name}', level=level, message=message, hardware_id='urlab', values=pairs
    )


def connection_status(
    node: str, link: Link, silence: float, rates: Rates, notes: Iterable[str]
) -> DiagnosticStatus:
    """Say in words how the connection is, and what to do about it."""
    state = link.state
    well, text = describe(state, silence)
    level = OK if well else WARN if state.connected else ERROR
    values: dict[str, Any] = {
        'endpoint': state.endpoint,
        'state endpoint': state.state_endpoint,
        'phase': state.phase.value,
        'mode': state.mode or 'not known',
        'paused': 'not known' if state.paused is None else state.paused,
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


def command_status(node: str, refusals: Refusals, sent: int) -> DiagnosticStatus:
    """Report on commands that were not carried out."""
    refused = sum(refusals.counts.values())
    values: dict[str, Any] = {'sent': sent, 'refused': refused}
    for topic, count in refusals.counts.items():
        values[f'{topic} refused'] = count
        values[f'{topic} last reason'] = refusals.last[topic]
    text = f'{refused} commands were refused' if refused else 'no command was refused'
    return status(node, 'commands', OK, text, values)


def control_status(
    node: str, stopped: str, sources: Mapping[str, str], takeovers: int
) -> DiagnosticStatus:
    """Report on who is in control of each robot."""
    values: dict[str, Any] = {f'{robot} follows': text for robot, text in sources.items()}
    values['takeovers'] = takeovers
    text = stopped or '; '.join(f'{robot}: {text}' for robot, text in sources.items())
    return status(node, 'control', WARN if stopped else OK, text or 'no robots', values)


def lockstep_status(
    node: str, well: bool, text: str, values: Mapping[str, Any]
) -> DiagnosticStatus:
    """Report on lockstep: whom it waits for, and how fast it is."""
    return status(node, 'lockstep', OK if well else WARN, text, values)


def bag_status(node: str, report: BagReport | None) -> DiagnosticStatus:
    """Report on the bag that is recorded, if there is one."""
    if report is None:
        return status(node, 'bag', OK, 'nothing is recorded', {})
    level, text = OK, f'recording {report.path}'
    if report.problem:
        level, text = ERROR, report.problem
    elif report.waits:
        level, text = WARN, f'{text}; the disk is too slow, publishing waits for it'
    return status(
        node,
        'bag',
        level,
        text,
        {
            'path': report.path,
            'messages': report.messages,
            'bytes': report.bytes,
            'files': report.files,
            'waits for the disk': report.waits,
            'waited (s)': report.waited,
        },
    )


def feed_status(node: str, feed: Feed, meter: FeedMeter) -> DiagnosticStatus:
    """Report on one topic."""
    if feed.last_error:
        level, text = WARN, f'{feed.errors} errors, the last: {feed.last_error}'
    elif not feed.wanted:
        level, text = OK, 'nobody listens'
    else:
        level, text = OK, 'publishing'
    return status(
        node,
        feed.topic,
        level,
        text,
        {
            'rate (Hz)': meter.rates.get(feed.topic, 0.0),
            'messages': feed.count,
            'age (s)': meter.ages.get(feed.topic, float('nan')),
            'drops': feed.dropped,
            'decode errors': feed.errors,
            'last error': feed.last_error,
        },
    )


def diagnostics_to_ros(stamp_ns: int | None, statuses: list[DiagnosticStatus]) -> DiagnosticArray:
    """Return the message; its stamp is simulation time like every other."""
    return DiagnosticArray(header=header_to_ros(stamp_ns or 0, ''), status=statuses)
