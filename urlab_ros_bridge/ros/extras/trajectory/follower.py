# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Follows trajectories with one robot, driven by the ticks of the state stream.

Everything is in simulation time: a pause holds, and nothing runs ahead of the simulation.  Joints
that take a velocity get the path's velocity and a share of the position error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
import threading
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.commands.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.arbitration import TRAJECTORY
from urlab_ros_bridge.ros.commands.goal_action import Goal
from urlab_ros_bridge.ros.commands.setpoints import Setpoints
from urlab_ros_bridge.ros.extras.trajectory.goal import BadGoal
from urlab_ros_bridge.ros.extras.trajectory.goal import GOAL_TOLERANCE_VIOLATED
from urlab_ros_bridge.ros.extras.trajectory.goal import INVALID_GOAL
from urlab_ros_bridge.ros.extras.trajectory.goal import OLD_HEADER_TIMESTAMP
from urlab_ros_bridge.ros.extras.trajectory.goal import Path
from urlab_ros_bridge.ros.extras.trajectory.goal import PATH_TOLERANCE_VIOLATED
from urlab_ros_bridge.ros.extras.trajectory.goal import read_path
from urlab_ros_bridge.ros.extras.trajectory.goal import SUCCESSFUL
from urlab_ros_bridge.ros.extras.trajectory.goal import Tolerances
from urlab_ros_bridge.ros.extras.trajectory.parameters import TrajectoryParameters
from urlab_ros_bridge.ros.extras.trajectory.spline import braking
from urlab_ros_bridge.ros.extras.trajectory.spline import resting
from urlab_ros_bridge.ros.extras.trajectory.spline import Sample
from urlab_ros_bridge.ros.extras.trajectory.spline import Spline
from urlab_ros_bridge.ros.features.feed import RateLimiter
from urlab_ros_bridge.ros.parameters.settings import SettingsReader
from urlab_ros_bridge.ros.rclpy_tools.actions import Ending
from urlab_ros_bridge.wire.stamp import NANOSECONDS


@dataclass(frozen=True)
class Outcome:
    """The end of a trajectory: goal state, result code of FollowJointTrajectory, and reason."""

    ending: Ending
    code: int
    text: str


@dataclass(frozen=True)
class Report:
    """
    One moment of a trajectory; all arrays have shape (n,).

    :ivar index: of the point that comes next.
    """

    stamp_ns: int
    joints: tuple[str, ...]
    desired: Sample
    position: np.ndarray
    velocity: np.ndarray
    from_start_ns: int
    index: int


@dataclass
class TrajectoryMotion:
    """
    A path that is followed or is about to be.

    :ivar path: None for a movement to rest.
    :ivar spline: None until the first tick.
    :ivar pick: places of its joints among all that the robot measures, shape (n,).
    """

    joints: tuple[str, ...]
    pick: np.ndarray
    path: Path | None = None
    tolerances: Tolerances | None = None
    goal: Goal | None = None
    spline: Spline | None = None
    start_ns: int = 0
    skipped: int = 0
    feedback: RateLimiter = field(default_factory=RateLimiter)

    def begin(self, stamp_ns: int, base: Sample) -> None:
        """
        Join the path from the present desired state.

        Points of the past are left out; the way to the first one that is left begins now.

        :param base: desired state of the joints until now.
        :raises BadGoal: when all points are past.
        """
        assert self.path is not None
        self.start_ns = self.path.start_ns or stamp_ns
        points = self.path.points
        later = points._replace(times=points.times + self.start_ns).after(stamp_ns - 1)
        if not len(later.times):
            late = (stamp_ns - self.start_ns - self.path.duration_ns) / NANOSECONDS
            raise BadGoal(OLD_HEADER_TIMESTAMP, f'the last point was due {late:.3f} s ago')
        self.skipped = len(points.times) - len(later.times)
        if later.times[0] > stamp_ns:
            later = later.prepended(stamp_ns, base)
            self.skipped -= 1
        self.spline = Spline(later)

    def report(self, stamp_ns: int, measured: Sequence[np.ndarray]) -> Report:
        """Compare the desired state with positions and velocities of all joints of the robot."""
        assert self.spline is not None
        return Report(
            stamp_ns,
            self.joints,
            self.spline.sample(stamp_ns),
            measured[0][self.pick].astype(float),
            measured[1][self.pick].astype(float),
            stamp_ns - self.start_ns,
            self.spline.segment(stamp_ns) + self.skipped,
        )

    def judge(self, report: Report) -> Outcome | None:
        """Return whether it is over, and how."""
        assert self.spline is not None
        over = report.stamp_ns >= self.spline.end_ns
        if self.tolerances is None:
            return Outcome(Ending.SUCCEEDED, SUCCESSFUL, '') if over else None
        errors = (
            report.desired.position - report.position,
            report.desired.velocity - report.velocity,
        )
        if not over:
            text = self.tolerances.path.violation(self.joints, *errors)
            if not text:
                return None
            at = report.from_start_ns / NANOSECONDS
            return Outcome(
                Ending.ABORTED, PATH_TOLERANCE_VIOLATED, f'{text}, {at:.3f} s after the start'
            )
        text = self.tolerances.goal.violation(self.joints, *errors)
        if not text:
            return Outcome(Ending.SUCCEEDED, SUCCESSFUL, 'goal reached')
        timeout_ns = self.tolerances.goal_time_ns
        if timeout_ns is None or report.stamp_ns <= self.spline.end_ns + timeout_ns:
            return None
        return Outcome(
            Ending.ABORTED,
            GOAL_TOLERANCE_VIOLATED,
            f'{text}, {timeout_ns / NANOSECONDS:g} s after the last point',
        )


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
        """Whether `tick` needs joint states."""
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
        self.setpoints.stop()

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
