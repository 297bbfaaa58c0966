# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Real time: the world runs by itself; commands and moments do not wait for each other."""

from __future__ import annotations

from collections.abc import Callable
import threading
import time

from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.gateways.chiral.serving.pace import Moment
from urlab_ros_bridge.gateways.chiral.serving.pace import PacedRobot
from urlab_ros_bridge.gateways.chiral.serving.pace import Resolve
from urlab_ros_bridge.gateways.chiral.serving.pace import RobotPace
from urlab_ros_bridge.gateways.motion.mover import Mover
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simulation.watcher import Watcher


class RealTimePace(RobotPace):
    """
    The server runs in live mode, at its own speed.

    :param keeps_pictures: whether the newest pictures are kept coming while a client asks for
        moments; otherwise each moment makes its own.
    """

    in_order = False

    def __init__(self, robot: PacedRobot, keeps_pictures: bool = True) -> None:
        super().__init__(robot)
        robot.link.use_mode('live')
        self._acting = threading.Lock()
        self._took_effect: Callable[[float], None] | None = None
        self._state = robot.link.state()
        robot.link.warm_up(robot.cameras)
        rate = robot.interpolation_rate
        interval = None if rate is None else 1 / rate
        self._mover = Mover(self._send, 1 / robot.rate, interval, robot.smooth)
        self._mover.place(robot.hold(self._state))
        self._watcher: Watcher[Moment] | None = None
        if robot.cameras and keeps_pictures:
            self._watcher = Watcher(self._observe, 1 / robot.rate)

    def act(self, resolve: Resolve, took_effect: Callable[[float], None]) -> None:
        with self._acting:
            targets = resolve(self._state, self._mover.goal)
            self._took_effect = took_effect
            self._mover.go(targets)

    def moment(self) -> Moment:
        return self._observe() if self._watcher is None else self._watcher.latest()

    def begin(self, reset: Callable[[], StepResult], settle: float = 0.0) -> StepResult:
        with self._acting:
            with self._mover.held():
                seen = reset()
                self._mover.place(self.robot.hold(seen))
                self._state = seen
            if settle > 0.0:
                self._wait_until(seen.time + settle)
            if self._watcher is not None:
                self._watcher.forget()
            return seen

    def command(self, target: Target) -> None:
        self._mover.go([target])

    def current(self) -> tuple[StepResult, Target]:
        return self.robot.link.state(), self._mover.here

    def close(self) -> None:
        """End the threads; the robot holds its last setpoint."""
        self._mover.stop()
        if self._watcher is not None:
            self._watcher.stop()

    def _send(self, target: Target) -> None:
        self.robot.drive(target, ages=True)
        self._state = self.robot.step(target, live=True)
        took_effect, self._took_effect = self._took_effect, None
        if took_effect is not None:
            took_effect(self.robot.stamp(self._state))

    def _observe(self) -> Moment:
        target = self._mover.here
        seen = self.robot.look()
        return Moment(seen, target, self.robot.stamp(seen))

    def _wait_until(self, until: float) -> None:
        """Wait for a simulated time; a paused world is not waited for longer than twice that."""
        deadline = time.monotonic() + 2 * (until - self._state.time) + 1.0
        while time.monotonic() < deadline:
            left = until - self.robot.link.state().time
            if left <= 0:
                return
            time.sleep(min(left, 0.1))


__all__ = ['RealTimePace']
