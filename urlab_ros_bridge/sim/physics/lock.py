# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The lock of the simulated world, for every read and change."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
import threading

from urlab_ros_bridge.sim.requests.sessions import ServerSession

# Instead of the number of a turn: before all sessions, and before those the step of one of them
# that has let others pass.
_URGENT = -2
_RESUMED = ServerSession(last_turn=-1)


@dataclass(slots=True, eq=False)
class _Waiter:
    """A thread that waits; `gate` opens when the lock is its own."""

    session: ServerSession | None
    gate: threading.Lock = field(default_factory=threading.Lock)


class ModelLock:
    """
    A lock that is handed over to waiting threads in a fair order.

    First come the simulation itself and what stops it (without a session), then the session whose
    last turn was longest ago.  So no number of sessions with long steps delays a pause by more
    than one of their sub-steps, or each other by more than a turn each.

    :ivar urgent: how many wait that go first.
    :ivar changed: notified when time may run, or the world ends.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: list[_Waiter] = []
        self._guard = threading.Lock()  # of the queue
        self._turns = 0
        self._holder: ServerSession | None = None
        self.urgent = 0
        self.changed = threading.Condition(self)  # type: ignore[arg-type]

    def acquire(
        self, blocking: bool = True, timeout: float = -1.0, session: ServerSession | None = None
    ) -> bool:
        """
        Take the lock.

        :param timeout: seconds; negative: wait as long as it takes.
        :param session: on whose behalf; None goes first.
        :return: False when it was not free in time.
        """
        free = self._lock.acquire(blocking=False) or (blocking and self._wait(timeout, session))
        if not free:
            return False
        self._holder = session
        if session is not None:
            self._turns = session.last_turn = self._turns + 1
        return True

    def release(self) -> None:
        """Release the lock, or hand it over to the next waiting thread."""
        with self._guard:
            queue = self._queue
            if not queue:
                self._lock.release()
                return
            # Of equals the first one, which has waited longest.
            chosen = min(
                queue, key=lambda waiter: waiter.session.last_turn if waiter.session else _URGENT
            )
            self._remove(chosen)
        chosen.gate.release()

    def let_urgent_pass(self) -> None:
        """Hand the lock over to threads that wait without a session, and take it back."""
        holder, waiter = self._holder, _Waiter(_RESUMED)
        waiter.gate.acquire()
        with self._guard:
            self._queue.append(waiter)
        self.release()
        waiter.gate.acquire()
        self._holder = holder

    def __enter__(self) -> ModelLock:
        self.acquire()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    # Required by threading.Condition: a thread that waited for a change queues again.

    def _is_owned(self) -> bool:
        return self._lock.locked()

    def _release_save(self) -> ServerSession | None:
        holder = self._holder
        self.release()
        return holder

    def _acquire_restore(self, holder: ServerSession | None) -> None:
        self.acquire(session=holder)

    def _wait(self, timeout: float, session: ServerSession | None) -> bool:
        waiter = _Waiter(session)
        waiter.gate.acquire()
        with self._guard:
            if self._lock.acquire(blocking=False):
                return True
            self._queue.append(waiter)
            self.urgent += session is None
        if waiter.gate.acquire(timeout=timeout):
            return True
        with self._guard:
            if waiter in self._queue:
                self._remove(waiter)
                return False
        return True  # it was handed over just now

    def _remove(self, waiter: _Waiter) -> None:
        # Waiters are compared by identity.
        self._queue = [each for each in self._queue if each is not waiter]
        self.urgent -= waiter.session is None
