# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The stream thread: it owns the state stream and publishes everything that carries a stamp.

One thread for all of it is what keeps timelines apart: after a jump no older message can follow,
because no other thread holds one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
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
from urlab_ros_bridge.ros.link.counters import Counters
from urlab_ros_bridge.ros.messages.base import check_stamp
from urlab_ros_bridge.ros.parameters.connection import ConnectionParameters
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.topics.clock import ClockParameters
from urlab_ros_bridge.ros.topics.clock import ClockPublisher
from urlab_ros_bridge.ros.topics.subscriptions import EVERYTHING
from urlab_ros_bridge.ros.topics.subscriptions import needed_topics
from urlab_ros_bridge.ros.topics.world import PublishedWorld
from urlab_ros_bridge.wire.errors import UrlabError

# Ticks that may wait for this thread; older ones are dropped and counted.
BACKLOG = 20
_RECEIVE_SECONDS = 0.05
# Without a tick for this long, time counts as frozen (s).
_REST_SECONDS = 0.5
_POLL_SECONDS = 0.1
_BEAT_SECONDS = 1.0
# An instant of a lockstep is published to new subscribers after this long (s).
_INSTANT_SECONDS = 1.0


class StreamBroken(UrlabError):
    """The thread that publishes ended with an unexpected error."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f'nothing can be published: {type(cause).__name__}: {cause}')


class StreamThread(Part):
    """
    Turns ticks into messages.

    :ivar counters, timeline: read them from any thread.
    :ivar discovered: all topics of the wire that were seen while `discover` was on, with the
        latest payload.
    :ivar stepped: lockstep is on: every time is published, every state once, and snapshots are
        read, because a server in direct mode sends no rows.
    """

    def __init__(self, bridge: Bridge, clock: ClockPublisher) -> None:
        """
        Connect the stream.

        :param bridge: is notified of ticks, jumps and seconds, and stopped when the thread ends
            with an error.
        """
        self.counters = Counters()
        self.timeline = bridge.timeline
        self.discovered: dict[bytes, bytes] = {}
        self.discover = False
        self.stepped = False
        self._watchers: set[object] = set()
        self._bridge = bridge
        self._clock = clock
        server = bridge.settings(ConnectionParameters)
        self.source = StateStream(
            server.host, server.state_port, (), backlog=BACKLOG, keys=server.keys
        )
        self.world: PublishedWorld | None = None
        self._handed_worlds: deque[PublishedWorld | None] = deque()
        self._tasks: deque[tuple[Callable[[], None], threading.Event]] = deque()
        self._has_sim_time = True
        self._clocks = 0
        self._subscribed: set[bytes] = set()
        self._due = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='stream', daemon=True)

    def all_started(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and close the stream."""
        self._stop.set()
        self._due.set()
        self._thread.join(2.0)
        self.source.close()

    def hand_over(self, world: PublishedWorld | None, has_sim_time: bool = True) -> None:
        """Publish with another world from the next tick on, as a new epoch; None: keep it."""
        self._has_sim_time = has_sim_time
        self._handed_worlds.append(world)
        self._due.set()

    def changed(self, settings: Settings) -> None:
        """Take over changed settings; may be called from any thread."""
        self._clock.set_rate(settings(ClockParameters).clock_rate)
        if self.world is not None:
            self.world.apply(settings)

    def between_ticks(self, task: Callable[[], None], timeout: float = 5.0) -> bool:
        """
        Run a task between two ticks; return whether it was done in time (s).

        It is done in the stream thread, or at once where that does not run.  Afterwards the
        subscriptions are updated.  A task that does not begin in time, because publishing waits
        for a slow disk, is dropped.
        """
        if not self._thread.is_alive():
            task()
            return True
        done = threading.Event()
        entry = (task, done)
        self._tasks.append(entry)
        self._due.set()
        if not done.wait(timeout):
            try:
                self._tasks.remove(entry)
            except ValueError:  # it has just begun
                return done.wait(timeout)
        return done.is_set()

    def repeat(self) -> None:
        """Publish the present instant once more, between two ticks."""

        def publish() -> None:
            world, stamp_ns = self.world, self.timeline.stamp_ns
            if world is not None and stamp_ns is not None:
                self.counters.messages += world.repeat(stamp_ns)

        self._tasks.append((publish, threading.Event()))
        self._due.set()

    @contextlib.contextmanager
    def ignoring_rate_limits(self) -> Iterator[None]:
        """Ignore rate limits in the block: a client steps."""
        watcher = object()
        self._watchers.add(watcher)
        try:
            yield
        finally:
            self._watchers.discard(watcher)

    def joints(self, prefix: str) -> tuple[np.ndarray, ...] | None:
        """
        Return position, velocity and effort of a robot's joints in the present tick.

        Only for `Part.tick`; None when the tick does not hold them.
        """
        robot = self.world.state.robots.get(prefix) if self.world is not None else None
        try:
            return None if robot is None else robot.joints()
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
        poll = started = time.monotonic()
        beat = started + _BEAT_SECONDS
        while not self._stop.is_set():
            if self._due.is_set():
                self._due.clear()
                poll = 0.0
            self._switch_worlds()
            self._run_tasks()
            try:
                tick = self.source.receive(_RECEIVE_SECONDS)
            except StreamClosed:
                return
            now = time.monotonic()
            self._process_or_rest(tick, now)
            if now >= poll:
                poll = now + _POLL_SECONDS
                self._update_subscriptions(now, started)
            if now >= beat:
                beat = now + _BEAT_SECONDS
                self._bridge.beat(now)

    def _process_or_rest(self, tick: Tick | None, now: float) -> None:
        if tick is not None:
            self._process_tick(tick, now)
            return
        self._clock.rest()
        if now - (self.counters.last_tick or now) > _REST_SECONDS:
            self.counters.messages += self._publish_changes()

    def _switch_worlds(self) -> None:
        while self._handed_worlds:
            old, world = self.world, self._handed_worlds.popleft()
            # Not before: the tick that begins the epoch is the first one of that world.
            self.timeline.request_jump()
            if world is None:
                continue
            self.world = world
            if old is not None:
                old.close(world)
            world.apply(self._bridge.all_settings())
            world.poll_subscribers()

    def _run_tasks(self) -> None:
        while self._tasks:
            task, done = self._tasks.popleft()
            task()
            done.set()

    def _update_subscriptions(self, now: float, started: float) -> None:
        self._clock.poll_subscribers()
        self.counters.messages += self._clock.count - self._clocks
        self._clocks = self._clock.count
        rows: set[bytes] = set()
        if self.world is not None:
            self.world.poll_subscribers()
            rows = self.world.subscriptions() | self._bridge.extra_subscriptions()
        silent = now - (self.counters.last_rows or started)
        wanted = needed_topics(
            'state_full' if self.stepped else self._bridge.settings(ConnectionParameters).stream,
            rows,
            has_sim_time=self._has_sim_time,
            silent_for=silent,
        )
        if self.discover:
            wanted = {EVERYTHING}
        for topic in wanted - self._subscribed:
            self.source.subscribe(topic)
        for topic in self._subscribed - wanted:
            self.source.unsubscribe(topic)
        self._subscribed = wanted

    def _process_tick(self, tick: Tick, now: float) -> None:
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
        timeline, counters, world = self.timeline, self.counters, self.world
        step, went_back = timeline.step(stamp_ns), False
        if step is Step.SAME:
            self._clock.rest()
            counters.messages += self._publish_changes(tick)
            return
        if step is Step.JUMP:
            went_back = timeline.stamp_ns is not None and stamp_ns < timeline.stamp_ns
            if went_back:  # subscribers read what was published before
                time.sleep(self._bridge.settings(ClockParameters).jump_settle_time)
            timeline.begin_epoch()
            self._bridge.jump(stamp_ns, went_back)
            if world is not None:
                world.clear()
        elif timeline.stamp_ns is not None:
            counters.advanced_ns += stamp_ns - timeline.stamp_ns
        timeline.tick_ns = stamp_ns
        timeline.resets = _resets(tick) if self.stepped else None
        always = step is Step.JUMP or self.stepped
        sent = self._clock.tick(stamp_ns, time.monotonic_ns(), always)
        if went_back:
            time.sleep(self._bridge.settings(ClockParameters).jump_settle_time)
        if world is not None:
            made = world.publish(tick, stamp_ns, self.stepped or bool(self._watchers))
            counters.messages += made
            sent = sent or made > 0
        if sent and tick.wall_ns is not None:
            counters.latencies.append(time.time_ns() - tick.wall_ns)
        timeline.published(stamp_ns)

    def _publish_changes(self, tick: Tick | None = None) -> int:
        """
        Publish what is new while time is frozen; return the number of messages.

        :param tick: one of the same time; None: none came.
        """
        world, stamp_ns = self.world, self.timeline.stamp_ns
        if world is None or stamp_ns is None:
            return 0
        if self.stepped:
            # Nodes must answer an instant once, so it is not published again when their commands
            # change its state, and new subscribers get the next one unless time stays frozen.
            if time.monotonic() - self.timeline.last_advance < _INSTANT_SECONDS:
                return 0
        elif tick is not None:
            world.update(tick, stamp_ns)
        return world.publish_changes(stamp_ns)


def _resets(tick: Tick) -> int | None:
    snapshot = tick.state()
    return None if snapshot is None else snapshot.resets


def attach(bridge: Bridge) -> Part:
    """Make the stream."""
    rate = bridge.settings(ClockParameters).clock_rate
    return StreamThread(bridge, ClockPublisher(bridge.node, rate))


FEATURE = Feature('state stream', attach=attach)
