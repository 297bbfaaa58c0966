# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Commands on their way to the server.

A thread of its own sends them, so that neither the executor nor the stream ever waits for a reply.
For each key only the newest command waits.

In a lockstep, which has to wait for the replies anyway, its thread sends them itself: that saves
waking two threads.  A twist need not be sent at all: it rides with the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from contextlib import AbstractContextManager
import math
import threading
import time
from typing import Any
from typing import NamedTuple

from urlab_ros_bridge.ros.commands.admission.limits import CommandRejected
from urlab_ros_bridge.wire.errors import UrlabError

Action = Callable[[], None]
# The last commands of a bridge that ends may take so long (s).
FINAL_SECONDS = 0.5


class TwistRider(NamedTuple):
    """A twist as a step takes it along: robot, and the fields of `set_twist`."""

    prefix: str
    fields: Mapping[str, Any]


class _Waiting(NamedTuple):
    """A command: how it is sent, until when (monotonic, s), and how a step takes it along."""

    action: Action
    until: float = math.inf
    rider: TwistRider | None = None


class CommandSender:
    """Runs actions one after the other; of those with the same key that wait, only the newest."""

    def __init__(
        self,
        on_error: Callable[[str, UrlabError], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Prepare the thread.

        :param on_error: called with the key and what the action raised.
        """
        self.sent = 0
        self.replaced = 0
        self._on_error = on_error
        self._monotonic = monotonic
        self._waiting: dict[str, _Waiting] = {}
        self._riding: dict[str, _Waiting] = {}
        self._taken: dict[str, _Waiting] = {}
        self._lock = lock = threading.Lock()
        # Two conditions, so that nobody is woken who has nothing to do.
        self._changed, self._idle = threading.Condition(lock), threading.Condition(lock)
        self._stopped = self._busy = self._held = False
        self._thread = threading.Thread(target=self._run, name='commands', daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """
        Send what waits, then end.

        A server that does not reply, as it may be ending too, is not waited for: the commands are
        on their way, and what does not arrive lapses on the server.
        """
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._thread.join(FINAL_SECONDS)

    def put(
        self,
        key: str,
        action: Action,
        max_wait: float = math.inf,
        rider: TwistRider | None = None,
    ) -> None:
        """
        Have an action carried out soon, in place of one with the same key that still waits.

        :param max_wait: it is dropped when it has to wait for longer (s), as behind a request that
            a stopped server does not answer.
        :param rider: what a step does in place of the action.
        """
        with self._lock:
            self.replaced += key in self._waiting
            self._riding.pop(key, None)
            self._taken.pop(key, None)
            self._waiting[key] = _Waiting(action, self._monotonic() + max_wait, rider)
            if not self._held:
                self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        """Wait until everything that was put was carried out; false when it takes too long (s)."""
        with self._changed:
            return self._idle.wait_for(lambda: not (self._waiting or self._busy), timeout)

    def by_caller(self, riding: bool, timeout: float) -> AbstractContextManager[None]:
        """
        Carry out what is put in the block at its end, in this thread.

        :param riding: keep what can ride with a step for `take_riders`.
        :param timeout: s that an action of the thread which is under way is waited for.
        """
        return _ByCaller(self, riding, timeout)

    def take_riders(self) -> dict[str, TwistRider]:
        """Return what a step takes along now, by key; then `riders_sent` or `return_riders`."""
        with self._lock:
            riders = {key: each.rider for key, each in self._riding.items() if each.rider}
            self._taken, self._riding = self._riding, {}
            return riders

    def riders_sent(self) -> None:
        """Note that a step has taken the riders along."""
        with self._lock:
            self.sent += len(self._taken)
            self._taken = {}

    def return_riders(self, timeout: float) -> None:
        """Send what was taken last and came to nothing, and what waits for a step, by itself."""
        with self._changed:
            # What has come meanwhile is newer.
            self._waiting = {**self._taken, **self._riding, **self._waiting}
            self._taken, self._riding = {}, {}
            self._changed.notify_all()
        self.flush(timeout)

    def _hold(self) -> None:
        with self._lock:
            self._held = True

    def _next_by_caller(self, riding: bool, timeout: float) -> bool:
        with self._lock:
            if self._busy:
                self._idle.wait_for(lambda: not self._busy, timeout)
            if not self._waiting or self._busy:
                self._held = False
                return False
            key = next(iter(self._waiting))
            waiting = self._waiting.pop(key)
            if riding and waiting.rider is not None:
                self._riding[key] = waiting
                return True
            self._busy = True
        self._carry_out(key, waiting)
        return True

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: (self._waiting and not (self._held or self._busy)) or self._stopped
                )
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
        except UrlabError as error:
            if not self._stopped:
                self._on_error(key, error)
        finally:
            with self._changed:
                self._busy = False
                self._idle.notify_all()


class _ByCaller:
    """The block of `by_caller`; a generator would take 1 us more in each round."""

    def __init__(self, sender: CommandSender, riding: bool, timeout: float) -> None:
        self._sender, self._riding, self._timeout = sender, riding, timeout

    def __enter__(self) -> None:
        self._sender._hold()

    def __exit__(self, *_: object) -> None:
        while self._sender._next_by_caller(self._riding, self._timeout):
            pass
