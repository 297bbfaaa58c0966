# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Following trajectories tick by tick, without a server: time is what the test says it is."""

import numpy as np
import pytest

from test.ros.commands import commanded
from urlab_ros_bridge.ros.extras.trajectory.follower import Follower
from urlab_ros_bridge.ros.extras.trajectory.follower import Outcome
from urlab_ros_bridge.ros.extras.trajectory.goal import ErrorLimits
from urlab_ros_bridge.ros.extras.trajectory.goal import GOAL_TOLERANCE_VIOLATED
from urlab_ros_bridge.ros.extras.trajectory.goal import INVALID_GOAL
from urlab_ros_bridge.ros.extras.trajectory.goal import no_tolerances
from urlab_ros_bridge.ros.extras.trajectory.goal import OLD_HEADER_TIMESTAMP
from urlab_ros_bridge.ros.extras.trajectory.goal import Path
from urlab_ros_bridge.ros.extras.trajectory.goal import PATH_TOLERANCE_VIOLATED
from urlab_ros_bridge.ros.extras.trajectory.goal import SUCCESSFUL
from urlab_ros_bridge.ros.extras.trajectory.goal import Tolerances
from urlab_ros_bridge.ros.extras.trajectory.spline import Points
from urlab_ros_bridge.ros.rclpy_tools.actions import Ending

SECOND = 10**9


class Robot(commanded.Robot):
    """An arm that is where it was commanded to, but for an error, a wheel, and their follower."""

    def __init__(self, **settings):
        super().__init__(trajectory_rate=0.0, trajectory_feedback_rate=0.0, **settings)
        self.follower = Follower(self.setpoints, self.arbiter, self.settings)
        self.position, self.velocity = np.zeros(2), np.zeros(2)
        self.now_ns, self.error = 100 * SECOND, 0.0
        self.reports, self.ends = [], []

    def feedback(self, report):
        self.reports.append(report)

    def done(self, ending, outcome):
        self.ends.append(outcome)

    @property
    def arm(self):
        """Return the setpoints of the arm so far."""
        return [values['arm'] for kind, values, *_ in self.asked if kind == 'setpoints']

    def start(self, path, tolerances=None):
        return self.follower.start(path, tolerances or no_tolerances(1), self, self.now_ns)

    def follow(self, seconds, step=0.01):
        """Let time pass; the first tick is now."""
        for _ in range(round(seconds / step)):
            if self.follower.tick(self.now_ns, (self.position, self.velocity)) is not None:
                before = self.position.copy()
                self.position[0] = (self.setpoints.last(0) or 0.0) + self.error
                self.position[1] += (self.setpoints.last(1) or 0.0) * step
                self.velocity[:] = (self.position - before) / step
            self.now_ns += round(step * SECOND)


def path(times, *positions, joint='arm', start=0, velocities=None):
    rows = np.array(positions, float)[:, np.newaxis]
    unknown = np.full_like(rows, np.nan)
    speeds = unknown if velocities is None else np.array(velocities, float)[:, np.newaxis]
    points = Points(np.array([round(t * SECOND) for t in times]), rows, speeds, unknown)
    return Path((joint,), points, start)


def limits(path=np.inf, goal=np.inf, patience=None):
    free = np.full(1, np.inf)
    return Tolerances(
        ErrorLimits(np.full(1, path), free),
        ErrorLimits(np.full(1, goal), free),
        None if patience is None else round(patience * SECOND),
    )


def test_a_start_in_the_future_and_one_in_the_past():
    late = Robot()
    late.start(path([0.5, 1.0], 1, 2, start=late.now_ns + SECOND))
    late.follow(2.0)
    assert late.arm[100] == pytest.approx(1.0 * 1.0 / 1.5)
    early = Robot()
    early.start(path([0.5, 1.0], 1, 2, start=early.now_ns - 7 * SECOND // 10))
    early.follow(0.4)
    assert early.arm[-1] == 2
    assert early.reports[0].index == 1 and early.ends[0].ending is Ending.SUCCEEDED
    gone = Robot()
    gone.start(path([0.5], 1, start=gone.now_ns - SECOND))
    gone.follow(0.1)
    assert gone.ends[0].code == OLD_HEADER_TIMESTAMP and not gone.arm
    assert gone.arbiter.report(gone.now_ns) == {}


def test_leaving_the_path_aborts_and_holds_the_present_position():
    robot = Robot()
    robot.start(path([1.0], 1), limits(path=0.2))
    robot.follow(0.5)
    robot.error = 0.3
    robot.follow(0.3)
    assert [end.code for end in robot.ends] == [PATH_TOLERANCE_VIOLATED]
    assert 'arm' in robot.ends[0].text
    held = robot.arm[-1]
    assert held == pytest.approx(0.5 + 0.3, abs=0.05)
    robot.follow(0.3)
    assert robot.arm[-1] == held and not robot.follower.active


def test_at_the_goal_it_waits_as_long_as_it_may():
    strict, patient = Robot(), Robot()
    for robot, patience in ((strict, 0.5), (patient, None)):
        robot.error = 0.1
        robot.start(path([0.5], 1), limits(goal=0.05, patience=patience))
        robot.follow(0.95)
        assert not robot.ends
    strict.follow(0.1)
    assert strict.ends[0].code == GOAL_TOLERANCE_VIOLATED
    patient.follow(1.0)
    assert not patient.ends
    patient.error = 0.0
    patient.follow(0.1)
    assert patient.ends[0].ending is Ending.SUCCEEDED


def test_a_cancelled_trajectory_brakes_within_the_stop_time():
    robot = Robot(trajectory_stop_time=0.2)
    motion = robot.start(path([1.0], 1))
    robot.follow(0.5)
    before = robot.arm[-1]
    robot.follower.cancel(motion, Outcome(Ending.CANCELED, SUCCESSFUL, ''))
    assert [end.ending for end in robot.ends] == [Ending.CANCELED]
    robot.follow(0.5)
    assert np.abs(np.diff(robot.arm)).max() < 0.0101
    assert robot.arm[-1] == pytest.approx(before + 1.0 * 0.2 / 2, abs=0.011)
    assert not robot.follower.active and robot.arbiter.report(robot.now_ns) == {}


def test_a_new_trajectory_takes_over_without_a_jump_of_position_or_speed():
    robot = Robot()
    robot.start(path([0.0, 1.0, 2.0], 0, 1, 2, velocities=[0.0, 1.0, 0.0]))
    robot.follow(1.0)
    robot.start(path([1.0], 0, velocities=[0.0]))
    robot.follow(1.2)
    first, second = robot.ends
    assert (first.ending, first.code) == (Ending.ABORTED, INVALID_GOAL)
    assert second.ending is Ending.SUCCEEDED
    wanted = np.array([report.desired.position[0] for report in robot.reports])
    assert np.abs(np.diff(wanted)).max() < 0.02
    assert np.abs(np.diff(wanted, 2)).max() < 0.002


def test_joints_that_take_a_velocity_get_one_and_stop():
    robot = Robot(trajectory_velocity_gain=5.0)
    robot.start(path([2.0], 3.0, joint='wheel'))
    robot.follow(1.0)
    assert robot.setpoints.last(1) == pytest.approx(1.5, abs=0.1)
    robot.follow(1.1)
    assert robot.position[1] == pytest.approx(3.0, abs=0.05) and robot.setpoints.last(1) == 0.0


def test_a_reset_aborts_and_sends_nothing_more():
    robot = Robot()
    robot.start(path([1.0], 1))
    robot.follow(0.5)
    count = len(robot.arm)
    robot.follower.drop('the simulation was reset')
    robot.now_ns = 0
    robot.follow(0.5)
    assert robot.ends[0].ending is Ending.ABORTED
    assert len(robot.arm) == count and not robot.follower.active
