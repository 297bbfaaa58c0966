# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The lock of the simulated world, for every read and change."""

from __future__ import annotations

import threading


class ModelLock:
    """
    A lock that knows how many wait for it.

    Python's locks are not fair: a loop that releases and takes the lock at once starves the rest.
    `contended` lets the live loop step aside.

    :ivar release: gives the lock back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counter = threading.Lock()
        self._waiting = 0
        self.changed = threading.Condition(self._lock)
        self.release = self._lock.release

    @property
    def contended(self) -> bool:
        """Return whether a thread waits."""
        return self._waiting > 0

    def acquire(self, timeout: float = -1.0) -> bool:
        """Take the lock; false when `timeout` seconds pass first."""
        if self._lock.acquire(blocking=False):
            return True
        self._count(1)
        try:
            return self._lock.acquire(timeout=timeout)
        finally:
            self._count(-1)

    def __enter__(self) -> ModelLock:
        self.acquire()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._lock.release()

    def _count(self, change: int) -> None:
        with self._counter:
            self._waiting += change
