# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The lock of the simulated world, for every read and change."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
import threading

from urlab_ros_bridge.sim.requests.sessions import LockTurns

# Instead of the number of a turn: before all sessions, and before those the step of one of them
# that has let others pass.
_URGENT = -2
_RESUMED = LockTurns(-1)


@dataclass(slots=True, eq=False)
class _Waiter:
    """A thread that waits; `gate` opens when the lock is its own."""

    turn: LockTurns | None
    gate: threading.Lock = field(default_factory=threading.Lock)


class ModelLock:
    """
    A lock that is handed to whoever has waited for it, in a fair order.

    First come the simulation itself and what stops it (without `turn`), then the session whose
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
        self._holder: LockTurns | None = None
        self.urgent = 0
        self.changed = threading.Condition(self)  # type: ignore[arg-type]

    def acquire(
        self, blocking: bool = True, timeout: float = -1.0, turn: LockTurns | None = None
    ) -> bool:
        """
        Take the lock.

        :param timeout: seconds; negative: wait as long as it takes.
        :param turn: of the session that asks; None goes first.
        :return: False when it was not free in time.
        """
        free = self._lock.acquire(blocking=False) or (blocking and self._wait(timeout, turn))
        if not free:
            return False
        self._holder = turn
        if turn is not None:
            self._turns = turn.last = self._turns + 1
        return True

    def release(self) -> None:
        """Give the lock to the next one who waits."""
        with self._guard:
            queue = self._queue
            if not queue:
                self._lock.release()
                return
            # Of equals the first one, which has waited longest.
            chosen = min(queue, key=lambda waiter: waiter.turn.last if waiter.turn else _URGENT)
            self._remove(chosen)
        chosen.gate.release()

    def let_urgent_pass(self) -> None:
        """Give the lock, which is held, to those without a turn who wait, and take it back."""
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

    # What threading.Condition asks of a lock: who waited for a change queues for a turn again.

    def _is_owned(self) -> bool:
        return self._lock.locked()

    def _release_save(self) -> LockTurns | None:
        holder = self._holder
        self.release()
        return holder

    def _acquire_restore(self, holder: LockTurns | None) -> None:
        self.acquire(turn=holder)

    def _wait(self, timeout: float, turn: LockTurns | None) -> bool:
        waiter = _Waiter(turn)
        waiter.gate.acquire()
        with self._guard:
            if self._lock.acquire(blocking=False):
                return True
            self._queue.append(waiter)
            self.urgent += turn is None
        if waiter.gate.acquire(timeout=timeout):
            return True
        with self._guard:
            if waiter in self._queue:
                self._remove(waiter)
                return False
        return True  # it was handed over just now

    def _remove(self, waiter: _Waiter) -> None:
        # Waiters are told apart by identity.
        self._queue = [each for each in self._queue if each is not waiter]
        self.urgent -= waiter.turn is None


__all__ = ['LockTurns', 'ModelLock']
