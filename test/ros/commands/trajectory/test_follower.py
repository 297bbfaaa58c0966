# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Following trajectories tick by tick, without a server: time is what the test says it is."""

import numpy as np
import pytest

from urlab_ros_bridge.ros.commands.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.trajectory.follower import Follower
from urlab_ros_bridge.ros.commands.trajectory.follower import Outcome
from urlab_ros_bridge.ros.commands.trajectory.goal import ErrorLimits
from urlab_ros_bridge.ros.commands.trajectory.goal import GOAL_TOLERANCE_VIOLATED
from urlab_ros_bridge.ros.commands.trajectory.goal import INVALID_GOAL
from urlab_ros_bridge.ros.commands.trajectory.goal import no_tolerances
from urlab_ros_bridge.ros.commands.trajectory.goal import OLD_HEADER_TIMESTAMP
from urlab_ros_bridge.ros.commands.trajectory.goal import Path
from urlab_ros_bridge.ros.commands.trajectory.goal import PATH_TOLERANCE_VIOLATED
from urlab_ros_bridge.ros.commands.trajectory.goal import SUCCESSFUL
from urlab_ros_bridge.ros.commands.trajectory.goal import Tolerances
from urlab_ros_bridge.ros.commands.trajectory.spline import Points
from urlab_ros_bridge.ros.plan.plan import FrameNames
from urlab_ros_bridge.ros.plan.plan import PlannedActuator
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.program.features import Settings
from urlab_ros_bridge.ros.rclpy_tools.actions import Ending

SECOND = 10**9
PLAN = RobotPlan(
    'bot',
    '',
    '',
    FrameNames('base_link', '', 'odom', 'map'),
    ('wheel', 'hip', 'knee', 'free'),
    qpos=(0, 1, 2, 3),
    qvel=(0, 1, 2, 3),
    actuators=(
        PlannedActuator('hip', 'position', 'hip'),
        PlannedActuator('knee', 'position', 'knee'),
        PlannedActuator('wheel', 'velocity', 'wheel'),
        PlannedActuator('free', 'motor', 'free'),
    ),
)


class Sink:
    """Setpoints that are remembered; what is commanded is where the joints are at once."""

    def __init__(self):
        self.plan, self.setpoints = PLAN, {}
        self.fields = ('position', 'position', 'velocity', 'effort')
        self.writes = []

    def problem(self):
        return ''

    def check(self):
        pass

    def write(self, values):
        self.setpoints.update(values)
        self.writes.append(dict(values))

    def last(self, index):
        return self.setpoints.get(index)

    def stop(self):
        self.write({2: 0.0})


class Robot:
    """A follower, and a robot that follows its setpoints with an error."""

    def __init__(self, **settings):
        settings = Settings(trajectory_rate=0.0, trajectory_feedback_rate=0.0, **settings)
        self.sink, self.arbiter = Sink(), Arbiter(settings)
        self.follower = Follower(self.sink, self.arbiter, settings)
        self.position, self.velocity = np.zeros(4), np.zeros(4)
        self.now = 100 * SECOND
        self.error = 0.0

    def start(self, path, tolerances=None, listener=None):
        tolerances = tolerances or no_tolerances(len(path.joints))
        return self.follower.start(path, tolerances, listener, self.now)

    def run(self, seconds, step=0.01):
        """Let time pass; the first tick is now."""
        for _ in range(round(seconds / step)):
            report = self.follower.tick(self.now, (self.position, self.velocity))
            if report is not None:
                before = self.position.copy()
                self.position[1] = self.sink.setpoints.get(0, 0.0) + self.error
                self.position[2] = self.sink.setpoints.get(1, 0.0) + self.error
                self.position[0] += self.sink.setpoints.get(2, 0.0) * step
                self.velocity[:] = (self.position - before) / step
            self.now += round(step * SECOND)


class Listener:
    """Records reports and ends."""

    def __init__(self):
        self.reports, self.ends = [], []

    def feedback(self, report):
        self.reports.append(report)

    def done(self, ending, outcome):
        self.ends.append(outcome)


def path(times, *rows, joints=('hip', 'knee'), start=0, velocities=None):
    positions = np.array(rows, float)
    unknown = np.full_like(positions, np.nan)
    speeds = unknown if velocities is None else np.array(velocities, float)
    points = Points(np.array([round(t * SECOND) for t in times]), positions, speeds, unknown)
    return Path(tuple(joints), points, start)


def limits(count, path=np.inf, goal=np.inf, patience=None):
    free = np.full(count, np.inf)
    return Tolerances(
        ErrorLimits(np.full(count, path), free),
        ErrorLimits(np.full(count, goal), free),
        None if patience is None else round(patience * SECOND),
    )


def test_a_start_in_the_future_and_one_in_the_past():
    late = Robot()
    late.start(path([0.5, 1.0], (1, 1), (2, 2), start=late.now + SECOND))
    late.run(2.0)
    assert late.sink.writes[100][0] == pytest.approx(1.0 * 1.0 / 1.5)
    early, listener = Robot(), Listener()
    begun = early.now - 7 * SECOND // 10
    early.start(path([0.5, 1.0], (1, 1), (2, 2), start=begun), None, listener)
    early.run(0.4)
    assert early.sink.setpoints == {0: 2, 1: 2}
    assert listener.reports[0].index == 1 and listener.ends[0].ending is Ending.SUCCEEDED
    gone, listener = Robot(), Listener()
    gone.start(path([0.5], (1, 1), start=gone.now - SECOND), None, listener)
    gone.run(0.1)
    assert listener.ends[0].code == OLD_HEADER_TIMESTAMP and not gone.sink.setpoints
    assert gone.arbiter.report(gone.now) == {}


def test_leaving_the_path_aborts_and_holds_the_present_position():
    robot, listener = Robot(), Listener()
    robot.start(path([1.0], (1, 1)), limits(2, path=0.2), listener)
    robot.run(0.5)
    robot.error = 0.3
    robot.run(0.3)
    assert [end.code for end in listener.ends] == [PATH_TOLERANCE_VIOLATED]
    assert 'hip' in listener.ends[0].text
    held = robot.sink.setpoints[0]
    assert held == pytest.approx(0.5 + 0.3, abs=0.05)
    robot.run(0.3)
    assert robot.sink.setpoints[0] == held and not robot.follower.active


def test_at_the_goal_it_waits_as_long_as_it_may():
    strict, patient = Robot(), Robot()
    for robot, patience in ((strict, 0.5), (patient, None)):
        robot.error, robot.listener = 0.1, Listener()
        robot.start(path([0.5], (1, 1)), limits(2, goal=0.05, patience=patience), robot.listener)
        robot.run(0.95)
        assert not robot.listener.ends
    strict.run(0.1)
    assert strict.listener.ends[0].code == GOAL_TOLERANCE_VIOLATED
    patient.run(1.0)
    assert not patient.listener.ends
    patient.error = 0.0
    patient.run(0.1)
    assert patient.listener.ends[0].ending is Ending.SUCCEEDED


def test_a_cancelled_trajectory_brakes_within_the_stop_time():
    robot, listener = Robot(trajectory_stop_time=0.2), Listener()
    motion = robot.start(path([1.0], (1, 1)), listener=listener)
    robot.run(0.5)
    before = robot.sink.setpoints[0]
    robot.follower.cancel(motion, Outcome(Ending.CANCELED, SUCCESSFUL, ''))
    assert [end.ending for end in listener.ends] == [Ending.CANCELED]
    robot.run(0.5)
    steps = np.abs(np.diff([write[0] for write in robot.sink.writes]))
    assert steps.max() < 0.0101
    assert robot.sink.setpoints[0] == pytest.approx(before + 1.0 * 0.2 / 2, abs=0.011)
    assert not robot.follower.active and robot.arbiter.report(robot.now) == {}


def test_a_new_trajectory_takes_over_without_a_jump_of_position_or_speed():
    robot, first, second = Robot(), Listener(), Listener()
    rest, fast = (0.0, 0.0), (1.0, 1.0)
    robot.start(path([0.0, 1.0, 2.0], rest, (1, 1), (2, 2), velocities=[rest, fast, rest]),
                listener=first)  # fmt: skip
    robot.run(1.0)
    robot.start(path([1.0], (0, 0), velocities=[rest]), listener=second)
    robot.run(1.2)
    assert (first.ends[0].ending, first.ends[0].code) == (Ending.ABORTED, INVALID_GOAL)
    assert second.ends[0].ending is Ending.SUCCEEDED
    wanted = np.array([r.desired.position[0] for r in (*first.reports, *second.reports)])
    assert np.abs(np.diff(wanted)).max() < 0.02
    assert np.abs(np.diff(wanted, 2)).max() < 0.002


def test_joints_that_take_a_velocity_get_one_and_stop():
    robot, listener = Robot(trajectory_velocity_gain=5.0), Listener()
    robot.start(path([2.0], (3.0,), joints=['wheel']), listener=listener)
    robot.run(1.0)
    assert robot.sink.setpoints[2] == pytest.approx(1.5, abs=0.1)
    robot.run(1.1)
    assert robot.position[0] == pytest.approx(3.0, abs=0.05) and robot.sink.setpoints[2] == 0.0


def test_a_reset_aborts_and_sends_nothing_more():
    robot, listener = Robot(), Listener()
    robot.start(path([1.0], (1, 1)), listener=listener)
    robot.run(0.5)
    count = len(robot.sink.writes)
    robot.follower.drop('the simulation was reset')
    robot.now = 0
    robot.run(0.5)
    assert listener.ends[0].ending is Ending.ABORTED
    assert len(robot.sink.writes) == count and not robot.follower.active
