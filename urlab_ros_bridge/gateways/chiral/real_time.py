# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Real time: the world goes on by itself; actions and observations do not wait for each other."""

from __future__ import annotations

from collections.abc import Mapping
import threading
import time

from urlab_ros_bridge.client.results import StepResult
from urlab_ros_bridge.gateways.chiral.codec import Action
from urlab_ros_bridge.gateways.chiral.mover import Mover
from urlab_ros_bridge.gateways.chiral.observer import Observer
from urlab_ros_bridge.gateways.chiral.pace import Moment
from urlab_ros_bridge.gateways.chiral.pace import Pace
from urlab_ros_bridge.gateways.chiral.simulation import Simulation
from urlab_ros_bridge.gateways.chiral.target import Target
from urlab_ros_bridge.gateways.chiral.watcher import Watcher


class RealTime(Pace):
    """The server runs in live mode, at its own speed."""

    in_order = False

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation)
        simulation.use_mode('live')
        control = self.profile.control
        self._acting = threading.Lock()
        self._stamps: Mapping[str, float] = {}
        self._state = simulation.commands.step()
        interval = 1 / control.interpolation_rate if control.interpolate else None
        cameras = self._cameras = self.observer().requested
        simulation.warm_up(cameras)
        self._mover = Mover(self._send, 1 / control.rate, interval, simulation.layout.smooth)
        self._mover.place(simulation.holding(self._state))
        keeps_looking = bool(cameras) and self.profile.frames == 'latest'
        self._watcher = Watcher(self._look, 1 / control.rate) if keeps_looking else None

    def act(self, action: Action) -> None:
        layout = self.simulation.layout
        rows = layout.rows(action.values)
        with self._acting:
            if layout.needs_scene:
                self._scene.update(self._state)
            targets = [self._mover.goal]
            for row in rows:
                targets.append(layout.resolve(row, targets[-1], self._scene))
            self._stamps = action.timestamps
            self._mover.go(targets[1:])

    def close(self) -> None:
        """End the threads; the robot holds its last set-point."""
        self._mover.stop()
        if self._watcher is not None:
            self._watcher.stop()

    def _send(self, target: Target) -> None:
        simulation = self.simulation
        simulation.drive(target, self.twist_timeout)
        self._state = simulation.step(target)
        stamps, self._stamps = self._stamps, {}
        if stamps:
            self.latency.add(stamps, self._stamp(self._state))

    def _look(self) -> Moment:
        target = self._mover.here
        seen = self.simulation.look(self._cameras)
        return Moment(seen, target, self._stamp(seen))

    def _moment(self, observer: Observer) -> Moment:
        return self._look() if self._watcher is None else self._watcher.latest()

    def _begin(self, seed: int, keyframe: str, settle: float) -> float:
        with self._acting:
            with self._mover.held():
                seen = self.simulation.reset(seed, keyframe)
                self._mover.place(self.simulation.holding(seen))
                self._state = seen
            if settle > 0.0:
                self._let_pass(seen.time + settle)
            if self._watcher is not None:
                self._watcher.forget()
            return seen.time

    def _let_pass(self, until: float) -> None:
        """Wait for a simulated time; a paused world is not waited for longer than twice that."""
        deadline = time.monotonic() + 2 * (until - self._state.time) + 1.0
        while time.monotonic() < deadline:
            left = until - self.simulation.commands.step().time
            if left <= 0:
                return
            time.sleep(min(left, 0.1))

    def _command(self, target: Target) -> None:
        self._mover.go([target])

    def _current(self) -> tuple[StepResult, Target]:
        return self.simulation.commands.step(), self._mover.here
