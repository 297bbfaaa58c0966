# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which thread runs a request: the one that read it, or, when it takes long, another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import threading
from typing import TypeAlias

Job: TypeAlias = Callable[[], None]

MAX_WAITING = 64


class RequestTurns:
    """
    Jobs of one connection, in order.

    A short job runs at once, in the caller's thread, when nothing is before it.  A long one runs
    in a second thread, with everything that arrives meanwhile behind it, so that the caller
    continues reading: pings are answered during a reset of a minute.  When `MAX_WAITING` jobs
    wait, so does the caller: a peer that sends faster than it is answered is slowed down by its
    socket.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._worker: threading.Thread | None = None

    def run(self, job: Job, long: bool = False) -> None:
        """Run `job` when those before it are done; jobs must not raise."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < MAX_WAITING)
            here = self._worker is None and not long
            if not here:
                self._waiting.append(job)
                if self._worker is None:
                    self._worker = threading.Thread(
                        target=self._run_jobs, name=self._name, daemon=True
                    )
                    self._worker.start()
        if here:
            job()

    def close(self) -> None:
        """Drop what waits, and wait for the running job."""
        with self._changed:
            self._waiting.clear()
            worker = self._worker
        if worker is not None:
            worker.join()

    def _run_jobs(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._worker = None
                    return
                job = self._waiting.popleft()
                self._changed.notify()
            job()


__all__ = ['MAX_WAITING', 'RequestTurns']
