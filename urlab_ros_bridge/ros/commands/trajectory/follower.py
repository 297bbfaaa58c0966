# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Follows trajectories with one robot, driven by the ticks of the state stream.

Everything is in simulation time: a pause holds, and nothing runs ahead of the simulation.  Joints
that take a velocity get the path's velocity and a share of the position error.
"""

from __future__ import annotations

from collections.abc import Sequence
import threading
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.commands.admission.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.admission.arbitration import TRAJECTORY
from urlab_ros_bridge.ros.commands.goal_action import Goal
from urlab_ros_bridge.ros.commands.setpoints import Setpoints
from urlab_ros_bridge.ros.commands.trajectory.goal import BadGoal
from urlab_ros_bridge.ros.commands.trajectory.goal import INVALID_GOAL
from urlab_ros_bridge.ros.commands.trajectory.goal import Path
from urlab_ros_bridge.ros.commands.trajectory.goal import read_path
from urlab_ros_bridge.ros.commands.trajectory.motion import Outcome
from urlab_ros_bridge.ros.commands.trajectory.motion import Report
from urlab_ros_bridge.ros.commands.trajectory.motion import TrajectoryMotion
from urlab_ros_bridge.ros.commands.trajectory.parameters import TrajectoryParameters
from urlab_ros_bridge.ros.commands.trajectory.spline import braking
from urlab_ros_bridge.ros.commands.trajectory.spline import resting
from urlab_ros_bridge.ros.commands.trajectory.spline import Sample
from urlab_ros_bridge.ros.commands.trajectory.spline import Spline
from urlab_ros_bridge.ros.commands.trajectory.tolerances import Tolerances
from urlab_ros_bridge.ros.features.feed import RateLimiter
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.rclpy_tools.actions import Ending

PREEMPTED = 'preempted by a new trajectory'


class Follower:
    """
    The trajectories of one robot, one at a time; ticks come in the stream's thread.

    :ivar joints: local names of the joints that it can command.
    """

    def __init__(self, setpoints: Setpoints, arbiter: Arbiter, settings: SettingsReader) -> None:
        plan = setpoints.plan
        self.actuators: dict[str, list[int]] = {}
        for index, actuator in enumerate(plan.actuators):
            if actuator.joint in plan.joints and setpoints.fields[index] != 'effort':
                self.actuators.setdefault(actuator.joint, []).append(index)
        self.joints = tuple(joint for joint in plan.joints if joint in self.actuators)
        self.prefix = plan.prefix
        self.setpoints = setpoints
        self._places = {joint: place for place, joint in enumerate(plan.joints)}
        self._limits = dict(zip(plan.joints, plan.limits, strict=False))
        self._arbiter = arbiter
        self._settings = settings
        self._lock = threading.RLock()
        self._motion: TrajectoryMotion | None = None
        self._next: TrajectoryMotion | None = None
        self._limiter = RateLimiter(settings(TrajectoryParameters).trajectory_rate)
        self._stamp_ns = 0

    @property
    def active(self) -> bool:
        """Return whether it needs ticks with the state of the joints."""
        return self._motion is not None or self._next is not None

    def read(self, message: Any) -> Path:
        """
        Read a trajectory_msgs/JointTrajectory, as the parameters allow it.

        :raises BadGoal: when it cannot be followed.
        """
        settings = self._settings
        return read_path(
            message,
            self.joints,
            self.prefix,
            allow_partial=settings(TrajectoryParameters).allow_partial_joints_goal,
            allow_final_velocity=settings(
                TrajectoryParameters
            ).allow_nonzero_velocity_at_trajectory_end,
            limits=self._limits,
        )

    def start(
        self, path: Path, tolerances: Tolerances, goal: Goal | None, now_ns: int
    ) -> TrajectoryMotion:
        """
        Follow a path from the next tick on; the one before is preempted then.

        :raises CommandRejected: when commands cannot be sent, or another source has one of the
            joints.
        """
        self.setpoints.check()
        with self._lock:
            self._arbiter.claim(TRAJECTORY, self._parts(path.joints), now_ns, self.lost)
            motion = TrajectoryMotion(
                path.joints,
                np.array([self._places[joint] for joint in path.joints]),
                path,
                tolerances,
                goal,
                feedback=RateLimiter(
                    self._settings(TrajectoryParameters).trajectory_feedback_rate
                ),
            )
            waiting, self._next = self._next, motion
        if waiting is not None:
            _finish(waiting, Outcome(Ending.ABORTED, INVALID_GOAL, PREEMPTED))
        return motion

    def cancel(self, motion: TrajectoryMotion | None, outcome: Outcome) -> None:
        """End a trajectory and bring its joints to rest; None: whatever is under way."""
        with self._lock:
            ended = [each for each in (self._motion, self._next) if each is not None]
            ended = [each for each in ended if motion is None or each is motion]
            for each in ended:
                if each is self._next:
                    self._next = None
                    if self._motion is None:
                        self._arbiter.release(TRAJECTORY)
                else:
                    self._brake(each)
        for each in ended:
            _finish(each, outcome)

    def drop(self, text: str) -> None:
        """Abort at once and send nothing more: the world has changed."""
        with self._lock:
            ended = [each for each in (self._motion, self._next) if each is not None]
            self._motion = self._next = None
            self._limiter.clear()
            self._arbiter.release(TRAJECTORY)
        for each in ended:
            _finish(each, Outcome(Ending.ABORTED, INVALID_GOAL, text))

    def lost(self, by: str) -> None:
        """Abort because another source took a joint."""
        self.drop(f'{by} took control')
        self.setpoints.rest()

    def tick(self, stamp_ns: int, measured: Sequence[np.ndarray] | None) -> Report | None:
        """
        Advance; return the desired and the actual state, None when idle.

        :param measured: positions and velocities of all joints, None when the tick has none.
        """
        self._stamp_ns = stamp_ns
        if not self.active or measured is None:
            return None
        problem = self.setpoints.problem()
        if problem:
            self.drop(problem)
            return None
        with self._lock:
            ended = self._begin_next(stamp_ns, measured)
            motion = self._motion
            report = outcome = None
            if motion is not None:
                report = motion.report(stamp_ns, measured)
                outcome = motion.judge(report)
                self._send(motion, report, final=outcome is not None)
                if outcome is not None:
                    self._end(motion, report, outcome)
        for each, why in ended:
            _finish(each, why)
        if motion is not None and report is not None and motion.goal is not None:
            if motion.feedback.due(stamp_ns):
                motion.feedback.count(stamp_ns)
                motion.goal.feedback(report)
            if outcome is not None:
                _finish(motion, outcome)
        return report

    def _begin_next(
        self, stamp_ns: int, measured: Sequence[np.ndarray]
    ) -> list[tuple[TrajectoryMotion, Outcome]]:
        """Replace the active trajectory by the pending one."""
        motion, self._next = self._next, None
        if motion is None:
            return []
        try:
            motion.begin(stamp_ns, self._wanted(motion, stamp_ns, measured))
        except BadGoal as error:
            if self._motion is None:
                self._arbiter.release(TRAJECTORY)
            return [(motion, Outcome(Ending.ABORTED, error.code, str(error)))]
        before, self._motion = self._motion, motion
        if before is None:
            return []
        left = [joint for joint in before.joints if joint not in motion.joints]
        self._arbiter.release(TRAJECTORY, self._parts(left))
        self.setpoints.write(
            {index: 0.0 for index in self._parts(left) if self._takes_velocity(index)}
        )
        return [(before, Outcome(Ending.ABORTED, INVALID_GOAL, PREEMPTED))]

    def _wanted(
        self, motion: TrajectoryMotion, stamp_ns: int, measured: Sequence[np.ndarray]
    ) -> Sample:
        """Return the desired state of the joints so far; measured values where there is none."""
        position = measured[0][motion.pick].astype(float)
        velocity, acceleration = np.zeros_like(position), np.zeros_like(position)
        for place, joint in enumerate(motion.joints):
            index = self.actuators[joint][0]
            last = self.setpoints.last(index)
            if last is not None and not self._takes_velocity(index):
                position[place] = last
        before = self._motion
        if before is not None and before.spline is not None:
            sample = before.spline.sample(stamp_ns)
            for place, joint in enumerate(motion.joints):
                if joint in before.joints:
                    column = before.joints.index(joint)
                    position[place] = sample.position[column]
                    velocity[place] = sample.velocity[column]
                    acceleration[place] = sample.acceleration[column]
        return Sample(position, velocity, acceleration)

    def _send(self, motion: TrajectoryMotion, report: Report, final: bool) -> None:
        if not (final or self._limiter.due(report.stamp_ns)):
            return
        self._limiter.count(report.stamp_ns)
        gain = self._settings(TrajectoryParameters).trajectory_velocity_gain
        values: dict[int, float] = {}
        for place, joint in enumerate(motion.joints):
            for index in self.actuators[joint]:
                if not self._takes_velocity(index):
                    values[index] = float(report.desired.position[place])
                elif final:
                    values[index] = 0.0
                else:
                    error = report.desired.position[place] - report.position[place]
                    values[index] = float(report.desired.velocity[place] + gain * error)
        self.setpoints.write(values)

    def _end(self, motion: TrajectoryMotion, report: Report, outcome: Outcome) -> None:
        if outcome.ending is Ending.SUCCEEDED:
            self._motion = None
            if self._next is None:
                self._arbiter.release(TRAJECTORY)
        else:
            # It did not keep up, so it holds the actual position, not the desired one.
            self._rest_at(motion, resting(report.stamp_ns, report.position))

    def _brake(self, motion: TrajectoryMotion) -> None:
        """Replace a motion by a short deceleration."""
        now_ns = self._stamp_ns
        sample = motion.spline.sample(now_ns) if motion.spline else None
        if sample is not None:
            seconds = self._settings(TrajectoryParameters).trajectory_stop_time
            self._rest_at(motion, braking(now_ns, sample, seconds))

    def _rest_at(self, motion: TrajectoryMotion, spline: Spline) -> None:
        self._limiter.clear()
        self._motion = TrajectoryMotion(
            motion.joints, motion.pick, spline=spline, start_ns=spline.start_ns
        )

    def _parts(self, joints: Sequence[str]) -> list[int]:
        return [index for joint in joints for index in self.actuators[joint]]

    def _takes_velocity(self, index: int) -> bool:
        return self.setpoints.fields[index] == 'velocity'


def _finish(motion: TrajectoryMotion, outcome: Outcome) -> None:
    if motion.goal is not None:
        motion.goal.done(outcome.ending, outcome)
