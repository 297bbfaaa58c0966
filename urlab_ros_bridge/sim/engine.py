# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The engine: one model, one lock, and the rules of time.

Whoever reads or changes `world.data`, or publishes, holds `engine.lock`.  Stepping happens on the
thread that asks for it: the live loop in live mode, the transport's thread for a `step` request.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
import logging
import threading
import time

import mujoco

from urlab_ros_bridge.sim.control import ArticulationControl
from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.lidar import Lidar
from urlab_ros_bridge.sim.world import World
from urlab_ros_bridge.wire.stamp import seconds_to_ns

STEP_TIMEOUT = 5.0  # seconds of wall time, Protocol Reference, "Errors": step_timeout
_LOG = logging.getLogger(__name__)


class ModelLock:
    """
    A lock that knows how many wait for it.

    Python's locks are not fair: a loop that releases and takes the lock at once starves the rest.
    `contended` lets the live loop step aside.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = 0
        self.changed = threading.Condition(self._lock)

    @property
    def contended(self) -> bool:
        """Say whether somebody waits."""
        return self._waiting > 0

    def acquire(self, timeout: float = -1.0) -> bool:
        """Take the lock; false when `timeout` seconds pass first."""
        if self._lock.acquire(blocking=False):
            return True
        self._waiting += 1
        try:
            return self._lock.acquire(timeout=timeout)
        finally:
            self._waiting -= 1

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def __enter__(self) -> ModelLock:
        self.acquire()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._lock.release()


class Engine:
    """
    Stepping, modes and pause of one world.

    :ivar mode: 'live', 'direct' or 'puppet'.
    :ivar pinned: the mode cannot be changed by clients.
    :ivar mode_chosen: somebody set a mode, so a plain hello no longer promotes to direct.
    :ivar steps: sub-steps since the start or the last time reset.
    :ivar speed: live pacing as a fraction of real time, 0.05 to 1.
    :ivar on_state: called with the lock held after the state changed; the argument says whether
        rows belong to this tick.
    :ivar on_substep: called with the lock held after each mj_step (or puppet push).
    """

    def __init__(
        self,
        world: World,
        controls: dict[str, ArticulationControl],
        lidars: dict[str, list[Lidar]],
        step_mode: str = 'auto',
        paused: bool = False,
    ) -> None:
        self.world = world
        self.controls = controls
        self.lidars = lidars
        self.lock = ModelLock()
        self.pinned = step_mode != 'auto'
        self.mode = step_mode if self.pinned else 'live'
        self.mode_chosen = self.pinned
        self.paused = paused
        self.steps = 0
        self.speed = 1.0
        self.draining = False
        self.on_state: list[Callable[[bool], None]] = []
        self.on_substep: list[Callable[[], None]] = []
        self.seconds_per_step = 1e-4  # running mean of the wall cost of one sub-step
        self._all_lidars = [lidar for group in lidars.values() for lidar in group]
        for lidar in self._all_lidars:
            lidar.update(world.model, world.data)

    @property
    def stamp_ns(self) -> int:
        """Return the simulation time as integer nanoseconds."""
        return seconds_to_ns(self.world.data.time)

    def substep(self, raw: Collection[str] = ()) -> None:
        """Apply controls, integrate one timestep, update scanners.  Needs the lock."""
        model, data = self.world.model, self.world.data
        for prefix, control in self.controls.items():
            control.apply(prefix in raw)
        before = data.time
        mujoco.mj_step(model, data)
        self.steps += 1
        if data.time <= before:
            self._diverged()
        for lidar in self._all_lidars:
            if lidar.due(data.time):
                lidar.update(model, data)
            else:
                lidar.restore(data)
        for hook in self.on_substep:
            hook()

    def advance(self, count: int, raw: Collection[str] = ()) -> None:
        """
        Run `count` sub-steps for a step request.  Needs the lock.

        :raises OpError: step_timeout after 5 s of wall time, shutting_down when the server drains.
        """
        start = time.perf_counter()
        for done in range(count):
            self.substep(raw)
            if done % 64 == 63:
                if self.draining:
                    raise OpError('shutting_down')
                if time.perf_counter() - start > STEP_TIMEOUT:
                    raise OpError(
                        'step_timeout',
                        f'{done + 1} of {count} steps done in '
                        f'{STEP_TIMEOUT:g} s; ask for fewer steps at a time',
                    )
        if count:
            cost = (time.perf_counter() - start) / count
            self.seconds_per_step += 0.1 * (cost - self.seconds_per_step)

    def wait_unpaused(self) -> None:
        """
        Wait until time may run.  Needs the lock, which is free while waiting.

        :raises OpError: step_timeout after 5 s, shutting_down when the server drains.
        """
        deadline = time.monotonic() + STEP_TIMEOUT
        while self.paused and not self.draining:
            left = deadline - time.monotonic()
            if left <= 0:
                raise OpError('step_timeout', 'the simulation is paused; set_paused false first')
            self.lock.changed.wait(left)
        if self.draining:
            raise OpError('shutting_down')

    def state_changed(self) -> None:
        """Publish the state as it is now, after an op has changed it.  Needs the lock."""
        self.publish(rows=self.mode == 'live')

    def publish(self, rows: bool) -> None:
        """Hand the state to every publisher.  Needs the lock."""
        for publish in self.on_state:
            publish(rows)

    def set_mode(self, mode: str) -> str:
        """Change the mode and return the previous one.  Needs the lock."""
        previous, self.mode, self.mode_chosen = self.mode, mode, True
        if mode != 'live':
            self.paused = False
        if mode != previous:
            self.lock.changed.notify_all()
        return previous

    def set_paused(self, paused: bool) -> None:
        """Stop or resume time.  Needs the lock."""
        if paused != self.paused:
            self.paused = paused
            self.lock.changed.notify_all()
            self.state_changed()

    def reset(self, key: int | None, keep_time: bool) -> None:
        """
        Put the world into a keyframe (or mj_resetData's state).  Needs the lock.

        The caller writes overrides, then calls `settle`.
        """
        model, data = self.world.model, self.world.data
        now, steps = data.time, self.steps
        if key is None:
            mujoco.mj_resetData(model, data)
        else:
            mujoco.mj_resetDataKeyframe(model, data, key)
        for control in self.controls.values():
            control.reset(None if key is None else model.key_ctrl[key])
        if keep_time:
            data.time = now
        self.steps = steps if keep_time else 0

    def settle(self) -> None:
        """Recompute derived state after qpos, qvel or mocap poses changed.  Needs the lock."""
        model, data = self.world.model, self.world.data
        mujoco.mj_forward(model, data)
        for lidar in self._all_lidars:
            lidar.reset(data.time)
            lidar.update(model, data)
        self.lock.changed.notify_all()

    def _diverged(self) -> None:
        """MuJoCo has reset the data because the state became invalid; go on from there."""
        _LOG.error(
            'the simulation became unstable and was reset by MuJoCo (time back to %g s); '
            'check gains, timestep and commands',
            self.world.data.time,
        )
        self.steps = 0
        for control in self.controls.values():
            control.reset(None)
        for lidar in self._all_lidars:
            lidar.reset(self.world.data.time)
