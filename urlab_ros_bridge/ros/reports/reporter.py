# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Once a second: /diagnostics, ~/statistics, the log, and the figures for `urlab up`."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import json
import os
import select

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.feed import Feed
from urlab_ros_bridge.ros.features.feed import Publishers
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.counters import RateMeter
from urlab_ros_bridge.ros.link.counters import Rates
from urlab_ros_bridge.ros.link.current_world import CurrentWorld
from urlab_ros_bridge.ros.link.link_state import Phase
from urlab_ros_bridge.ros.link.link_state import RUNNING
from urlab_ros_bridge.ros.link.stream import StreamThread
from urlab_ros_bridge.ros.reports.diagnostics import connection_status
from urlab_ros_bridge.ros.reports.diagnostics import diagnostics_to_ros
from urlab_ros_bridge.ros.reports.diagnostics import feature_status
from urlab_ros_bridge.ros.reports.diagnostics import stream_status
from urlab_ros_bridge.ros.reports.diagnostics import topic_statuses
from urlab_ros_bridge.ros.reports.statistics import BRIDGE_STATISTICS
from urlab_ros_bridge.ros.reports.statistics import FeedMeter
from urlab_ros_bridge.ros.reports.statistics import statistics_to_ros

DIAGNOSTICS = Topic(
    '/diagnostics',
    ('diagnostic_msgs/msg/DiagnosticArray',),
    'report',
    timing='1 Hz of wall time',
)
# Characters; each has up to six bytes in JSON, and a line at most PIPE_BUF bytes (4096).
_LONGEST_STATE = 500
STATISTICS = Topic('~/statistics', (BRIDGE_STATISTICS,), 'report', timing='1 Hz of wall time')


class Reporter(Part):
    """Runs in the stream thread, so that its stamps belong to the same timeline as all others."""

    def __init__(self, bridge: Bridge) -> None:
        """
        Make the publishers.

        :raises InterfaceMissing: without urlab_msgs.
        """
        node = bridge.node
        self._name = node.get_fully_qualified_name().lstrip('/')
        self._bridge = bridge
        self._stream = bridge.part(StreamThread)
        self._link = bridge.part(ServerLink)
        self._world = bridge.part(CurrentWorld)
        self._log = bridge.log
        self._status_fd = bridge.status_fd
        self._meter = RateMeter()
        self._feeds = FeedMeter()
        self._dropped = 0
        self._logged = self._suspected = ''
        self._was_connected = False
        self._has_wall_stamps = False
        publishers = Publishers(node)
        self._diagnostics = publishers.of(DIAGNOSTICS, DIAGNOSTICS.name)
        self._statistics = publishers.of(STATISTICS, STATISTICS.name)

    def every_second(self, now: float) -> None:
        """
        Publish all reports.

        :param now: monotonic time.
        """
        stream, link = self._stream, self._link
        rates = self._meter.measure(stream.counters, now)
        topics = self._world.topics
        feeds = topics.feeds if topics else []
        dropped = stream.source.stats.dropped_ticks
        for feed in feeds:
            feed.dropped += feed.has_subscribers * (dropped - self._dropped)
        self._dropped = dropped
        self._feeds.measure(feeds, now)
        stamp = stream.timeline.stamp_ns
        self._log_connection()
        self._log_clock(stream.counters.closed_by)
        self._write_status(rates)
        if self._statistics.get_subscription_count():
            self._statistics.publish(
                statistics_to_ros(
                    stream.counters, stream.source.stats, rates, link, stamp, self._feeds
                )
            )
        if self._diagnostics.get_subscription_count():
            statuses = self._statuses(rates, feeds)
            self._diagnostics.publish(diagnostics_to_ros(stamp, statuses))

    def _statuses(self, rates: Rates, feeds: Sequence[Feed]) -> list[DiagnosticStatus]:
        stream, link, topics = self._stream, self._link, self._world.topics
        return [
            connection_status(self._name, link, rates, topics.notes if topics else ()),
            stream_status(self._name, stream.counters, stream.source.stats, rates, stream.silence),
            *self._feature_statuses(),
            *topic_statuses(self._name, feeds, self._feeds),
        ]

    def _feature_statuses(self) -> Iterator[DiagnosticStatus]:
        """Yield the entries of features, except those that no message can hold."""
        for given in self._bridge.statuses():
            with self._bridge.errors.caught(given.name):
                yield feature_status(self._name, given)

    def _log_connection(self) -> None:
        """Log the state of the connection, once a change; the link logs that it was made."""
        state = self._link.state
        if state.phase is Phase.REFUSED or (state.phase is Phase.PREPARING and not state.problem):
            return
        well, text = self._link.describe()
        if text == self._logged:
            self._suspected = ''
            return
        if state.connected and not well and text != self._suspected:
            self._suspected = text  # a machine that stalls for a moment is not worth a line
            return
        expected = text == RUNNING and not self._was_connected
        self._logged, self._was_connected = text, state.connected
        if not expected:
            self._log('info' if well else 'warning', text)

    def _log_clock(self, closed_by: str) -> None:
        """Log when stamps become wall time, and when they are simulation time again."""
        if not closed_by or self._has_wall_stamps == (closed_by == 'wall'):
            return
        self._has_wall_stamps = closed_by == 'wall'
        if self._has_wall_stamps:
            text = 'the server does not report simulation time: stamps are wall time now'
            self._log('warning', text)
        else:
            self._log('info', f'stamps are simulation time again, from {closed_by}')

    def _write_status(self, rates: Rates) -> None:
        if self._status_fd is None:
            return
        _, text = self._link.describe()
        line = json.dumps(
            {
                'messages_per_s': round(rates.message_rate, 1),
                'ticks_per_s': round(rates.tick_rate, 1),
                'connected': self._link.state.connected,
                'state': text[:_LONGEST_STATE],
            }
        )
        try:
            offer_line(self._status_fd, line)
        except OSError:
            # The reader has ended.
            self._status_fd = None


def offer_line(descriptor: int, line: str) -> bool:
    """
    Write a line, unless its reader is stuck, as `urlab up` is under Ctrl-Z; return whether it was.

    :param line: at most `select.PIPE_BUF` bytes with its end: a pipe with room takes so many.
    :raises OSError: when the reader has ended.
    """
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    has_room = bool(poll.poll(0))
    if has_room:
        os.write(descriptor, f'{line}\n'.encode())
    return has_room


def log_to(node: Node) -> Callable[[str, str], None]:
    """Return a function that logs a text with a severity (info, warning, error) as the node."""
    logger = node.get_logger()

    def log(severity: str, text: str) -> None:
        # rclpy wants one call site for each severity.
        if severity == 'warning':
            logger.warning(text)
        elif severity == 'error':
            logger.error(text)
        else:
            logger.info(text)

    return log


FEATURE = Feature('reports', topics=(DIAGNOSTICS, STATISTICS), attach=Reporter)
