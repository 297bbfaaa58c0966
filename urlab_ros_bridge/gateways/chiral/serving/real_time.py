# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Real time: the world runs on its own; commands and states do not wait for each other."""

from __future__ import annotations

from collections.abc import Callable
import threading
import time

from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.gateways.chiral.serving.image_prefetcher import ImagePrefetcher
from urlab_ros_bridge.gateways.chiral.serving.pace import Pace
from urlab_ros_bridge.gateways.chiral.serving.pace import Resolve
from urlab_ros_bridge.gateways.chiral.serving.pace import RobotControl
from urlab_ros_bridge.gateways.chiral.serving.pace import TimedState
from urlab_ros_bridge.gateways.motion.interpolator import SetpointInterpolator
from urlab_ros_bridge.gateways.motion.target import Target
from urlab_ros_bridge.gateways.simulation.link import SimulationLink


class RealTime(Pace):
    """
    The server runs in live mode, at its own speed.

    :param prefetches: whether images are fetched ahead while a client requests states; otherwise
        each request renders its own.
    """

    in_order = False

    def __init__(
        self, link: SimulationLink, control: RobotControl, prefetches: bool = True
    ) -> None:
        super().__init__(link, control)
        link.use_mode('live')
        self._acting = threading.Lock()
        self._took_effect: Callable[[float], None] | None = None
        self._state = link.state()
        link.warm_up(control.cameras)
        rate = control.interpolation_rate
        interval = None if rate is None else 1 / rate
        self._interpolator = SetpointInterpolator(
            self._send, 1 / control.rate, interval, control.smooth
        )
        self._interpolator.place(control.hold(self._state))
        self._prefetcher: ImagePrefetcher[TimedState] | None = None
        if control.cameras and prefetches:
            self._prefetcher = ImagePrefetcher(self._observe, 1 / control.rate)

    def act(self, resolve: Resolve, took_effect: Callable[[float], None]) -> None:
        with self._acting:
            targets = resolve(self._state, self._interpolator.goal)
            self._took_effect = took_effect
            self._interpolator.go(targets)

    def timed_state(self) -> TimedState:
        return self._observe() if self._prefetcher is None else self._prefetcher.latest()

    def begin(self, reset: Callable[[], StepResult], settle: float = 0.0) -> StepResult:
        with self._acting:
            with self._interpolator.paused():
                seen = reset()
                self._interpolator.place(self._control.hold(seen))
                self._state = seen
            if settle > 0.0:
                self._wait_until(seen.time + settle)
            if self._prefetcher is not None:
                self._prefetcher.discard()
            return seen

    def command(self, target: Target) -> None:
        self._interpolator.go([target])

    def current(self) -> tuple[StepResult, Target]:
        return self._link.state(), self._interpolator.here

    def close(self) -> None:
        """End the threads; the robot holds its last setpoint."""
        self._interpolator.stop()
        if self._prefetcher is not None:
            self._prefetcher.stop()

    def _send(self, target: Target) -> None:
        self._set_twist(target, by_wall_clock=True)
        self._state = self._step(target, live=True)
        took_effect, self._took_effect = self._took_effect, None
        if took_effect is not None:
            took_effect(self._timed(self._state, target).stamp)

    def _observe(self) -> TimedState:
        target = self._interpolator.here
        seen = self._link.observe(self._control.cameras, self._control.observations)
        return self._timed(seen, target)

    def _wait_until(self, until: float) -> None:
        """Wait for a simulated time; a paused world is not waited for longer than twice that."""
        deadline = time.monotonic() + 2 * (until - self._state.time) + 1.0
        while time.monotonic() < deadline:
            left = until - self._link.state().time
            if left <= 0:
                return
            time.sleep(min(left, 0.1))


__all__ = ['RealTime']
