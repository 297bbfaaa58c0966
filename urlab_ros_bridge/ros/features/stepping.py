# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Who advances simulation time through this bridge: nobody, a service by steps, or a lockstep.

Everything that behaves differently in lockstep asks here; only the lockstep itself changes it.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
from contextlib import contextmanager
from dataclasses import dataclass
import threading

# A request that changes the world waits this long for the end of a round (s).
REQUEST_SECONDS = 2.0


@dataclass(frozen=True)
class ActiveLockstep:
    """
    A lockstep that is on.

    :ivar period_ns: between two instants (simulation time).
    :ivar image_published: called in the stream thread after each camera image.
    :ivar end: ends it for a reason; the server keeps its mode.
    """

    period_ns: int
    image_published: Callable[[], None]
    end: Callable[[str], object]


class Stepping:
    """
    Who advances simulation time here; may be read and called from any thread.

    :ivar lockstep: the lockstep that is on, None when the bridge does not step by itself.
    """

    def __init__(self) -> None:
        self.lockstep: ActiveLockstep | None = None
        self._steppers: set[object] = set()
        self._round_lock = RoundLock()

    @property
    def in_lockstep(self) -> bool:
        """Whether the bridge steps the server, and nodes answer each instant."""
        return self.lockstep is not None

    @property
    def is_free(self) -> bool:
        """Whether nobody steps through this bridge, so that the rate limits of topics hold."""
        return self.lockstep is None and not self._steppers

    @contextmanager
    def by_steps(self) -> Iterator[None]:
        """Let a service step in the block."""
        stepper = object()
        self._steppers.add(stepper)
        try:
            yield
        finally:
            self._steppers.discard(stepper)

    def end_lockstep(self, reason: str) -> None:
        """End the lockstep, if one is on, and leave the server in its mode."""
        lockstep = self.lockstep
        if lockstep is not None:
            lockstep.end(reason)

    def between_rounds(self) -> contextlib.AbstractContextManager[None]:
        """Wait for the end of the current round, but not forever, and hold up the next one."""
        return self._round_lock.request(REQUEST_SECONDS)

    def round(self, timeout: float) -> contextlib.AbstractContextManager[bool]:
        """
        Begin a round of a lockstep; the block gets False when there are requests.

        :param timeout: s to wait for the end of requests.
        """
        return self._round_lock.round(timeout)


class RoundLock:
    """
    A readers-writer lock: one round, or any number of requests, which have priority.

    A reset in the middle of a round would be answered by some nodes before and by others after it.
    So a request waits for the end of the round, but not forever: the round's answers may depend on
    that very request.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests = 0
        self._in_round = False

    @contextmanager
    def request(self, timeout: float) -> Iterator[None]:
        """
        Keep the next round from beginning.

        :param timeout: s to wait for the end of the present round.
        """
        with self._changed:
            self._requests += 1
            self._changed.wait_for(lambda: not self._in_round, timeout)
        try:
            yield
        finally:
            with self._changed:
                self._requests -= 1
                self._changed.notify_all()

    @contextmanager
    def round(self, timeout: float) -> Iterator[bool]:
        """
        Begin a round; yield False when there are requests.

        :param timeout: s to wait for the end of requests.
        """
        with self._changed:
            self._in_round = self._changed.wait_for(lambda: not self._requests, timeout)
        try:
            yield self._in_round
        finally:
            with self._changed:
                self._in_round = False
                self._changed.notify_all()
