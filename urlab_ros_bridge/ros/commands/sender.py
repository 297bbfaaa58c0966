# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Sends commands to the server.

A thread of its own sends them, so that neither the executor nor the stream ever waits for a reply.
For each key only the newest command waits.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import math
import threading
import time
from typing import NamedTuple

from urlab_ros_bridge.ros.commands.admission import CommandRejected

Action = Callable[[], None]
# Time limit for the last commands of a bridge that ends (s).
FINAL_SECONDS = 0.5
# Time limit for the action that is under way when sending is held (s).
HOLD_SECONDS = 1.0


class _Waiting(NamedTuple):
    """A command: how it is sent, and until when (monotonic, s)."""

    action: Action
    until: float = math.inf


class CommandSender:
    """Runs actions in turn; a newer action replaces a waiting one with the same key."""

    def __init__(
        self,
        on_error: Callable[[str, Exception], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Prepare the thread.

        :param on_error: called with the key and what the action raised.
        """
        self.sent = 0
        self._on_error = on_error
        self._monotonic = monotonic
        self._waiting: dict[str, _Waiting] = {}
        self._lock = lock = threading.Lock()
        # Two conditions, so that only threads with something to do are woken.
        self._changed, self._idle = threading.Condition(lock), threading.Condition(lock)
        self._stopped = self._busy = self._is_held = False
        self._thread = threading.Thread(target=self._run, name='commands', daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """
        Send the queued commands, then end.

        A server that does not reply, as it may be ending too, is not waited for: what does not
        arrive lapses on the server.
        """
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._thread.join(FINAL_SECONDS)

    def put(self, key: str, action: Action, max_wait: float = math.inf) -> None:
        """
        Queue an action; it replaces a waiting one with the same key.

        :param max_wait: it is dropped when it has to wait for longer (s), as behind a request that
            a stopped server does not answer.
        """
        with self._lock:
            self._waiting[key] = _Waiting(action, self._monotonic() + max_wait)
            self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        """Wait until the queue is empty; return False after the timeout (s)."""
        with self._changed:
            return self._idle.wait_for(lambda: not (self._waiting or self._busy), timeout)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Send nothing in the block, which begins after the action under way."""
        with self._changed:
            self._is_held = True
            self._idle.wait_for(lambda: not self._busy, HOLD_SECONDS)
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        """End a `held` block early: what waits is urgent."""
        with self._changed:
            self._is_held = False
            self._changed.notify_all()

    @property
    def _has_work(self) -> bool:
        return self._stopped or bool(self._waiting and not self._is_held)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._has_work)
                if not self._waiting:
                    return
                key = next(iter(self._waiting))
                waiting = self._waiting.pop(key)
                self._busy = True
            self._carry_out(key, waiting)

    def _carry_out(self, key: str, waiting: _Waiting) -> None:
        try:
            late = self._monotonic() - waiting.until
            if late > 0:
                raise CommandRejected(f'dropped: it waited {late:.1f} s too long for the server')
            waiting.action()
            self.sent += 1
        except Exception as error:
            # Whatever it is, the next command is sent: it may be the e-stop.
            if not self._stopped:
                self._on_error(key, error)
        finally:
            with self._changed:
                self._busy = False
                self._idle.notify_all()
