# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""How time runs in a world: its clock and counters; mode, pause and pace, and waiting for them."""

from __future__ import annotations

from collections import Counter
import threading
import time
from typing import Any
from typing import Protocol

import mujoco

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.physics.lock import ModelLock
from urlab_ros_bridge.wire.stamp import seconds_to_ns


class WorldClock:
    """
    Time and counters of one world.

    :ivar steps: sub-steps since the start or the last time reset.
    :ivar epoch: how often time and `steps` started over.
    :ivar resets: how often the state or the time was set back: earlier commands were meant for
        another state.
    :ivar frame_id: number of the present state, for cameras; it grows with every change of the
        state, over resets too.
    :ivar divergences: how often the simulation became unstable; resets do not lower it.
    """

    def __init__(self, data: mujoco.MjData) -> None:
        self._data = data
        self.steps = self.epoch = self.resets = self.frame_id = self.divergences = 0
        self._alone: Counter[str] = Counter()  # resets of one robot alone

    @property
    def stamp_ns(self) -> int:
        """Return the simulation time as integer nanoseconds."""
        return seconds_to_ns(self._data.time)

    @property
    def counter(self) -> tuple[int, int]:
        """Return (epoch, steps) as they are now."""
        return self.epoch, self.steps

    def steps_since(self, base: tuple[int, int]) -> int:
        """Return the sub-steps since a `counter`; a time reset in between counts from there."""
        epoch, steps = base
        return self.steps - steps if epoch == self.epoch else self.steps

    def count_reset(self, prefix: str = '') -> None:
        """Count a reset; `prefix`: of the robot that was reset alone, empty: all."""
        self.resets += 1
        if prefix:
            self._alone[prefix] += 1

    def resets_of(self, prefix: str) -> int:
        """Return how often a robot was reset, alone or with all others."""
        return self.resets - self._alone.total() + self._alone[prefix]

    def restart(self, steps: int = 0) -> None:
        """Begin another epoch, after so many steps of it."""
        self.epoch += 1
        self.steps = steps

    def resume(self, other: WorldClock) -> None:
        """Continue the counts of the world that this one replaces; its time is carried with it."""
        for name in ('steps', 'epoch', 'resets', 'frame_id', 'divergences', '_alone'):
            setattr(self, name, getattr(other, name))


class ReplaySource(Protocol):
    """A source of states.  While one is the engine's, steps show its frames."""

    def advance(self, count: int, deadline: float) -> None:
        """
        Show the next `count` frames, fewer at the end.  Needs the engine's lock.

        :param deadline: time.monotonic at which the step has to be done.
        :raises OpError: step_timeout at the deadline, shutting_down when the server drains.
        """

    def report(self) -> dict[str, Any]:
        """Return the extension block of a step reply."""


STEP_TIMEOUT = 5.0  # seconds of wall time, Protocol Reference, "Errors": step_timeout
PROMOTION_WAIT = 0.02  # seconds that a hello waits for the model at most
# A live world that becomes unstable this often, each time within so many simulated seconds of the
# last, is paused: it would jump back forever.
_MAX_DIVERGENCES = 10
_RECOVERY_SECONDS = 1.0
_CONTINUED = ('mode', 'pinned', 'mode_chosen', 'paused', 'speed', 'fault', 'seconds_per_step')


class ExecutionState:
    """
    Mode, pause and pace of one world.

    :ivar mode: 'live', 'direct' or 'puppet'.
    :ivar pinned: the mode cannot be changed by clients.
    :ivar mode_chosen: a client set a mode, so a plain hello no longer promotes to direct.
    :ivar paused: time does not run.
    :ivar speed: live pacing as a fraction of real time, 0.05 to 1.
    :ivar fault: why the live loop has stopped time, '' when all is well.
    :ivar e_stop: the e-stop is engaged: robots are stopped, and commands refused.
    :ivar e_stops: how often it was engaged.
    :ivar stop_due: robots have to be stopped before the next sub-step.
    :ivar replay_source: a replay that replaces physics; live mode and reset end it.
    :ivar seconds_per_step: running mean of the wall time of a sub-step.
    :ivar advancing: a step request is under way: urgent requests may pass between its sub-steps.
    :ivar draining: the server or the world ends: waiting requests are answered.
    :ivar replaced: a changed world has taken the place of this one.
    """

    def __init__(
        self, lock: ModelLock, step_mode: str = 'auto', paused: bool = False, speed: float = 1.0
    ) -> None:
        """
        Begin in a mode.

        :param lock: of the world; waiting threads are woken through its condition.
        :param step_mode: ``auto``, or a mode that is then pinned.
        """
        self.lock = lock
        self._mode_lock = threading.Lock()
        self.pinned = step_mode != 'auto'
        self.mode = step_mode if self.pinned else 'live'
        self.mode_chosen = self.pinned
        self.paused = paused
        self.speed = speed
        self.fault = ''
        self.e_stop = self.stop_due = False
        self.e_stops = 0
        self.replay_source: ReplaySource | None = None
        self.advancing = False
        self.draining = False
        self.replaced = False
        self.seconds_per_step = 1e-4
        self._divergences = 0  # in a row
        self._recovered_at = 0.0  # simulated s after the last one

    def resume(self, other: ExecutionState) -> None:
        """Continue as the world that this one replaces."""
        for name in _CONTINUED:
            setattr(self, name, getattr(other, name))
        self._divergences, self._recovered_at = other._divergences, other._recovered_at

    def set_mode(self, mode: str) -> str:
        """
        Change the mode and return the previous one.  Needs the lock.

        Entering direct or puppet ends a pause; a mode that is set already changes nothing.
        """
        with self._mode_lock:
            previous = self._enter(mode)
        if mode != previous:
            self.lock.changed.notify_all()
        return previous

    def promote_to_direct(self) -> None:
        """
        Enter direct mode for a stock client, unless a mode was set before.

        Takes the lock itself, but never waits long for it: a hello must be quick.
        """
        if self.mode_chosen:
            return
        held = self.lock.acquire(timeout=PROMOTION_WAIT)
        try:
            with self._mode_lock:
                if not self.mode_chosen:
                    self._enter('direct')
            if held:
                self.lock.changed.notify_all()
        finally:
            if held:
                self.lock.release()

    def _enter(self, mode: str) -> str:
        previous, self.mode, self.mode_chosen = self.mode, mode, True
        if mode not in ('live', previous):
            self.paused = False
        if mode == 'live':
            self.replay_source = None
        return previous

    def set_paused(self, paused: bool) -> bool:
        """Stop or resume time, and clear a fault; return whether that changed.  Needs the lock."""
        self.clear_fault()
        changed = paused != self.paused
        if changed:
            self.paused = paused
            self.lock.changed.notify_all()
        return changed

    def engage_e_stop(self) -> None:
        """Engage the e-stop, without the lock: it must wait for nothing."""
        self.e_stops += 1
        self.e_stop = self.stop_due = True

    def clear_fault(self) -> None:
        """Clear the reason why time was stopped."""
        self.fault = ''
        self._divergences = 0

    def fail(self, reason: str) -> None:
        """Stop time, until `set_paused` or a reset, because stepping broke.  Needs the lock."""
        self.fault = reason
        self.paused = True
        self.lock.changed.notify_all()

    def record_divergence(self, reason: str, before: float, now: float) -> None:
        """
        Stop a live world that becomes unstable again and again.  Needs the lock.

        :param before: simulated time (s) before the step; `now`: after MuJoCo's reset.
        """
        quick = before - self._recovered_at < _RECOVERY_SECONDS
        self._divergences = self._divergences + 1 if quick else 1
        self._recovered_at = now
        if self.mode == 'live' and self._divergences >= _MAX_DIVERGENCES:
            self.fail(f'unstable {self._divergences} times in a row: {reason}')

    @staticmethod
    def step_deadline() -> float:
        """Return when a step request that begins now has to be done, by time.monotonic."""
        return time.monotonic() + STEP_TIMEOUT

    def check_deadline(self, deadline: float, done: int, count: int) -> None:
        """
        Abort a step request that has steps left but no time.

        :raises OpError: step_timeout or shutting_down.
        """
        if done == count:
            return
        if self.draining:
            raise OpError('shutting_down')
        if time.monotonic() > deadline:
            raise OpError(
                'step_timeout',
                f'{done} of {count} steps done in {STEP_TIMEOUT:g} s; '
                'ask for fewer steps at a time',
            )

    def wait_unpaused(self, deadline: float) -> None:
        """
        Wait until time may run in direct mode.  Needs the lock, which is free while waiting.

        :raises OpError: step_timeout at the deadline or when the mode is changed first,
            shutting_down when the server drains.
        """
        while self.paused and self.mode == 'direct' and not (self.draining or self.replaced):
            left = deadline - time.monotonic()
            if left <= 0:
                raise OpError('step_timeout', 'the simulation is paused; set_paused false first')
            self.lock.changed.wait(left)
        if self.draining:
            raise OpError('shutting_down')
        if self.replaced:
            raise OpError('session_expired', 'the world has changed; send hello again')
        if self.mode != 'direct':
            raise OpError('step_timeout', f'the mode changed to {self.mode} while the step waited')
