# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Who runs a request: the thread that read it, or, when it takes long, one beside it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import threading
from typing import TypeAlias

from urlab_ros_bridge.gateways.chiral.errors import PeerError

Job: TypeAlias = Callable[[], None]

MAX_WAITING = 64


class TooMany(PeerError):
    """A peer sends requests faster than they can be answered."""

    def __init__(self) -> None:
        super().__init__(f'more than {MAX_WAITING} requests are waiting')


class Turns:
    """
    Jobs of one connection, in order.

    A short job runs at once, in the caller's thread, when nothing is before it.  A long one runs
    in a second thread, with everything that comes meanwhile behind it, so that the caller goes on
    reading: pings are answered during a reset of a minute.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._worker: threading.Thread | None = None

    def run(self, job: Job, long: bool = False) -> None:
        """
        Run `job` when those before it are done; jobs must not raise.

        :raises TooMany: when too many wait.
        """
        with self._lock:
            if self._worker is None and not long:
                here = True
            else:
                here = False
                if len(self._waiting) >= MAX_WAITING:
                    raise TooMany
                self._waiting.append(job)
                if self._worker is None:
                    self._worker = threading.Thread(target=self._work, name=self._name)
                    self._worker.daemon = True
                    self._worker.start()
        if here:
            job()

    def close(self) -> None:
        """Drop what waits, and wait for the running job."""
        with self._lock:
            self._waiting.clear()
            worker = self._worker
        if worker is not None:
            worker.join()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._worker = None
                    return
                job = self._waiting.popleft()
            job()
