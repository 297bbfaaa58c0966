# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Takes turns between the rounds and requests that must not fall into the middle of one."""

from __future__ import annotations

from collections.abc import Iterator
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
        self._changed = threading.Condition()
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

    @contextmanager
    def round(self, timeout: float) -> Iterator[bool]:
        """
        Have a round; false when a guest is there.

        :param timeout: s that guests are waited for.
        """
        deadline = time.monotonic() + timeout
        with self._changed:
            while self._guests and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            self._busy = not self._guests
            mine = self._busy
        try:
            yield mine
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()


__all__ = ['Turns']
