# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks for the stream thread, the only one that publishes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import threading

Task = Callable[[], None]


class StreamTasks:
    """
    Tasks that other threads hand to the stream thread, which runs them between two ticks.

    :ivar thread: the stream thread, None before it is made.
    :ivar wake: ends the wait of that thread for a tick; callable from any thread.
    """

    def __init__(self, on_error: Callable[[Task, Exception], None]) -> None:
        """
        Begin without tasks.

        :param on_error: called with a task and what it raised; the next tasks follow.
        """
        self._on_error = on_error
        self.thread: threading.Thread | None = None
        self.wake: Task = lambda: None
        self._tasks: deque[Task] = deque()

    def put(self, task: Task) -> None:
        """Queue a task, and return at once."""
        self._tasks.append(task)
        self.wake()

    def run_and_wait(self, task: Task, timeout: float = 5.0) -> bool:
        """
        Run a task in the stream thread, and return whether it was done in time.

        Without that thread, the task runs at once in the calling thread.  A task that does not
        begin in time, because publishing waits for a slow disk, is dropped.  What the task raises
        is raised here.

        :param timeout: s.
        """
        if self.thread is None or not self.thread.is_alive():
            task()
            return True
        done, errors = threading.Event(), []

        def run() -> None:
            try:
                task()
            except Exception as error:
                errors.append(error)
            finally:
                done.set()

        self.put(run)
        if not done.wait(timeout):
            try:
                self._tasks.remove(run)
            except ValueError:  # it has just begun
                done.wait(timeout)
        for error in errors:
            raise error
        return done.is_set()

    def run_all(self) -> bool:
        """Run what was queued; called in the stream thread.  Return whether there was anything."""
        found = bool(self._tasks)
        while self._tasks:
            task = self._tasks.popleft()
            try:
                task()
            except Exception as error:
                self._on_error(task, error)
        return found

    def __bool__(self) -> bool:
        """Return whether a task waits."""
        return bool(self._tasks)
