# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The live loop: physics at real time, and the idle beat of every other state.

Deadlines are kept on an absolute schedule, so a stall is caught up by steps without pauses until
the schedule is met again, never longer.  A stall of more than MAX_CATCH_UP is written off.
"""

from __future__ import annotations

from collections import deque
import logging
import threading
import time

from urlab_ros_bridge.scheduling.thread_timing import ask_for_short_slices
from urlab_ros_bridge.scheduling.thread_timing import sleep_precisely
from urlab_ros_bridge.sim.physics.engine import Engine

IDLE_BEAT = 0.1  # s; stock servers repeat the state at about 10 Hz when nothing steps
MAX_CATCH_UP = 1.0  # s of schedule that a stall may leave to be caught up
METER_WINDOW = 1.0  # s
MAX_SLEEP = 0.05  # s; a change of speed or mode is noticed this soon, however long a step is
_LOG = logging.getLogger(__name__)


class RealTimeMeter:
    """Measures simulated seconds and ticks per wall second over a sliding window."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float, int]] = deque()
        self.real_time_factor = 0.0
        self.tick_rate = 0.0

    def sample(self, wall: float, sim: float, ticks: int) -> None:
        """Take one sample (s, s, count); call it a few times a second."""
        samples = self._samples
        if samples and (sim < samples[-1][1] or ticks < samples[-1][2]):
            samples.clear()
        samples.append((wall, sim, ticks))
        while len(samples) > 2 and wall - samples[0][0] > METER_WINDOW:
            samples.popleft()
        span = wall - samples[0][0]
        if span > 0:
            self.real_time_factor = (sim - samples[0][1]) / span
            self.tick_rate = (ticks - samples[0][2]) / span


class LiveLoop(threading.Thread):
    """Runs the engine in live mode and beats at 10 Hz otherwise."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(name='live-loop', daemon=True)
        self._engine = engine
        self._deadline: float | None = None
        self._next_sample = 0.0
        self._next_beat = 0.0
        self.meter = RealTimeMeter()

    def run(self) -> None:
        """Loop until the engine drains; what breaks stops time, never this thread."""
        engine = self._engine
        ask_for_short_slices()
        sleep_precisely()
        while not (engine.run.draining or engine.run.replaced):
            try:
                self._turn()
            except Exception as error:
                self._failed(error)

    def _turn(self) -> None:
        engine, lock = self._engine, self._engine.lock
        with lock:
            if engine.run.mode == 'live' and not engine.run.paused:
                delay = self._live_step()
            else:
                self._idle()
                return
        if delay > 0:
            time.sleep(min(delay, MAX_SLEEP))

    def _failed(self, error: Exception) -> None:
        reason = f'{type(error).__name__}: {error}'
        if reason != self._engine.run.fault:
            _LOG.error('the simulation failed and is paused: %s', reason, exc_info=error)
        with self._engine.lock:
            self._engine.run.fail(reason)
        time.sleep(IDLE_BEAT)

    def _live_step(self) -> float:
        """Run one sub-step when it is due; return seconds until the next one."""
        engine = self._engine
        now = time.perf_counter()
        period = engine.world.model.opt.timestep / engine.run.speed
        # Not later than one period from now: the speed may have been raised since.
        self._deadline = now if self._deadline is None else min(self._deadline, now + period)
        if now >= self._deadline:
            for hook in engine.hooks.before_live_step:
                hook()
            engine.begin_stepping(time.monotonic())
            engine.substep()
            engine.end_stepping(time.monotonic())
            engine.publish(rows=True)
            self._deadline += period
            now = time.perf_counter()
            if now - self._deadline > MAX_CATCH_UP:
                self._deadline = now
        if now >= self._next_sample:
            self._next_sample = now + 0.1
            self.meter.sample(now, engine.world.data.time, engine.clock.steps)
        return self._deadline - now

    def _idle(self) -> None:
        engine = self._engine
        self._deadline = None
        now = time.perf_counter()
        self.meter.sample(now, engine.world.data.time, engine.clock.steps)
        # A request that lets others pass between its sub-steps shows its state at the end.
        if now >= self._next_beat and not engine.run.advancing:
            self._next_beat = now + IDLE_BEAT
            engine.state_changed()
        engine.lock.changed.wait(max(self._next_beat - now, 0.001))
