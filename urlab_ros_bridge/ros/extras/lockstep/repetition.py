# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Instants that are published again, because an answer may be lost."""

from __future__ import annotations

import time

Ids = frozenset[tuple[int, ...]]
# Pause before an instant is published again, doubled each time up to the longest one (s of wall
# time): a node that is discovered slowly still gets the instant soon.
REPEAT_SECONDS = 2.0
LONGEST_PAUSE = 10.0
# Other processes may take one for dead that was suspended this long (s of wall time).
SUSPENDED_SECONDS = 5.0


class Repetition:
    """
    When to publish an instant again, because an answer to it may be lost.

    DDS drops what a node publishes before it has discovered the subscription of the bridge.  That
    may be the first answer of a node, or its next one after this process was suspended for so long
    that others took it for dead.  So an instant is published again while it waits for a publisher
    that has not answered yet.  Nodes whose answers arrive get every instant once, however slow
    they are.
    """

    def __init__(self) -> None:
        self._seen: Ids = frozenset()
        self._have_answered: Ids = frozenset()
        self.begin_instant(time.monotonic())

    def begin_instant(self, now: float) -> None:
        """Begin to wait for answers (s by time.monotonic)."""
        self._last_call = now
        self._schedule(now)

    def saw(self, publishers: Ids) -> bool:
        """Take the present publishers of awaited topics; return whether there are new ones."""
        before, self._seen = self._seen, self._seen | publishers
        return before != self._seen

    def all_answered(self) -> None:
        """Record that every topic has answered."""
        self._have_answered = self._seen

    def is_due(self, publishers: Ids, now: float) -> bool:
        """
        Return whether to publish the instant again; call it regularly.

        :param publishers: of the topics that have not answered.
        """
        last_call, self._last_call = self._last_call, now
        was_suspended = now - last_call > SUSPENDED_SECONDS
        if was_suspended:
            self._have_answered = frozenset()
        if self.saw(publishers) or was_suspended:
            self._schedule(now)
        if publishers <= self._have_answered or now < self._next:
            return False
        self._schedule(now, min(2.0 * self._pause, LONGEST_PAUSE))
        return True

    def _schedule(self, now: float, pause: float = REPEAT_SECONDS) -> None:
        self._pause, self._next = pause, now + pause
