# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The engine: steps one model under one lock.

Callers that read or change `world.data`, or publish, hold `engine.lock`.  Stepping happens on the
thread that asks for it: the live loop in live mode, the transport's thread for a `step` request.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from dataclasses import dataclass
from dataclasses import field
import logging
import time

import mujoco
import numpy as np

from urlab_ros_bridge.limited_log import LimitedLog
from urlab_ros_bridge.model import as_index
from urlab_ros_bridge.model import Index
from urlab_ros_bridge.model import RobotModel
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl
from urlab_ros_bridge.sim.physics.divergence import DivergenceMonitor
from urlab_ros_bridge.sim.physics.external import ExternalActions
from urlab_ros_bridge.sim.physics.lock import ModelLock
from urlab_ros_bridge.sim.physics.run_state import ExecutionState
from urlab_ros_bridge.sim.physics.run_state import WorldClock
from urlab_ros_bridge.sim.physics.sensing import Sensing
from urlab_ros_bridge.sim.physics.wall_timeout import FROZEN_SECONDS
from urlab_ros_bridge.sim.physics.wall_timeout import LastStepClock
from urlab_ros_bridge.wire.divergence import Divergence

_ACCELERATION = int(mujoco.mjtStage.mjSTAGE_ACC)
_USER = int(mujoco.mjtSensor.mjSENS_USER)
_RUNGE_KUTTA = int(mujoco.mjtIntegrator.mjINT_RK4)
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class EngineHooks:
    """
    What is called while a world runs, each with the lock held.

    :ivar publish: after the state changed; the argument: whether rows belong to this tick.
    :ivar after_step: after each mj_step, or state that a puppet or a replay writes.
    :ivar before_live_step: before each step of the live loop.
    """

    publish: list[Callable[[bool], None]] = field(default_factory=list)
    after_step: list[Callable[[], None]] = field(default_factory=list)
    before_live_step: list[Callable[[], None]] = field(default_factory=list)


class Engine:
    """
    Stepping of one world.

    :ivar controls: what writes the actuators of each articulation.
    :ivar external: wrenches and setpoints that end by themselves.
    :ivar sensing: scanners and noise.
    :ivar lock: of everything here, and of the model and its data.
    :ivar run: mode, pause and pace.
    :ivar clock: time and counters.
    :ivar hooks: what is called after steps and changes.
    :ivar divergence: the last time that the simulation became unstable, None when it did not since
        the last reset.
    :ivar revision: how often the model's options were changed.
    :ivar publications: how often the state was published.
    :ivar stepped_sensors: the sensors as mj_step leaves them, once they are completed.
    """

    def __init__(
        self,
        world: World,
        controls: dict[str, ArticulationControl],
        sensing: Sensing,
        run: ExecutionState | None = None,
    ) -> None:
        self.world = world
        self.controls = controls
        self.sensing = sensing
        self.run = run or ExecutionState(ModelLock())
        self.lock = self.run.lock
        self.clock = WorldClock(world.data)
        self.hooks = EngineHooks()
        self.external = ExternalActions(world.model, world.data)
        self.divergence: Divergence | None = None
        self.revision = 0
        self.publications = 0
        self._sensors: np.ndarray = world.data.sensordata  # a view: reading it again is slow
        self.stepped_sensors = self._sensors.copy()
        self._log = LimitedLog(_LOG, burst=1)
        self._stepping = LastStepClock()
        self._scratch: mujoco.MjData | None = None
        self._derived = self._solved = False
        self._second_half = _second_half(world.model)
        self._late_slots = _late_slots(world.model)
        self._monitor = DivergenceMonitor(world.model, world.data)
        sensing.after_forward(world.model, world.data)

    def substep(self, raw: Collection[str] = ()) -> None:
        """
        Apply controls, integrate one timestep, update derived quantities and sensors.

        Needs the lock.  Afterwards poses, contacts and the sensors of positions and velocities
        are those of the new state; accelerations and forces are those of the step that led to it.
        """
        external, clock = self.external, self.clock
        model, data = self.world.model, self.world.data
        if self.run.stop_due:
            self.stop_if_due()
        acting = external.active
        if acting:
            external.begin()
        for prefix, control in self.controls.items():
            control.apply(prefix in raw)
        before = data.time
        # The work of mj_step from the middle: its first half is that of the step to come.  So the
        # state is that of mj_step bit for bit, and what follows from positions and velocities is
        # computed once, for the state that is published.
        if not self._derived:
            mujoco.mj_step1(model, data)
        self.stepped_sensors[...] = self._sensors
        self._second_half(model, data)
        mujoco.mj_step1(model, data)
        self._derived, self._solved = True, False
        if acting:
            external.end()
        clock.steps += 1
        clock.frame_id += 1
        if self._monitor.has_diverged:
            self._diverged(before)
        if self.sensing.has_sensors:
            self.sensing.after_step(model, data)
        for hook in self.hooks.after_step:
            hook()

    def stop_if_due(self) -> None:
        """Stop all robots, and end forces on bodies, if the e-stop demands it.  Needs the lock."""
        if not self.run.stop_due:
            return
        self.run.stop_due = False
        self.external.expire()
        self.world.data.xfrc_applied[:] = 0.0
        for control in self.controls.values():
            control.stop()

    def begin_stepping(self, now: float) -> None:
        """
        Drop commands whose sender may have disconnected, before time resumes.  Needs the lock.

        :param now: s by time.monotonic.
        """
        since = self._stepping.last_step
        self._stepping.begin(now)
        still = now - since
        # The model's options take longer to read than the rest of this.
        if (
            still > FROZEN_SECONDS
            and still > FROZEN_SECONDS + self.world.model.opt.timestep / self.run.speed
        ):
            for control in self.controls.values():
                if control.twist is not None:
                    control.twist.on_time_frozen(since, now)
            self.external.on_time_frozen(since, now)

    def end_stepping(self, now: float) -> None:
        """Record that the steps are done (s by time.monotonic).  Needs the lock."""
        self._stepping.end(now)

    def complete_stepped_sensors(self) -> None:
        """
        Bring `stepped_sensors` up to date.  Needs the lock.

        mj_step computes sensors of positions and velocities before it integrates, so they are
        those that were published a step ago, and those of accelerations on the way.
        """
        stepped, slots = self.stepped_sensors, self._late_slots
        stepped[slots] = self._sensors[slots]

    def invalidate(self) -> None:
        """Invalidate cached derived state: state or options were changed."""
        self._derived = self._solved = False
        self._second_half = _second_half(self.world.model)

    def data_with_contact_forces(self) -> mujoco.MjData:
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

    def advance(self, count: int, raw: Collection[str], deadline: float) -> None:
        """
        Run `count` sub-steps for a step request.  Needs the lock.

        :param raw: prefixes whose controllers are bypassed.
        :raises OpError: step_timeout at the deadline, shutting_down when the server drains.
        """
        if not count:
            return
        run, lock, start = self.run, self.lock, time.monotonic()
        self.begin_stepping(start)
        run.advancing = True
        try:
            self.substep(raw)
            for done in range(1, count):
                if lock.urgent:
                    lock.let_urgent_pass()
                    run.wait_unpaused(deadline)
                run.check_deadline(deadline, done, count)
                self.substep(raw)
        finally:
            run.advancing = False
            now = time.monotonic()
            self._stepping.end(now)
        run.seconds_per_step += 0.1 * ((now - start) / count - run.seconds_per_step)

    def state_changed(self) -> None:
        """Publish the state as it is now, after an op has changed it.  Needs the lock."""
        self.publish(rows=self.run.mode == 'live')

    def publish(self, rows: bool) -> None:
        """Call every publisher with the present state.  Needs the lock."""
        self.publications += 1
        for publish in self.hooks.publish:
            publish(rows)

    def reset(self, key: int | None, keep_time: bool, seed: int | None = None) -> None:
        """
        Put the world into a keyframe, or the state that it starts in.  Needs the lock.

        The caller writes overrides, then calls `forward`.  A seed makes sensor noise repeatable.
        """
        model, data = self.world.model, self.world.data
        now = data.time
        self.clock.count_reset()
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
            self.clock.restart()
        self.external.clear()
        self.run.stop_due = self.run.e_stop
        self.sensing.restart(seed)
        self.run.clear_fault()
        self.run.replay_source = None
        self.divergence = None

    def reset_robot(self, robot: RobotModel, key: int | None) -> None:
        """
        Put one robot into a keyframe, or the state that it starts in.  Needs the lock.

        Time, the other robots and the scene stay as they are.  The caller calls `forward`.
        """
        prefix, world = robot.prefix, self.world
        self.clock.count_reset(prefix)
        self.invalidate()
        world.write_robot(robot, key)
        self.controls[prefix].reset(
            world.start_ctrl(prefix) if key is None else world.model.key_ctrl[key]
        )
        self.external.drop(body.id for body in robot.bodies.values())
        self.run.stop_due = self.run.e_stop
        self.run.replay_source = None

    def rewind_clock(self) -> None:
        """
        Set the time to 0 and restart the step count.  Needs the lock; the caller calls `forward`.

        What was commanded until some time ends: its end would lie in another stretch of time.
        """
        self.world.data.time = 0.0
        self.clock.restart()
        self.clock.count_reset()
        self.external.expire()
        for control in self.controls.values():
            if control.twist is not None:
                control.twist.stop(0.0)
        self.sensing.forget_scans(0.0)

    def forward(self) -> None:
        """Recompute derived state after qpos, qvel or mocap poses changed.  Needs the lock."""
        model, data = self.world.model, self.world.data
        mujoco.mj_forward(model, data)
        self._monitor.clear()
        self.clock.frame_id += 1
        self._derived = self._solved = True
        self.sensing.after_forward(model, data)
        np.copyto(self.stepped_sensors, data.sensordata)
        self.lock.changed.notify_all()

    def accept_state(self) -> None:
        """Count a state that was written from outside as one step.  Needs the lock."""
        for control in self.controls.values():
            control.follow()
        self.forward()
        self.clock.steps += 1
        for hook in self.hooks.after_step:
            hook()

    def _diverged(self, before: float) -> None:
        """
        Record that the simulation became unstable.

        :param before: s, at the beginning of the step.
        """
        self.clock.divergences += 1
        found = self.divergence = self._monitor.take(self.clock.divergences, before)
        self._log.error('%s', found)
        if found.world_reset:
            self._follow_reset()
        self.run.record_divergence(str(found), before, self.world.data.time)

    def _follow_reset(self) -> None:
        """Continue from the state that the world starts in, after MuJoCo has reset the data."""
        world = self.world
        if world.spec.has_start:
            world.restore_start()
            mujoco.mj_step1(world.model, world.data)
        # Bad positions and velocities are found after a step, bad accelerations within it; then
        # the step was done from the state after the reset.
        self.clock.restart(1 if world.data.time > 0.0 else 0)
        self.clock.count_reset()
        self.external.clear()
        self.run.stop_due = self.run.e_stop
        for prefix, control in self.controls.items():
            control.reset(world.start_ctrl(prefix))
        self.sensing.forget_scans(self.world.data.time)


def _late_slots(model: mujoco.MjModel) -> Index:
    """Return the slots of sensors that mj_step fills late, and those of scanners."""
    late: list[int] = []
    for sensor in range(model.nsensor):
        start = int(model.sensor_adr[sensor])
        is_late = model.sensor_needstage[sensor] == _ACCELERATION
        if is_late or model.sensor_type[sensor] == _USER:
            late += range(start, start + int(model.sensor_dim[sensor]))
    return as_index(late)


def _second_half(model: mujoco.MjModel) -> Callable[[mujoco.MjModel, mujoco.MjData], None]:
    """Return what completes mj_step after mj_step1; Runge-Kutta integrates in one piece."""
    is_whole = int(model.opt.integrator) == _RUNGE_KUTTA
    step: Callable[[mujoco.MjModel, mujoco.MjData], None]
    step = mujoco.mj_step if is_whole else mujoco.mj_step2
    return step
