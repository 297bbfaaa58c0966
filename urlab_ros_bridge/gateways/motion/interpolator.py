# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A thread that sends interpolated setpoints to a robot in real time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
import logging
import threading
import time

from urlab_ros_bridge.gateways.motion.target import between
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.wire.errors import UrlabError

_LOG = logging.getLogger(__name__)
# Unchanged twists are sent again after this time (s): they would time out.
REPEAT_SECONDS = 0.1


class SetpointInterpolator:
    """
    Sends setpoints at a fixed rate until a target is reached, then none.

    A new target starts at the last setpoint sent, and drops the rest of a chunk.

    :param send: puts a setpoint in force; called from this thread only.
    :param period: control period in s; `interval` the time between interpolated setpoints, None
        for no interpolation.
    """

    def __init__(
        self,
        send: Callable[[Target], None],
        period: float,
        interval: float | None,
        smooth: frozenset[str],
    ) -> None:
        self._send = send
        self._period = period
        self._interval = interval
        self._smooth = smooth
        self._wake = threading.Condition()
        self._queue: deque[Target] = deque()
        self._start = self._end = self._here = Target()
        self._began = 0.0
        self._arrived = True
        self._fresh = False
        self._stopping = False
        self._sending = threading.Lock()
        self._thread = threading.Thread(
            target=self._run, name='setpoint-interpolator', daemon=True
        )
        self._thread.start()

    @property
    def here(self) -> Target:
        """Return the setpoint that was sent last."""
        with self._wake:
            return self._here

    @property
    def goal(self) -> Target:
        """Return the target of the last action."""
        with self._wake:
            return self._queue[-1] if self._queue else self._end

    def go(self, targets: Sequence[Target]) -> None:
        """Move to the targets, one per control period, starting now."""
        with self._wake:
            self._queue = deque(targets)
            self._next(time.monotonic())
            self._fresh = True
            self._wake.notify()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Send nothing within the block, after a send in progress."""
        with self._sending:
            yield

    def place(self, target: Target) -> None:
        """Adopt a setpoint that is already in force; nothing is sent."""
        with self._wake:
            self._queue.clear()
            self._start = self._end = self._here = target
            self._arrived = True

    def stop(self) -> None:
        """End the thread."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join()

    def _next(self, now: float) -> None:
        self._start, self._end = self._here, self._queue.popleft()
        self._began, self._arrived = now, False

    def _run(self) -> None:
        while True:
            with self._sending:
                with self._wake:
                    if self._stopping:
                        return
                    self._fresh = False
                    target = self._due()
                    if target is not None:
                        self._here = target
                self._try_to_send(target)
            with self._wake:
                if not self._stopping and not self._fresh:
                    self._wake.wait(self._pause())

    def _try_to_send(self, target: Target | None) -> None:
        if target is not None:
            try:
                self._send(target)
            except UrlabError as error:
                _LOG.warning('a setpoint was not sent: %s', error)
            except Exception:  # the thread must survive it
                _LOG.exception('a setpoint was not sent')

    def _due(self) -> Target | None:
        """Return the setpoint to send now, None when there is none.  Needs the lock."""
        now = time.monotonic()
        if self._arrived and now - self._began >= self._period and self._queue:
            self._next(self._began + self._period)
        if self._arrived:
            return self._here if self._here.twist is not None and any(self._here.twist) else None
        share = 1.0
        if self._interval is not None:
            # The setpoint at the end of this interval.
            share = (now + self._interval - self._began) / self._period
        if share >= 1.0 - 1e-9:
            self._arrived = True
            return self._end
        return between(self._start, self._end, share, self._smooth)

    def _pause(self) -> float | None:
        """Return the time until the next setpoint, None: until notified.  Needs the lock."""
        if not self._arrived:
            return self._interval
        if self._queue:
            return max(0.0, self._began + self._period - time.monotonic())
        twist = self._here.twist
        return REPEAT_SECONDS if twist is not None and any(twist) else None


__all__ = ['SetpointInterpolator']
