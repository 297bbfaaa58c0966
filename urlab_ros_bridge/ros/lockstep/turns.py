# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Takes turns between the rounds and requests that must not fall into the middle of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from contextlib import contextmanager
import threading
import time


class Turns:
    """
    Rounds on one side, guests on the other; guests come first.

    A reset in the middle of a round would be answered by some nodes before and by others after it.
    So a guest waits until the current round is over, but not forever: its answers may depend on
    the very request.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._guests = 0
        self._busy = False

    @contextmanager
    def guest(self, timeout: float) -> Iterator[None]:
        """
        Keep the next round from beginning.

        :param timeout: s that the present round is waited for.
        """
        deadline = time.monotonic() + timeout
        with self._changed:
            self._guests += 1
            while self._busy and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
        try:
            yield
        finally:
            with self._changed:
                self._guests -= 1
                self._changed.notify_all()

    def round(self, timeout: float) -> AbstractContextManager[bool]:
        """
        Have a round; false when a guest is there.

        :param timeout: s that guests are waited for.
        """
        return _Round(self, timeout)

    def _begin(self, timeout: float) -> bool:
        with self._lock:
            if self._guests:
                self._changed.wait_for(lambda: not self._guests, timeout)
            self._busy = not self._guests
            return self._busy

    def _end(self) -> None:
        with self._lock:
            self._busy = False
            if self._guests:
                self._changed.notify_all()


class _Round:
    """One round, in a block; a generator would take 1 us more in each."""

    def __init__(self, turns: Turns, timeout: float) -> None:
        self._turns, self._timeout = turns, timeout

    def __enter__(self) -> bool:
        return self._turns._begin(self._timeout)

    def __exit__(self, *_: object) -> None:
        self._turns._end()


__all__ = ['Turns']
