# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The age of a message, also when the clock of its sender differs from ours.

A message states when it was sent, by the wall clock of its sender.  The difference to our clock is
its age plus the difference of the clocks.  The smallest difference of late is that of the clocks,
with the shortest delay of the network, which cannot be separated from it.  So:

- a message is as old as its difference is above the smallest one of the last minute or two;
- while none is known, a small difference means that the clocks agree;
- what is too old by this rule may come from a clock that was set.  It is believed when messages
  keep coming with the same difference, at the pace at which they were sent: for a moment when
  nothing better is known of late, else for ten seconds.  A queue that is emptied after a stall
  does not look like this: its messages come at once, each younger than the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
import time

from urlab_ros_bridge.ros.rclpy_tools.message_info import MessageInfo
from urlab_ros_bridge.wire.stamp import NANOSECONDS

# s of our clock.
WINDOW = 60.0
JITTER = 0.1
# How long, and how often, messages of one difference must come until they are believed.
FIRST_RUN = 0.3
LATER_RUN = 10.0
RUN_COUNT = 4
# Messages that are further apart are not a run (s).
RUN_GAP = 3.0


@dataclass(slots=True)
class _Run:
    """Messages that came one after the other with about the same difference."""

    difference: float
    began: float
    last: float
    count: int = 1


class _Clock:
    """What is known of one sender's clock.  All times and differences are in s."""

    def __init__(self) -> None:
        self._recent = self._before = math.inf
        self._since = self._used = -math.inf
        self._run: _Run | None = None

    @property
    def offset(self) -> float:
        """Return the smallest difference of late, infinite while none is known."""
        return min(self._recent, self._before)

    def age(self, difference: float, now: float, limit: float) -> float:
        """Return how old a message is; one that is not too old is remembered."""
        known = self.offset
        if math.isinf(known):
            agree = abs(difference) <= limit
            age = max(difference, 0.0) if agree else math.inf
        else:
            age = max(difference - known, 0.0)
        if age <= limit:
            self._accept(difference, now)
            return age
        if self._runs(difference, now):
            self._recent = self._before = math.inf
            self._accept(difference, now)
            return 0.0
        return age

    def _accept(self, difference: float, now: float) -> None:
        self._run, self._used = None, now
        if now - self._since > WINDOW:
            self._before, self._recent, self._since = self._recent, difference, now
        self._recent = min(self._recent, difference)

    def _runs(self, difference: float, now: float) -> bool:
        """Count a message that is too old; return whether it is to be believed nevertheless."""
        run = self._run
        if run is None or difference < run.difference - JITTER or now - run.last > RUN_GAP:
            self._run = _Run(difference, now, now)
            return False
        if difference > run.difference + JITTER:
            return False
        run.count, run.last = run.count + 1, now
        needed = LATER_RUN if now - self._used < WINDOW else FIRST_RUN
        return run.count >= RUN_COUNT and now - run.began >= needed


class SampleAge:
    """
    Judges the messages of one topic.

    Senders are distinguished where rclpy identifies them (from Kilted on).
    """

    def __init__(
        self,
        senders: Callable[[], int] = lambda: 1,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Know nothing yet.

        :param senders: returns how many publishers the topic has.
        """
        self._senders = senders
        self._wall_ns = wall_ns
        self._monotonic = monotonic
        self._clocks: dict[bytes, _Clock] = {}

    def problem(self, info: MessageInfo, limit: float) -> str:
        """
        Return why a message is stale, empty when it is not.

        :param limit: s of wall time; 0: nothing is stale.
        """
        source_ns = info.get('source_timestamp') or 0
        if limit <= 0 or source_ns <= 0:
            return ''
        difference = (self._wall_ns() - source_ns) / NANOSECONDS
        gid = bytes((info.get('publisher_gid') or {}).get('data') or b'')
        clock = self._clock(gid)
        before = clock.offset
        age = clock.age(difference, self._monotonic(), limit)
        if age <= limit:
            return ''
        if not gid and before < -limit and abs(difference) <= limit and self._senders() > 1:
            # The known clock is ahead of ours, and this is another sender's.
            return ''
        if not math.isinf(age):
            return f'it was published {age:.2f} s ago, command_max_age is {limit:g} s'
        when = f'{abs(difference):.2f} s {"ago" if difference > 0 else "in the future"}'
        return (
            f'by the clock of its sender it was published {when}, command_max_age is {limit:g} s: '
            'it is stale, or the clocks of the two machines differ (synchronise them, or keep '
            'publishing)'
        )

    def _clock(self, gid: bytes) -> _Clock:
        clock = self._clocks.pop(gid, None) or _Clock()
        self._clocks[gid] = clock  # the last one used is the last one to be forgotten
        if len(self._clocks) > 64:
            del self._clocks[next(iter(self._clocks))]
        return clock


__all__ = ['SampleAge']
