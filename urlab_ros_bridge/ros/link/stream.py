# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The stream thread: it receives ticks, and nothing else publishes.

A tick is what the server reports about one instant.  The thread publishes its time on /clock, then
each topic that has subscribers (`link.world`), and then calls the parts of all features.  Other
threads hand over what they want to publish (`Bridge.run_in_stream`).  So nothing from before a
jump of time can follow it: no other thread holds a message.
"""

from __future__ import annotations

import threading
import time

import numpy as np

from urlab_ros_bridge.client.errors import StreamClosed
from urlab_ros_bridge.client.state.stream import StateStream
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feature import Part
from urlab_ros_bridge.ros.features.timeline import Step
from urlab_ros_bridge.ros.link.clock import ClockParameters
from urlab_ros_bridge.ros.link.clock import ClockPublisher
from urlab_ros_bridge.ros.link.counters import Counters
from urlab_ros_bridge.ros.link.current_world import CurrentWorld
from urlab_ros_bridge.ros.messages.base import check_stamp
from urlab_ros_bridge.ros.parameters.connection import ConnectionParameters
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.rows import POINTS
from urlab_ros_bridge.wire.rows import STATE_FULL_TOPIC

# Ticks that may wait for this thread; older ones are dropped and counted.
BACKLOG = 20
_RECEIVE_SECONDS = 0.05
# Without a tick for this long, time counts as frozen (s).
_FROZEN_SECONDS = 0.5
# Period of checks for subscribers, and of `Part.every_second` (s).
_POLL_SECONDS = 0.1
_REPORT_SECONDS = 1.0
# A lockstep that waits is published to new subscribers after this long (s).
_INSTANT_SECONDS = 1.0
# Without rows for this long, `auto` subscribes to snapshots: in direct mode there are no rows (s).
_SILENCE_SECONDS = 1.0
_STATE_FULL, _POINTS = STATE_FULL_TOPIC.encode(), POINTS.encode()


class StreamBroken(UrlabError):
    """The thread that publishes ended with an unexpected error."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f'nothing can be published: {type(cause).__name__}: {cause}')


class StreamThread(Part):
    """
    Turns ticks into messages.

    :ivar counters, timeline: read them from any thread.
    :ivar discover: subscribe to all topics of the wire, and collect them.
    :ivar discovered: the topics that were received since, with the latest payload.
    """

    def __init__(self, bridge: Bridge, clock: ClockPublisher) -> None:
        """
        Connect the stream.

        :param bridge: is notified of ticks, jumps and seconds, and stopped when the thread ends
            with an error.
        """
        self.counters = Counters()
        self.timeline = bridge.timeline
        self._world = bridge.part(CurrentWorld)
        self.discover = False
        self.discovered: dict[bytes, bytes] = {}
        self._stepping = bridge.stepping
        self._bridge = bridge
        self._clock = clock
        server = bridge.settings(ConnectionParameters)
        self.source = StateStream(
            server.host, server.state_port, (), backlog=BACKLOG, keys=server.keys
        )
        self._clocks = 0
        self._subscribed: set[bytes] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='stream', daemon=True)
        bridge.stream_tasks.thread, bridge.stream_tasks.wake = self._thread, self.source.wake
        bridge.on_started.append(self._thread.start)
        bridge.on_settings.append(self.apply)

    def stop(self) -> None:
        """End the thread and close the stream."""
        self._stop.set()
        self._thread.join(2.0)
        self.source.close()

    def apply(self, settings: Settings) -> None:
        """Take over changed settings; may be called from any thread."""
        self._clock.set_rate(settings(ClockParameters).clock_rate)

    def repeat(self) -> None:
        """Publish the present instant once more."""

        def publish() -> None:
            topics, stamp_ns = self._world.topics, self.timeline.stamp_ns
            if topics is not None and stamp_ns is not None:
                self.counters.messages += topics.repeat(stamp_ns)

        self._bridge.run_in_stream(publish)

    def joints(self, prefix: str) -> tuple[np.ndarray, ...] | None:
        """
        Return position, velocity and effort of a robot's joints in the present tick.

        Only for `Part.tick`; None when the tick does not hold them.
        """
        topics = self._world.topics
        robot = topics.state.robots.get(prefix) if topics is not None else None
        try:
            return None if robot is None else robot.joints()
        except UrlabError:
            return None

    def resets(self, prefix: str) -> int | None:
        """Return how often a robot was reset before the present tick; as `joints`."""
        topics = self._world.topics
        robot = topics.state.robots.get(prefix) if topics is not None else None
        try:
            return None if robot is None else robot.resets()
        except UrlabError:
            return None

    @property
    def silence(self) -> float:
        """Seconds since the last tick; infinite before the first."""
        last = self.counters.last_tick
        return float('inf') if last is None else time.monotonic() - last

    def _run(self) -> None:
        try:
            self._publish_until_stopped()
        except Exception as error:
            # Without this thread nothing is published, although the bridge seems to run.
            if not self._stop.is_set():
                self._bridge.fail(StreamBroken(error))
            raise

    def _publish_until_stopped(self) -> None:
        started = time.monotonic()
        next_poll, next_second = started, started + _REPORT_SECONDS
        while not self._stop.is_set():
            if self._bridge.stream_tasks.run_all():
                next_poll = 0.0  # they may have changed what is subscribed
            try:
                tick = self.source.receive(_RECEIVE_SECONDS)
            except StreamClosed:
                return
            now = time.monotonic()
            if tick is not None:
                self._process(tick, now)
            elif now - (self.counters.last_tick or now) > _RECEIVE_SECONDS:
                self._clock.publish_held_back()
                if now - (self.counters.last_tick or now) > _FROZEN_SECONDS:
                    self.counters.messages += self._publish_changes()
            if now >= next_poll:
                next_poll = now + _POLL_SECONDS
                self._update_subscriptions(now, started)
            if now >= next_second:
                next_second = now + _REPORT_SECONDS
                self._bridge.every_second(now)

    def _process(self, tick: Tick, now: float) -> None:
        """Count a tick, publish it, and call the parts of features; one that is broken counts."""
        counters = self.counters
        counters.ticks += 1
        counters.last_tick = now
        counters.closed_by = tick.closed_by
        counters.wall_ns = tick.wall_ns
        if tick.rows:
            counters.last_rows = now
        if self.discover:
            self.discovered.update(tick.rows)
        try:
            self._publish(tick, check_stamp(tick.stamp_ns))
        except UrlabError as error:
            counters.decode_errors += 1
            counters.last_error = str(error)
            return
        self._bridge.tick(tick.stamp_ns)

    def _publish(self, tick: Tick, stamp_ns: int) -> None:
        """Publish /clock, then all topics; only what is new where time has not advanced."""
        timeline, counters, topics = self.timeline, self.counters, self._world.topics
        step, went_back = timeline.step(stamp_ns), False
        if step is Step.SAME:
            self._clock.publish_held_back()
            counters.messages += self._publish_changes(tick)
            return
        if step is Step.JUMP:
            went_back = timeline.stamp_ns is not None and stamp_ns < timeline.stamp_ns
            if went_back:  # subscribers read what was published before
                self._settle()
            timeline.begin_epoch()
            self._bridge.jump(stamp_ns, went_back)
            if topics is not None:
                topics.clear()
        elif timeline.stamp_ns is not None:
            counters.advanced_ns += stamp_ns - timeline.stamp_ns
        timeline.tick_ns = stamp_ns
        in_lockstep = self._stepping.in_lockstep
        timeline.resets = _resets(tick) if in_lockstep else None
        always = step is Step.JUMP or in_lockstep
        sent = self._clock.tick(stamp_ns, time.monotonic_ns(), always)
        if went_back:
            self._settle()
        if topics is not None:
            made = topics.publish(tick, stamp_ns, not self._stepping.is_free)
            counters.messages += made
            sent = sent or made > 0
        if sent and tick.wall_ns is not None:
            counters.latencies.append(time.time_ns() - tick.wall_ns)
        timeline.published(stamp_ns)

    def _settle(self) -> None:
        time.sleep(self._bridge.settings(ClockParameters).jump_settle_time)

    def _publish_changes(self, tick: Tick | None = None) -> int:
        """
        Publish what is new while time is frozen; return the number of messages.

        :param tick: one of the same time; None: none came.
        """
        topics, stamp_ns = self._world.topics, self.timeline.stamp_ns
        if topics is None or stamp_ns is None:
            return 0
        if self._stepping.in_lockstep:
            # Nodes must answer an instant once, so it is not published again when their commands
            # change its state, and new subscribers get the next one unless time stays frozen.
            if time.monotonic() - self.timeline.last_advance < _INSTANT_SECONDS:
                return 0
        elif tick is not None:
            topics.update(tick, stamp_ns)
        return topics.publish_changes(stamp_ns, repeat=not self._stepping.in_lockstep)

    def _update_subscriptions(self, now: float, started: float) -> None:
        """Subscribe to what the topics with subscribers, and the parts of features, need."""
        self._clock.poll_subscribers()
        self.counters.messages += self._clock.count - self._clocks
        self._clocks = self._clock.count
        rows: set[bytes] = set()
        topics = self._world.topics
        if topics is not None:
            topics.poll_subscribers()
            rows = topics.subscriptions() | self._bridge.extra_subscriptions()
        wanted = needed_topics(
            'state_full'  # a server in direct mode sends no rows
            if self._stepping.in_lockstep
            else self._bridge.settings(ConnectionParameters).stream,
            rows,
            has_sim_time=self._world.has_sim_time,
            silent_for=now - (self.counters.last_rows or started),
        )
        if self.discover:
            wanted = {b''}
        for topic in wanted - self._subscribed:
            self.source.subscribe(topic)
        for topic in self._subscribed - wanted:
            self.source.unsubscribe(topic)
        self._subscribed = wanted


def needed_topics(
    dialect: str, rows: set[bytes], *, has_sim_time: bool, silent_for: float
) -> set[bytes]:
    """
    Return the prefixes to subscribe to; ``sim_time`` is always subscribed.

    :param dialect: ``auto``, ``rows`` or ``state_full``.
    :param rows: prefixes that the topics with subscribers are made of.
    :param has_sim_time: whether the server closes ticks with its sim_time row; if not, only
        state/full carries the time.
    :param silent_for: seconds without any row.

    >>> sorted(needed_topics('auto', {b'r/joint/'}, has_sim_time=True, silent_for=0.1))
    [b'r/joint/']
    """
    wanted = set() if has_sim_time else {_STATE_FULL}
    # Points come beside snapshots too.
    wanted |= {row for row in rows if dialect != 'state_full' or row.startswith(_POINTS)}
    if rows and (dialect == 'state_full' or (dialect == 'auto' and silent_for > _SILENCE_SECONDS)):
        wanted.add(_STATE_FULL)
    return wanted


def _resets(tick: Tick) -> int | None:
    snapshot = tick.state()
    return None if snapshot is None else snapshot.resets


def attach(bridge: Bridge) -> Part:
    """Make the stream."""
    rate = bridge.settings(ClockParameters).clock_rate
    return StreamThread(bridge, ClockPublisher(bridge.node, rate))


FEATURE = Feature('state stream', attach=attach)
