# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps rounds and the requests that must not fall into the middle of one apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import threading


class RoundLock:
    """
    Held by a round, or by any number of requests, which come first.

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
