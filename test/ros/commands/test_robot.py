# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of one robot, over a node and a server that write down what they get."""

from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from geometry_msgs.msg import Wrench
from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint

from test.ros.commands import commanded
from test.ros.commands.commanded import EXTENSIONS
from test.ros.commands.commanded import Robot
from urlab_ros_bridge.ros.extras.trajectory import commands as trajectories
from urlab_ros_bridge.ros.features.feature import Command

SECOND = 10**9
CONTROLLER = 'joint_trajectory_controller'


@pytest.fixture
def arm(monkeypatch):
    """Return a robot that follows trajectories from the topic alone."""
    monkeypatch.setattr(trajectories, 'FollowAction', lambda *_: Command())
    return commanded.Robot(features=commanded.TRAJECTORIES, trajectory_rate=0.0)


def follow(robot, stamp_ns):
    """Start a trajectory of a second and let one tick pass."""
    robot.timeline.stamp_ns = stamp_ns
    point = JointTrajectoryPoint(positions=[0.1])
    point.time_from_start.sec = 1
    message = JointTrajectory(joint_names=['arm'], points=[point])
    robot.send(f'{CONTROLLER}/joint_trajectory', message)
    robot.robot.tick(stamp_ns, [np.zeros(2)] * 3)


def test_the_state_of_a_trajectory_is_published_at_once_after_time_went_back(arm):
    states = arm.node.published[f'{CONTROLLER}/controller_state']
    follow(arm, 100 * SECOND)
    assert [state.header.stamp.sec for state in states] == [100]
    arm.robot.jump('the simulation was reset')
    follow(arm, 1 * SECOND)
    assert [state.header.stamp.sec for state in states] == [100, 1]


def test_a_trajectory_waits_for_ticks_until_it_is_dropped(arm):
    follow(arm, SECOND)
    assert arm.robot.subscriptions() == {b'bot/joint/', b'bot/effort'}
    arm.link.state.mode = 'direct'
    arm.robot.drop_impossible()
    assert not arm.robot.active and not arm.robot.subscriptions()


@pytest.mark.parametrize(
    ('topic', 'message'),
    [
        ('cmd_vel', Twist(linear=Vector3(x=1.0))),
        ('wrench_command', WrenchStamped(wrench=Wrench(force=Vector3(x=9.0)))),
        ('joint_commands', JointState(name=['wheel'], velocity=[2.0])),
        ('joint_commands', JointState(name=['arm'], position=[0.5])),
    ],
)
def test_a_command_that_waits_to_be_sent_is_dropped_by_a_reset(topic, message):
    robot, waiting = Robot(cmd_vel_type='twist'), {}
    robot.robot.context.sender.put = lambda key, action, *_: waiting.update({key: action})
    robot.send(topic, message)
    assert waiting and not robot.asked
    robot.robot.jump('the simulation was reset')
    for action in waiting.values():
        action()
    assert all(kind == 'twist' and not speed for kind, speed, *_ in robot.asked)


def test_setpoints_may_arrive_while_all_are_stopped():
    setpoints = Robot().setpoints

    class Fields(tuple):
        def __getitem__(self, index):
            setpoints.write({1: 2.0})  # as another thread may
            return super().__getitem__(index)

    setpoints.write({0: 0.5})
    setpoints.fields = Fields(setpoints.fields)
    setpoints.stop()
    assert setpoints.last(0) == 0.5


@pytest.mark.parametrize(
    ('more', 'in_lockstep', 'read'),
    [
        (('step_while_live',), False, ('step', True)),
        ((), False, ('step', False)),  # it knows no other way to read
        (('step_while_live',), True, 'forward'),  # a step would be one between two instants
    ],
)
def test_joints_are_held_without_moving_time(more, in_lockstep, read):
    robot = Robot((*EXTENSIONS, *more))
    if in_lockstep:
        robot.begin_lockstep()
    robot.setpoints.hold()
    robot.speed = 0.2
    robot.setpoints.hold()
    assert robot.read == [read, read]
    # Where the arm is, once it moves.
    assert [asked[1] for asked in robot.asked] == [{'wheel': 0.0}, {'arm': 0.3, 'wheel': 0.0}]
