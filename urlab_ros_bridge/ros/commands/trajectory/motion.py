# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory under way: its path from the first tick on, and how well the robot follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

import numpy as np

from urlab_ros_bridge.ros.commands.goal_action import Goal
from urlab_ros_bridge.ros.commands.trajectory.goal import BadGoal
from urlab_ros_bridge.ros.commands.trajectory.goal import GOAL_TOLERANCE_VIOLATED
from urlab_ros_bridge.ros.commands.trajectory.goal import OLD_HEADER_TIMESTAMP
from urlab_ros_bridge.ros.commands.trajectory.goal import Path
from urlab_ros_bridge.ros.commands.trajectory.goal import PATH_TOLERANCE_VIOLATED
from urlab_ros_bridge.ros.commands.trajectory.goal import SUCCESSFUL
from urlab_ros_bridge.ros.commands.trajectory.spline import Sample
from urlab_ros_bridge.ros.commands.trajectory.spline import Spline
from urlab_ros_bridge.ros.commands.trajectory.tolerances import Tolerances
from urlab_ros_bridge.ros.features.feed import RateLimiter
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
