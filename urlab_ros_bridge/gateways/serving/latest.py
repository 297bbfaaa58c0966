# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""An executor in which newer jobs replace older ones, and a thread with a fixed rate."""

from __future__ import annotations

from collections.abc import Callable
import logging
import threading
import time
from typing import TypeAlias

_LOG = logging.getLogger(__name__)

Job: TypeAlias = Callable[[], None]

MAX_WAITING = 64
# A thread that lags more than this behind its schedule restarts the schedule (s).
_MAX_LAG = 0.25


class LatestExecutor:
    """
    Runs jobs one after the other in its own thread; the newest of each key replaces older ones.

    The thread starts with the first job.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._changed = threading.Condition()
        self._waiting: dict[object, Job] = {}
        self._thread: threading.Thread | None = None
        self._closed = self._running = False

    @property
    def is_idle(self) -> bool:
        """Return whether no job runs or waits."""
        with self._changed:
            return not (self._running or self._waiting)

    def submit(self, job: Job, key: object = None) -> bool:
        """
        Queue a job; block while `MAX_WAITING` others are waiting.

        :param key: the job replaces a waiting one with an equal key, at its place in the queue;
            None: it replaces none.
        :returns: whether a job was replaced, which will not run.
        """
        with self._changed:
            if key is None:
                key = object()
            replaces = key in self._waiting
            if not replaces:
                self._changed.wait_for(lambda: len(self._waiting) < MAX_WAITING or self._closed)
            if not self._closed:
                self._waiting[key] = job
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                    self._thread.start()
                self._changed.notify_all()
            return replaces

    def close(self) -> None:
        """Drop the waiting jobs, and wait for the running one."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._running = False
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                job = self._waiting.pop(next(iter(self._waiting)))
                self._running = True
                self._changed.notify_all()
            run_safely(job)


class PeriodicThread:
    """Calls a function at a fixed rate, on an absolute schedule, from `start` to `stop`."""

    def __init__(self, name: str, job: Job, rate: float) -> None:
        """
        Prepare.

        :param rate: calls per second.
        """
        self._job = job
        self._period = 1.0 / rate
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the running call; safe to call twice."""
        self._stopping.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stopping.is_set():
            run_safely(self._job)
            due += self._period
            left = due - time.monotonic()
            if left < -_MAX_LAG:
                due -= left
            self._stopping.wait(max(0.0, left))


def run_safely(job: Job) -> None:
    """Run a job; an error is logged, so that the thread survives it."""
    try:
        job()
    except Exception:
        _LOG.exception('%s failed', threading.current_thread().name)


__all__ = ['MAX_WAITING', 'LatestExecutor', 'PeriodicThread', 'run_safely']
