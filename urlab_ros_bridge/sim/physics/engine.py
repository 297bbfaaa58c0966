# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The engine: one model, one lock, and the rules of time.

Callers that read or change `world.data`, or publish, hold `engine.lock`.  Stepping happens on the
thread that asks for it: the live loop in live mode, the transport's thread for a `step` request.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
import logging
import threading
import time

import mujoco
import numpy as np

from urlab_ros_bridge.sim.errors import OpError
from urlab_ros_bridge.sim.model.articulation import ArticulationIndex
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl
from urlab_ros_bridge.sim.physics.divergence import DivergenceMonitor
from urlab_ros_bridge.sim.physics.external import ExternalActions
from urlab_ros_bridge.sim.physics.lock import ModelLock
from urlab_ros_bridge.sim.physics.rate_limited_log import RateLimitedLog
from urlab_ros_bridge.sim.physics.replay_source import ReplaySource
from urlab_ros_bridge.sim.physics.sensors.lidar import RayScanner
from urlab_ros_bridge.sim.physics.sensors.sensing import Sensing
from urlab_ros_bridge.sim.physics.wall_timeout import SteppingClock
from urlab_ros_bridge.sim.physics.wall_timeout import STILL
from urlab_ros_bridge.wire.divergence import Divergence
from urlab_ros_bridge.wire.stamp import seconds_to_ns

STEP_TIMEOUT = 5.0  # seconds of wall time, Protocol Reference, "Errors": step_timeout
UNHEARD_SECONDS = 0.002  # between two calls of publishers that nobody listens to
PROMOTION_WAIT = 0.02  # seconds that a hello waits for the model at most
# s up to which steps that take longer than usual were maybe interrupted by another program.  Such
# a request must not make the next ones look slow, as those of slow steps take two threads more.
_INTERRUPTION = 0.01
# A live world that becomes unstable this often, each time within so many simulated seconds of the
# last, is paused: it would jump back for ever.
_MOST_DIVERGENCES = 10
_RECOVERY_SECONDS = 1.0
_ACCELERATION = int(mujoco.mjtStage.mjSTAGE_ACC)
_USER = int(mujoco.mjtSensor.mjSENS_USER)
_RUNGE_KUTTA = int(mujoco.mjtIntegrator.mjINT_RK4)
_LOG = logging.getLogger(__name__)


class Engine:
    """
    Stepping, modes and pause of one world.

    :ivar mode: 'live', 'direct' or 'puppet'.
    :ivar pinned: the mode cannot be changed by clients.
    :ivar mode_chosen: a client set a mode, so a plain hello no longer promotes to direct.
    :ivar steps: sub-steps since the start or the last time reset.
    :ivar epoch: how often time and `steps` started over.
    :ivar resets: how often the state or the time was set back: what was commanded before was meant
        for a world that is gone.
    :ivar fault: why the live loop has stopped time, '' when all is well.
    :ivar divergence: the last time that the simulation became unstable, None when it did not since
        the last reset; `divergences` counts on over resets.
    :ivar frame_id: number of the present state, for cameras; it grows with every change of the
        state, over resets too.
    :ivar revision: how often the model's options were changed.
    :ivar speed: live pacing as a fraction of real time, 0.05 to 1.
    :ivar on_state: called with the lock held after the state changed; the argument says whether
        rows belong to this tick.  They return whether somebody listens.  While nobody does, a
        stepped world calls them every few milliseconds only, see `listened`.
    :ivar publications: how often that was done.
    :ivar on_substep: called with the lock held after each mj_step (or puppet push).
    :ivar on_due: called with the lock held before each step of the live loop.
    :ivar draining: the server or the world ends: waiting requests are answered.
    :ivar replaced: a changed world has taken the place of this one.
    :ivar stepped_sensors: the sensors as mj_step leaves them, once they are completed.
    :ivar replay_source: a replay that takes the place of physics; live mode and reset end it.
    """

    def __init__(
        self,
        world: World,
        controls: dict[str, ArticulationControl],
        lidars: dict[str, list[RayScanner]],
        step_mode: str = 'auto',
        paused: bool = False,
        sensing: Sensing | None = None,
    ) -> None:
        self.world = world
        self.controls = controls
        self.lidars = lidars
        self.lock = ModelLock()
        self.pinned = step_mode != 'auto'
        self.mode = step_mode if self.pinned else 'live'
        self.mode_chosen = self.pinned
        self.paused = paused
        self._mode_lock = threading.Lock()
        self._complain = RateLimitedLog(_LOG, logging.ERROR)
        self.steps = 0
        self.epoch = 0
        self.resets = 0
        self.frame_id = 0
        self.revision = 0
        self.fault = ''
        self.divergence: Divergence | None = None
        self.divergences = 0
        self._divergences_in_a_row = 0
        self._resumed_at = 0.0  # simulated s after the last divergence
        self.speed = 1.0
        self.draining = False
        self.replaced = False
        self.replay_source: ReplaySource | None = None
        self.on_state: list[Callable[[bool], bool]] = []
        self._unheard_until = 0.0
        self.publications = 0
        self.on_substep: list[Callable[[], None]] = []
        self.on_due: list[Callable[[], None]] = []
        self.seconds_per_step = 1e-4  # running mean of the wall cost of one sub-step
        self._stepping = SteppingClock()
        self.external = ExternalActions(world.model, world.data)
        self.sensing = sensing or Sensing(lidar for group in lidars.values() for lidar in group)
        self.sensing.settled(world.model, world.data)
        self._scratch: mujoco.MjData | None = None
        self._derived = self._solved = False
        self._has_halves = _has_halves(world.model)
        self.stepped_sensors = np.array(world.data.sensordata)
        self._has_sensors = world.model.nsensordata > 0
        self._late_slots = _late_slots(world.model)
        self._monitor = DivergenceMonitor(world.model, world.data)

    @property
    def stamp_ns(self) -> int:
        """Return the simulation time as integer nanoseconds."""
        return seconds_to_ns(self.world.data.time)

    def substep(self, raw: Collection[str] = ()) -> None:
        """
        Apply controls, integrate one timestep, compute what is seen then.  Needs the lock.

        Afterwards poses, contacts and the sensors of positions and velocities are those of the
        new state; accelerations and forces are those of the step that led to it.
        """
        world, external = self.world, self.external
        model, data = world.model, world.data
        acting = external.active
        if acting:
            external.begin()
        for prefix, control in self.controls.items():
            control.apply(prefix in raw)
        before = data.time
        self._integrate(model, data)
        if acting:
            external.end()
        self.steps += 1
        self.frame_id += 1
        if self._monitor.diverged():
            self._diverged(before)
        self.sensing.stepped(model, data)
        for hook in self.on_substep:
            hook()

    def wake(self, now: float) -> None:
        """
        Drop the commands whose commanders may be gone, before time resumes.  Needs the lock.

        :param now: s by time.monotonic.
        """
        since = self._stepping.stepped
        self._stepping.begin(now)
        still = now - since
        # The model's options take longer to read than the rest of this.
        if still > STILL and still > STILL + self.world.model.opt.timestep / self.speed:
            for control in self.controls.values():
                if control.twist is not None:
                    control.twist.stood_still(since, now)
            self.external.stood_still(since, now)

    def rest(self, now: float) -> None:
        """Note that the steps since `wake` are done (s by time.monotonic).  Needs the lock."""
        self._stepping.end(now)

    def _integrate(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """
        Do the work of mj_step from the middle: its first half is that of the step to come.

        The state is that of mj_step bit for bit, and what follows from positions and velocities
        is computed once, but for the state that is published instead of the one before.
        """
        if not self._derived:
            mujoco.mj_step1(model, data)
        if self._has_sensors:
            np.copyto(self.stepped_sensors, data.sensordata)
        if self._has_halves:
            mujoco.mj_step2(model, data)
        else:
            mujoco.mj_step(model, data)
        mujoco.mj_step1(model, data)
        self._derived, self._solved = True, False

    def complete_stepped_sensors(self) -> None:
        """
        Bring `stepped_sensors` up to date.  Needs the lock.

        mj_step computes sensors of positions and velocities before it integrates, so they are
        those that were published a step ago, and those of accelerations on the way.
        """
        stepped, slots = self.stepped_sensors, self._late_slots
        stepped[slots] = self.world.data.sensordata[slots]

    def invalidate(self) -> None:
        """Have the next step recompute what follows from state and options: one was changed."""
        self._derived = self._solved = False
        self._has_halves = _has_halves(self.world.model)

    def solved(self) -> mujoco.MjData:
        """
        Return data with the forces of all contacts in the state that is published.

        They are those under the present ctrl; the warm start of the next step is not touched.
        Needs the lock, and holds until the next change.
        """
        if self._solved:
            return self.world.data
        if self._scratch is None:
            self._scratch = mujoco.MjData(self.world.model)
        mujoco.mj_copyData(self._scratch, self.world.model, self.world.data)
        mujoco.mj_forward(self.world.model, self._scratch)
        return self._scratch

    def steps_since(self, base: tuple[int, int]) -> int:
        """Return the sub-steps since a `counter`; a time reset in between counts from there."""
        epoch, steps = base
        return self.steps - steps if epoch == self.epoch else self.steps

    @property
    def counter(self) -> tuple[int, int]:
        """Return (epoch, steps) as they are now."""
        return self.epoch, self.steps

    @staticmethod
    def step_deadline() -> float:
        """Return when a step request that begins now has to be done, by time.monotonic."""
        return time.monotonic() + STEP_TIMEOUT

    def advance(self, count: int, raw: Collection[str], deadline: float) -> None:
        """
        Run `count` sub-steps for a step request.  Needs the lock.

        :param raw: prefixes whose controllers are bypassed.
        :raises OpError: step_timeout at the deadline, shutting_down when the server drains.
        """
        if not count:
            return
        start = time.monotonic()
        self.wake(start)
        try:
            self.substep(raw)
            for done in range(1, count):
                if self.lock.urgent:
                    self.lock.let_urgent_pass()
                    self.wait_unpaused(deadline)
                self.check_deadline(deadline, done, count)
                self.substep(raw)
        finally:
            now = time.monotonic()
            self._stepping.end(now)
        self._learn_cost(now - start, count)

    def _learn_cost(self, seconds: float, count: int) -> None:
        """Note how long so many sub-steps took by the wall clock."""
        known, cost = self.seconds_per_step, seconds / count
        if seconds < _INTERRUPTION and cost > 1.5 * known:
            cost = 1.5 * known
        self.seconds_per_step = known + 0.1 * (cost - known)

    def check_deadline(self, deadline: float, done: int, count: int) -> None:
        """
        Break a step request off that still has to do something but may not.

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

    def state_changed(self) -> None:
        """Publish the state as it is now, after an op has changed it.  Needs the lock."""
        self.publish(rows=self.mode == 'live')

    def publish(self, rows: bool) -> None:
        """Hand the state to every publisher, if somebody may listen.  Needs the lock."""
        self.publications += 1
        now = time.monotonic()
        if now < self._unheard_until and not rows:
            return
        # First, so that `listened` counts from here on.
        self._unheard_until = now + UNHEARD_SECONDS
        for publish in self.on_state:
            if publish(rows):
                self._unheard_until = 0.0

    def listened(self) -> None:
        """Have publishers called with the next state, as somebody began to listen; any thread."""
        self._unheard_until = 0.0

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

    def promote(self) -> None:
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

    def set_paused(self, paused: bool) -> None:
        """Stop or resume time.  Needs the lock."""
        self.fault = ''
        self._divergences_in_a_row = 0
        if paused != self.paused:
            self.paused = paused
            self.lock.changed.notify_all()
            self.state_changed()

    def fail(self, reason: str) -> None:
        """Stop time because stepping or publishing broke; reset or set_paused clear the fault."""
        with self.lock:
            self.fault = reason
            self.paused = True
            self.lock.changed.notify_all()

    def reset(self, key: int | None, keep_time: bool, seed: int | None = None) -> None:
        """
        Put the world into a keyframe, or the state that it starts in.  Needs the lock.

        The caller writes overrides, then calls `settle`.  A seed makes sensor noise repeatable.
        """
        model, data = self.world.model, self.world.data
        now = data.time
        self.resets += 1
        self.invalidate()
        if key is None:
            self.world.restore_start()
        else:
            mujoco.mj_resetDataKeyframe(model, data, key)
        for prefix, control in self.controls.items():
            control.reset(self.world.start_ctrl(prefix) if key is None else model.key_ctrl[key])
        if keep_time:
            data.time = now
        else:
            self._begin_anew(0)
        self.external.clear()
        self.sensing.restart(seed)
        self.fault = ''
        self.divergence = None
        self._divergences_in_a_row = 0
        self.replay_source = None

    def reset_robot(self, robot: ArticulationIndex, key: int | None) -> None:
        """
        Put one robot into a keyframe, or the state that it starts in.  Needs the lock.

        Time, the other robots and the scene stay as they are.  The caller calls `settle`.
        """
        prefix, world = robot.prefix, self.world
        self.resets += 1
        self.invalidate()
        world.write_robot(robot, key)
        self.controls[prefix].reset(
            world.start_ctrl(prefix) if key is None else world.model.key_ctrl[key]
        )
        self.external.drop(body.id for body in robot.bodies)
        self.replay_source = None

    def rewind_clock(self) -> None:
        """
        Set the time to 0 and restart the step count.  Needs the lock; the caller calls `settle`.

        What was commanded until some time ends: its end would lie in another stretch of time.
        """
        self.world.data.time = 0.0
        self._begin_anew(0)
        self.resets += 1
        self.external.expire()
        for control in self.controls.values():
            if control.twist is not None:
                control.twist.stop(0.0)
        self.sensing.forget_scans(0.0)

    def settle(self) -> None:
        """Recompute derived state after qpos, qvel or mocap poses changed.  Needs the lock."""
        model, data = self.world.model, self.world.data
        mujoco.mj_forward(model, data)
        self._monitor.clear()
        self.frame_id += 1
        self._derived = self._solved = True
        self.sensing.settled(model, data)
        np.copyto(self.stepped_sensors, data.sensordata)
        self.lock.changed.notify_all()

    def accept_state(self) -> None:
        """Count a state that was written from outside as one step.  Needs the lock."""
        for control in self.controls.values():
            control.follow()
        self.settle()
        self.steps += 1
        for hook in self.on_substep:
            hook()

    def _diverged(self, before: float) -> None:
        """
        Record that the simulation became unstable, and continue from where MuJoCo left it.

        :param before: s, at the beginning of the step.
        """
        self.divergences += 1
        found = self.divergence = self._monitor.take(self.divergences, before)
        self._complain(str(found))
        quick = before - self._resumed_at < _RECOVERY_SECONDS
        self._divergences_in_a_row = self._divergences_in_a_row + 1 if quick else 1
        self._resumed_at = self.world.data.time
        if found.world_reset:
            self._follow_reset()
        if self.mode == 'live' and self._divergences_in_a_row >= _MOST_DIVERGENCES:
            self.fault = f'unstable {self._divergences_in_a_row} times in a row: {found}'
            self.paused = True
            self.lock.changed.notify_all()

    def _follow_reset(self) -> None:
        """Start counting anew after MuJoCo has reset the data."""
        # Bad positions and velocities are found after a step, bad accelerations within it; then
        # the step was done from the state after the reset.
        self._begin_anew(1 if self.world.data.time > 0.0 else 0)
        self.resets += 1
        self.external.clear()
        for control in self.controls.values():
            control.reset(None)
        self.sensing.forget_scans(self.world.data.time)

    def _begin_anew(self, steps: int) -> None:
        self.epoch += 1
        self.steps = steps
        self.listened()  # pictures of the time before may still be on their way


def _late_slots(model: mujoco.MjModel) -> np.ndarray:
    """Return the slots of sensors that mj_step fills late, and those of scanners."""
    late = [
        np.arange(start, start + size)
        for kind, stage, start, size in zip(
            model.sensor_type,
            model.sensor_needstage,
            model.sensor_adr,
            model.sensor_dim,
            strict=True,
        )
        if stage == _ACCELERATION or kind == _USER
    ]
    return np.concatenate(late) if late else np.empty(0, np.intp)


def _has_halves(model: mujoco.MjModel) -> bool:
    """Return whether mj_step1 and mj_step2 do what mj_step does; reading it is slow."""
    return int(model.opt.integrator) != _RUNGE_KUTTA
