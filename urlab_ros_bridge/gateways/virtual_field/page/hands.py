# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The thread for continuous input: of each kind only the newest request is executed."""

from __future__ import annotations

from collections.abc import Callable
import threading

Job = Callable[[], None]

MAX_WAITING = 64


class NewestJobs:
    """
    Runs jobs in its own thread; a newer one takes the place of one that waits.

    The thread begins with the first job.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._changed = threading.Condition()
        self._waiting: dict[str, Job] = {}
        self._thread: threading.Thread | None = None
        self._stopping = False

    def put(self, kind: str, job: Job) -> None:
        """Run a job soon, unless a newer one of its kind comes before; it must not raise."""
        with self._changed:
            if self._stopping:
                return
            # At its place in the queue: a fast hand does not delay the other.
            self._waiting[kind] = job
            if len(self._waiting) > MAX_WAITING:
                del self._waiting[next(iter(self._waiting))]
            self._changed.notify()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Drop what waits, and wait for the running job."""
        with self._changed:
            self._stopping = True
            self._waiting.clear()
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopping)
                if self._stopping:
                    return
                kind = next(iter(self._waiting))
                job = self._waiting.pop(kind)
            job()


__all__ = ['NewestJobs']
