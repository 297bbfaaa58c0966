# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The thread of a lockstep.

An instant is a time at which the simulation waits.  In one round the server steps to the next
instant, the stream publishes it, each awaited topic answers with a message (`AnswerGate`), and the
answers are sent to the server.  Only then does the next round begin.

A round needs a server that is connected and not paused, and a publisher of every topic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import math
import threading
import time

from urlab_ros_bridge.ros.commands.commands import Commands
from urlab_ros_bridge.ros.extras.lockstep.drive import LockstepDrive
from urlab_ros_bridge.ros.extras.lockstep.images import ImageWait
from urlab_ros_bridge.ros.extras.lockstep.repetition import Repetition
from urlab_ros_bridge.ros.extras.lockstep.rules import LockstepEnded
from urlab_ros_bridge.ros.extras.lockstep.rules import Terms
from urlab_ros_bridge.ros.extras.lockstep.topics import Topics
from urlab_ros_bridge.ros.features.feature import Bridge
from urlab_ros_bridge.ros.link.connection import ServerLink
from urlab_ros_bridge.ros.link.stream import StreamThread
from urlab_ros_bridge.ros.topics.cameras import Cameras
from urlab_ros_bridge.wire.errors import UrlabError

# Poll period for what sends no signal (s): a pause, nodes that start or end.
POLL_SECONDS = 0.1
# Publishers of a node are found before or after its subscriptions; both are there after this (s).
SETTLE_SECONDS = 0.5
# Time limit for ticks of live mode that are still on their way (s).
CATCH_UP_SECONDS = 2.0
# An image is waited for this long after the instant began (s of wall time).
IMAGE_SECONDS = 5.0
_SEND_SECONDS = 5.0
_RATE_ROUNDS = 50


class Rounds:
    """
    One lockstep, from its beginning to its end.

    :ivar activity: what it is doing now, as text.
    :ivar count: rounds so far.
    :ivar unanswered: topic -> instants that it did not answer.
    """

    def __init__(self, bridge: Bridge, terms: Terms, on_end: Callable[[str], None]) -> None:
        """
        Prepare the thread.

        :param on_end: called in the thread, with the reason, when it ends by itself.
        :raises BadTopicName: for a name that is none.
        """
        self.terms = terms
        self.activity = 'waiting for the server'
        self.count = 0
        self.images = ImageWait()
        self.unanswered = dict.fromkeys(terms.topics, 0)
        self._gate = bridge.part(Commands).gate
        self._sender = bridge.part(Commands).sender
        self._cameras = bridge.part(Cameras)
        self._link = bridge.part(ServerLink)
        self._stream = bridge.part(StreamThread)
        self._stepping = bridge.stepping
        self._on_end = on_end
        self._topics = Topics(bridge.node, self._gate, terms.topics)
        self._drive = LockstepDrive(self._link, terms.period, bridge.log)
        self._prepared = 0
        self._has_publishers = False
        self._repetition = Repetition()
        self._instant_began = time.monotonic()
        self._round_ends: deque[float] = deque(maxlen=_RATE_ROUNDS)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='lockstep', daemon=True)

    def start(self) -> None:
        """Start the thread; commands on the topics are held from now on."""
        self._gate.arm(self._topics.names)
        self._thread.start()

    def stop(self, restore: bool = True, patience: float = 10.0) -> None:
        """
        End the thread.

        :param restore: put the server back into the mode that it had before.
        :param patience: s that the server may take for that, and for the present step.
        """
        self._drive.restore = restore
        self._stop.set()
        self._gate.notify()
        self._thread.join(patience)
        if self._thread.is_alive():
            self._drive.abandon()
            self._thread.join(2.0)

    def take_over_from(self, other: Rounds) -> None:
        """Replace another one: at the end the mode is restored that was set before that one."""
        self._drive.before = other._drive.before

    @property
    def rate(self) -> float:
        """Return rounds per second of wall time, of the last ones."""
        ends = list(self._round_ends)
        span = time.monotonic() - ends[0] if len(ends) > 1 else 0.0
        return (len(ends) - 1) / span if span > 0 else 0.0

    @property
    def waited(self) -> float:
        """Return for how long it has been at the present instant (s of wall time)."""
        return time.monotonic() - self._instant_began

    @property
    def late(self) -> dict[str, tuple[int, int]]:
        """Return topic -> number of messages with an earlier stamp, and the last such stamp."""
        late = self._gate.late
        return {name: late[topic] for topic, name in self._topics.names.items() if topic in late}

    def _run(self) -> None:
        reason = ''
        try:
            while not self._stop.is_set():
                self._run_round_or_wait()
        except LockstepEnded as error:
            reason = str(error)
        except Exception as error:
            reason = f'{type(error).__name__}: {error}'
        self._gate.disarm()
        self._topics.close()
        self._drive.leave()
        if reason:
            self._on_end(reason)

    def _run_round_or_wait(self) -> None:
        """Run a round, or wait for what it needs."""
        try:
            if self._is_ready():
                with self._stepping.round(POLL_SECONDS) as no_requests:
                    # A client may have paused since the check.
                    if no_requests and not self._link.state.paused:
                        self._run_round()
                return
        except LockstepEnded:
            raise
        except UrlabError as error:
            # The server has ended, or another client has paused it; the next status shows which.
            self.activity = str(error)
        self._instant_began = time.monotonic()
        self._stop.wait(POLL_SECONDS)

    def _is_ready(self) -> bool:
        """Return whether a round can begin; else `activity` is what it waits for."""
        if not self._drive.ready():
            self.activity = 'waiting for the server'
            return False
        if self._prepared != self._drive.prepared:
            self._prepared = self._drive.prepared
            self._has_publishers = False
            self._wait_for_earlier_ticks()
            self._gate.arm(self._topics.names)
        if self._link.state.paused:
            self.activity = 'paused'
            return False
        return self._has_publishers or self._find_publishers()

    def _wait_for_earlier_ticks(self) -> None:
        """Wait for ticks of live mode, which no node has to answer."""
        begun_ns, timeline = self._drive.begun_ns, self._stream.timeline
        if begun_ns is None:
            return
        mark, deadline = timeline.mark(), time.monotonic() + CATCH_UP_SECONDS
        while (left := deadline - time.monotonic()) > 0 and not self._stop.is_set():
            timeline.wait_for(begun_ns, mark, left)
            # Time may have passed this stamp before a reset, too; then other ticks follow.
            self._stop.wait(POLL_SECONDS)
            if timeline.stamp_ns == begun_ns:
                return

    def _find_publishers(self) -> bool:
        """Return whether every topic has a publisher."""
        absent = self._topics.absent()
        if absent:
            self.activity = f'waiting for a publisher of {", ".join(absent)}'
            return False
        self._stop.wait(SETTLE_SECONDS)
        self._has_publishers = not self._topics.absent()
        for topic in self._topics.names:
            self._repetition.saw(self._topics.publishers(topic))
        return self._has_publishers

    def _run_round(self) -> None:
        self._instant_began = time.monotonic()
        instant = self._gate.begin_instant()
        if instant is not None:  # else a reset has begun one
            result = self._drive.step()
            self._gate.set_stamp(instant, result.sim_time_ns)
            self._drive.check(result)
        if not self._wait_for_answers():
            return
        if instant is None:
            self._drive.jumped(self._gate.stamp_ns)
        for receive, message in self._gate.end_instant():
            receive(message)
        self._sender.flush(_SEND_SECONDS)
        self.activity = 'stepping'
        self.count += 1
        self._round_ends.append(time.monotonic())

    def _wait_for_answers(self) -> bool:
        """Wait for all answers and images; return False when another round must begin first."""
        gate, period = self._gate, min(POLL_SECONDS, self.terms.timeout or math.inf)
        self._repetition.begin_instant(time.monotonic())
        while not gate.wait(period, self._have_images):
            if self._stop.is_set() or not self._drive.ready():
                return False
            if self._prepared != self._drive.prepared:
                return False
            unanswered, stamp_ns = gate.unanswered(), gate.stamp_ns
            if not gate.is_published or stamp_ns is None:
                self.activity = 'waiting for the state stream'
            elif unanswered:
                if 0 < self.terms.timeout < self.waited:
                    self._count_unanswered(unanswered)
                    return True
                self._wait_for_nodes(unanswered)
            elif self.waited > IMAGE_SECONDS:
                self.images.give_up(self._cameras.threads, stamp_ns)
            else:
                self.activity = 'waiting for camera images'
        self._repetition.all_answered()
        return True

    def _count_unanswered(self, topics: list[str]) -> None:
        for topic in topics:
            self.unanswered[self._topics.names[topic]] += 1

    def _wait_for_nodes(self, unanswered: list[str]) -> None:
        """Say whom the instant waits for, and publish it again where an answer may be lost."""
        names = self._topics.names
        publishers = {topic: self._topics.publishers(topic) for topic in unanswered}
        absent = [names[topic] for topic, found in publishers.items() if not found]
        self.activity = f'waiting for {", ".join(names[topic] for topic in unanswered)}'
        if absent:
            self.activity = f'waiting: {", ".join(absent)} no longer has a publisher'
        if self._repetition.is_due(frozenset().union(*publishers.values()), time.monotonic()):
            self._stream.repeat()
            self._cameras.publishing.repeat()

    def _have_images(self) -> bool:
        stamp_ns = self._gate.stamp_ns
        return stamp_ns is not None and not self.images.missing(self._cameras.threads, stamp_ns)
