# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Lockstep: time is frozen until a command arrives, and each lasts one control period."""

from __future__ import annotations

from collections.abc import Callable
import math
import threading

from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.gateways.chiral.serving.pace import Pace
from urlab_ros_bridge.gateways.chiral.serving.pace import Resolve
from urlab_ros_bridge.gateways.chiral.serving.pace import RobotControl
from urlab_ros_bridge.gateways.chiral.serving.pace import TimedState
from urlab_ros_bridge.gateways.errors import RobotError
from urlab_ros_bridge.gateways.motion.target import between
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simulation.link import SimulationLink
from urlab_ros_bridge.gateways.simulation.pace import SteppedTime


class Lockstep(Pace):
    """
    The server runs in direct mode: equal seeds and equal commands give equal states.

    A state is that after the last step, however often it is requested.  The server's mode
    is restored at the end.  When time passes in another way than by commands, the driver
    gets an error, because the episode would not be reproducible.
    """

    def __init__(self, link: SimulationLink, control: RobotControl) -> None:
        super().__init__(link, control)
        self._lock = threading.RLock()
        link.warm_up(control.cameras)
        self._time = SteppedTime(link, control.rate)
        self._now: TimedState | None = None

    def act(self, resolve: Resolve, took_effect: Callable[[float], None]) -> None:
        with self._lock:
            now = self._ready()
            began = self._timed(now.seen, now.target)
            # Resolve all targets before the first one moves anything.
            targets = resolve(now.seen, now.target)
            took_effect(began.stamp)
            for index, target in enumerate(targets):
                now = self._advance(now, target, last=index == len(targets) - 1)

    def timed_state(self) -> TimedState:
        with self._lock:
            return self._ready()

    def begin(self, reset: Callable[[], StepResult], settle: float = 0.0) -> StepResult:
        with self._lock:
            self._time.restart()
            seen = reset()
            self._observe(self._control.hold(seen), settle)
            return seen

    def command(self, target: Target) -> None:
        with self._lock:
            self._set_twist(target, by_wall_clock=False)
            now = self._ready()
            # Sent with the next step; until then nothing moves.
            self._now = TimedState(now.seen, target, now.stamp)

    def current(self) -> tuple[StepResult, Target]:
        now = self.timed_state()
        return now.seen, now.target

    def close(self) -> None:
        """Restore the mode of the server."""
        self._time.restore()

    def _advance(self, before: TimedState, target: Target, last: bool) -> TimedState:
        """Advance one control period; only its end is observed and rendered."""
        control = self._control
        steps = self._time.next_steps()
        segments = 1
        if control.interpolation_rate is not None and control.smooth:
            segments = max(1, min(steps, math.ceil(control.interpolation_rate / control.rate)))
        self._set_twist(target, by_wall_clock=False)
        seen, done = before.seen, 0
        for segment in range(1, segments + 1):
            until = steps * segment // segments
            # Each segment gets the setpoint at its end, so the last one is the target itself.
            setpoint = between(before.target, target, segment / segments, control.smooth)
            seen = self._step(setpoint, until - done, images=last and segment == segments)
            done = until
        self._check_elapsed(steps, before.seen, seen)
        self._now = self._timed(seen, target)
        return self._now

    def _check_elapsed(self, steps: int, before: StepResult, after: StepResult) -> None:
        if after.divergence != before.divergence:
            return  # MuJoCo has reset the world; the task reports it
        timestep = self._link.timestep
        passed = after.time - before.time
        if abs(passed - steps * timestep) > timestep / 2:
            self._now = None
            raise RobotError(
                f'{passed:.4f} s passed instead of {steps * timestep:.4f} s: another client '
                'stepped the simulation or changed its mode; reset to recover'
            )

    def _observe(self, target: Target, settle: float) -> TimedState:
        """Hold still for at least one step: in direct mode only steps make images."""
        steps = max(1, round(settle / self._link.timestep))
        self._now = self._timed(self._step(target, steps, images=True), target)
        return self._now

    def _ready(self) -> TimedState:
        return self._now or self._observe(self._control.hold(self._link.forward()), 0.0)


__all__ = ['Lockstep']
