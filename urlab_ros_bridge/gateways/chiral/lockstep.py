# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Lockstep: time stands still until an action comes, and each lasts one control period."""

from __future__ import annotations

import math
import threading

from urlab_ros_bridge.client.results import StepResult
from urlab_ros_bridge.gateways.chiral.codec import Action
from urlab_ros_bridge.gateways.chiral.errors import RobotError
from urlab_ros_bridge.gateways.chiral.observer import Observer
from urlab_ros_bridge.gateways.chiral.pace import Moment
from urlab_ros_bridge.gateways.chiral.pace import Pace
from urlab_ros_bridge.gateways.chiral.simulation import Simulation
from urlab_ros_bridge.gateways.chiral.target import between
from urlab_ros_bridge.gateways.chiral.target import Target


class Lockstep(Pace):
    """
    The server runs in direct mode: equal seeds and equal actions give equal observations.

    An observation is the end of the last step, whoever asks for it and how often.  The server's
    mode is given back at the end.  When time passes in another way than by actions, the driver
    is told: its episode could not be repeated.
    """

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation)
        self._lock = threading.RLock()
        self._cameras = self.observer().requested
        simulation.warm_up(self._cameras)
        self._mode_before = simulation.use_mode('direct')
        self._period = 0
        self._now: Moment | None = None

    def act(self, action: Action) -> None:
        rows = self.simulation.layout.rows(action.values)
        with self._lock:
            now = self._ready()
            stamp = self._stamp(now.seen) if self.profile.clock != 'sim' else now.seen.time
            # All rows are checked before the first one moves anything.
            targets = self._resolve(rows, now)
            self.latency.add(action.timestamps, stamp)
            for index, target in enumerate(targets):
                self._advance(target, last=index == len(targets) - 1)

    def close(self) -> None:
        """Give the server its mode back."""
        if self._mode_before != 'direct':
            self.simulation.use_mode(self._mode_before)

    def _resolve(self, rows, now: Moment) -> list[Target]:  # noqa: ANN001, shape (N, D)
        layout = self.simulation.layout
        if layout.needs_scene:
            self._scene.update(now.seen)
        targets = [now.target]
        for row in rows:
            targets.append(layout.resolve(row, targets[-1], self._scene))
        return targets[1:]

    def _advance(self, target: Target, last: bool) -> None:
        """Go one control period; only its end is looked at, and pictured."""
        simulation, control = self.simulation, self.profile.control
        steps = simulation.steps_at(self._period)
        start = self._now.target
        legs = 1
        if control.interpolate and simulation.layout.smooth:
            legs = max(1, min(steps, math.ceil(control.interpolation_rate / control.rate)))
        simulation.drive(target, self.twist_timeout)
        done = 0
        for leg in range(1, legs + 1):
            until = steps * leg // legs
            final = leg == legs
            # The set-point of a leg is the one at its end: the last leg has the target itself.
            way = between(start, target, leg / legs, simulation.layout.smooth)
            cameras = self._cameras if last and final else None
            seen = simulation.step(way, until - done, cameras)
            done = until
        self._must_have_passed(steps, self._now.seen, seen)
        self._period += 1
        self._now = Moment(seen, target, self._stamp(seen))

    def _must_have_passed(self, steps: int, before: StepResult, after: StepResult) -> None:
        timestep = self.simulation.timestep
        passed = after.time - before.time
        if abs(passed - steps * timestep) > timestep / 2:
            self._now = None
            raise RobotError(
                f'{passed:.4f} s passed instead of {steps * timestep:.4f} s: somebody else '
                'stepped the simulation or changed its mode; a reset takes it back'
            )

    def _moment(self, observer: Observer) -> Moment:
        with self._lock:
            return self._ready()

    def _begin(self, seed: int, keyframe: str, settle: float) -> float:
        with self._lock:
            self.simulation.use_mode('direct')  # somebody may have changed it
            seen = self.simulation.reset(seed, keyframe)
            self._period = 0
            self._look(self.simulation.holding(seen), settle)
            return seen.time

    def _look(self, target: Target, settle: float) -> None:
        """Hold still for at least a step: a direct server makes pictures of steps only."""
        steps = max(1, round(settle / self.simulation.timestep))
        seen = self.simulation.step(target, steps, self._cameras)
        self._now = Moment(seen, target, self._stamp(seen))

    def _ready(self) -> Moment:
        if self._now is None:
            self._look(self.simulation.holding(self.simulation.commands.forward()), 0.0)
        return self._now

    def _command(self, target: Target) -> None:
        with self._lock:
            self.simulation.drive(target, self.twist_timeout)
            now = self._ready()
            # Sent with the next step; until then nothing moves.
            self._now = Moment(now.seen, target, now.stamp)

    def _current(self) -> tuple[StepResult, Target]:
        with self._lock:
            now = self._ready()
            return now.seen, now.target
