# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that are too old by the wall clock, or that an e-stop overtakes."""

from dataclasses import replace
import math

from geometry_msgs.msg import Twist
from geometry_msgs.msg import Vector3
from geometry_msgs.msg import Wrench
from geometry_msgs.msg import WrenchStamped
import numpy as np
import pytest
from sensor_msgs.msg import JointState

from test.ros.commands.commanded import EXTENSIONS
from test.ros.commands.commanded import Robot
from urlab_ros_bridge.client.ops import WallAge
from urlab_ros_bridge.ros.commands.arbitration import Arbiter
from urlab_ros_bridge.ros.commands.robot import CommandedRobot


def twist(speed):
    return Twist(linear=Vector3(x=speed))


def push(force):
    return WrenchStamped(wrench=Wrench(force=Vector3(x=force)))


def joints(**values):
    message = JointState(name=list(values))
    message.position = [values.get(name, 0.0) for name in values]
    message.velocity = list(message.position)
    return message


def test_stale_commands_are_refused_unless_they_stop():
    robot = Robot()
    robot.send('cmd_vel', twist(1.0), stale=True)
    robot.send('wrench_command', push(1.0), stale=True)
    robot.send('joint_commands', joints(wheel=1.0), stale=True)
    assert robot.rejections.counts == {'cmd_vel': 1, 'wrench_command': 1, 'joint_commands': 1}
    robot.send('wrench_command', push(math.nan))
    assert not robot.asked and 'nan' in robot.rejections.last['wrench_command']
    robot.send('cmd_vel', twist(0.0), stale=True)
    robot.send('wrench_command', push(0.0), stale=True)
    robot.send('joint_commands', joints(wheel=0.0), stale=True)
    robot.send('joint_commands', joints(arm=0.7), stale=True)
    assert [kind for kind, *_ in robot.asked] == ['twist', 'wrench', 'setpoints', 'setpoints']


def test_the_server_gets_the_maximum_age_of_a_command():
    robot = Robot(cmd_vel_timeout=0.8, command_max_age=0.6)
    robot.send('cmd_vel', twist(1.0))
    robot.send('cmd_vel', twist(0.0))
    robot.send('wrench_command', push(1.0))
    robot.send('joint_commands', joints(wheel=1.0))
    assert [asked[-1] for asked in robot.asked] == [
        WallAge(0.8, 77),
        None,
        WallAge(0.6, 77),
        WallAge(1.0, 77),
    ]


@pytest.mark.parametrize('extensions', [EXTENSIONS, ()])
def test_during_a_pause_a_velocity_holds_while_it_is_repeated(extensions):
    robot = Robot(extensions)
    for _ in range(10):
        robot.send('cmd_vel', twist(1.0))
        robot.wait(0.4)
    robot.wait(0.4)
    assert [asked[1] for asked in robot.asked] == [1.0] * 10 + [0.0]
    robot.wait(5.0)
    assert len(robot.asked) == 11


@pytest.mark.parametrize('extensions', [EXTENSIONS, ()])
def test_a_velocity_ends_after_its_timeout_of_simulation_time(extensions):
    robot = Robot(extensions, cmd_vel_timeout=0.2)
    robot.send('cmd_vel', twist(1.0))
    robot.go_on(0.19)
    (asked,) = robot.asked
    assert asked[:3] == ('twist', 1.0, 0.2 if extensions else None)
    robot.go_on(0.01)
    # A stock server does not count.
    assert [asked[1] for asked in robot.asked[1:]] == ([] if extensions else [0.0])


def test_a_robot_may_be_stopped_in_the_middle_of_a_tick():
    robot = Robot()
    robot.send('cmd_vel', twist(1.0))
    settings = robot.robot.settings

    def stop_first(kind):
        robot.robot.settings = settings
        robot.robot.halt('the e-stop is engaged')
        return settings(kind)

    robot.robot.settings = stop_first
    robot.go_on(0.01)
    assert robot.robot.context.errors.counts == {}


def test_a_twist_of_a_lockstep_is_for_the_state_that_it_answers():
    robot = Robot((*EXTENSIONS, 'reset_count'))
    robot.begin_lockstep()
    robot.timeline.resets = 3
    robot.send('cmd_vel', twist(1.0))
    robot.send('cmd_vel', twist(0.0))
    assert robot.resets == [3, None]


@pytest.mark.parametrize('is_refused', [True, False])
def test_without_a_drive_cmd_vel_is_refused_unless_it_is_to_be_passed_on(is_refused):
    robot = Robot(cmd_vel_needs_drive=is_refused)
    robot.robot.plan = replace(robot.robot.plan, holds_twist=True)
    robot.send('cmd_vel', twist(1.0))
    assert bool(robot.asked) is not is_refused
    assert robot.rejections.counts == ({'cmd_vel': 1} if is_refused else {})


@pytest.mark.parametrize('seconds_of_pause', [0.0, 1.0])
def test_a_wrench_and_a_speed_given_in_a_pause_are_withdrawn_a_position_is_not(seconds_of_pause):
    robot = Robot()
    robot.wait(seconds_of_pause)
    robot.send('wrench_command', push(5.0))
    robot.send('joint_commands', joints(wheel=2.0))
    robot.send('joint_commands', joints(arm=0.7))
    robot.wait(0.4)
    assert not robot.rejections.counts
    robot.wait(5.0)
    assert ('wrench', 0.0, 0.1, None) in robot.asked
    assert robot.setpoints.last(1) == 0.0 and robot.setpoints.last(0) == 0.7
    assert 'withdrawn' in robot.rejections.last['wrench_command']
    assert 'wheel withdrawn' in robot.rejections.last['joint_commands']
    count = len(robot.asked)
    robot.go_on()
    assert len(robot.asked) == count


def test_commands_in_force_before_a_pause_remain_after_it():
    robot = Robot()
    robot.send('joint_commands', joints(wheel=2.0))
    robot.go_on()
    robot.wait(10.0)
    robot.go_on()
    assert robot.setpoints.last(1) == 2.0
    # It was renewed all the time, so that the server knows that the bridge lives.
    assert len(robot.asked) > 20 and all(asked[3] for asked in robot.asked)


def test_a_speed_given_while_the_server_was_stopped_is_withdrawn():
    """It was sent while there were no ticks, and its publisher has ended since."""
    robot = Robot()
    robot.now += 2.0
    robot.send('joint_commands', joints(wheel=2.0))
    robot.now += 5.0
    robot.go_on()
    assert robot.setpoints.last(1) == 0.0
    robot.go_on(0.5)
    assert robot.asked[-1][1] == {'wheel': 0.0}


def test_speeds_of_a_controller_manager_that_has_died_are_withdrawn_and_positions_are_not():
    robot = Robot(ros2_control=True)
    for _ in range(100):
        robot.send('joint_commands', joints(wheel=2.0))
        robot.send('joint_commands', joints(arm=0.7))
        robot.wait(0.6)  # paused: no cycle runs
        robot.go_on()
    robot.go_on(0.4)
    robot.wait(60.0)  # paused: no cycle runs
    assert robot.setpoints.last(1) == 2.0 and not robot.rejections.counts
    robot.go_on(0.2)
    assert robot.setpoints.last(1) == 0.0 and robot.setpoints.last(0) == 0.7
    assert robot.asked[-1][:2] == ('setpoints', {'wheel': 0.0})
    assert 'wheel withdrawn: controller_manager' in robot.rejections.last['joint_commands']
    robot.go_on(10.0)
    assert robot.rejections.counts == {'joint_commands': 1}
    robot.send('joint_commands', joints(wheel=1.0))  # another one was started
    robot.go_on()
    assert robot.setpoints.last(1) == 1.0


def test_controllers_cannot_make_a_robot_jump_when_an_e_stop_is_released():
    robot = Robot(ros2_control=True)
    robot.halt('the e-stop is engaged')
    robot.send('joint_commands', joints(arm=0.3))
    assert robot.rejections.last['joint_commands'] == 'the e-stop is engaged'
    robot.robot.context.stop.reason = ''
    robot.asked.clear()
    robot.send('joint_commands', joints(arm=0.3))  # no tick yet
    assert not robot.asked
    measured = [np.array([0.1, 0.0]), np.zeros(2), np.zeros(2)]
    assert robot.robot.active
    robot.robot.tick(robot.timeline.stamp_ns, measured)
    robot.send('joint_commands', joints(arm=0.3))
    assert not robot.asked
    assert 'held arm at 0.10, its controller wants 0.30' in robot.rejections.last['joint_commands']
    robot.send('joint_commands', joints(arm=0.15))  # a new goal begins where the robot is
    robot.send('joint_commands', joints(arm=0.3))
    assert [asked[1] for asked in robot.asked] == [{'arm': 0.15}, {'arm': 0.3}]
    assert not robot.robot.active


def test_a_speed_that_was_sent_once_stays_without_ros2_control_or_a_maximum_age():
    for settings in ({}, {'ros2_control': True, 'command_max_age': 0.0}):
        robot = Robot(**settings)
        robot.send('joint_commands', joints(wheel=2.0))
        for _ in range(100):
            robot.go_on(0.1)
        assert robot.setpoints.last(1) == 2.0


def test_a_stale_request_loses_no_position():
    robot = Robot()
    robot.stale = True
    robot.send('joint_commands', joints(arm=0.7, wheel=2.0))
    assert robot.asked == [('setpoints', {'arm': 0.7}, 1.0, None)]
    assert robot.rejections.counts == {'server': 1}


def test_partial_messages_that_wait_for_the_server_are_merged_and_a_reset_withdraws_them():
    robot, waiting = Robot(), {}
    robot.robot.context.sender.put = lambda key, action, *_: waiting.update({key: action})
    robot.send('joint_commands', joints(arm=0.7))
    robot.send('joint_commands', joints(wheel=2.0))
    waiting['joint_commands']()
    assert [asked[1] for asked in robot.asked] == [{'arm': 0.7, 'wheel': 2.0}]
    robot.send('joint_commands', joints(wheel=3.0))
    robot.robot.jump('the simulation was reset')
    waiting['joint_commands']()
    assert len(robot.asked) == 1


@pytest.mark.parametrize(
    ('topic', 'message', 'check', 'end'),
    [
        ('cmd_vel', twist(1.0), (Arbiter, 'claim'), ('twist', 0.0)),
        ('joint_commands', joints(wheel=1.0), (Arbiter, 'claim'), ('setpoints', {'wheel': 0.0})),
        ('wrench_command', push(1.0), (CommandedRobot, 'admit'), ('wrench', 0.0)),
    ],
)
def test_a_command_that_overtakes_the_e_stop_is_stopped(monkeypatch, topic, message, check, end):
    """The e-stop is engaged by another thread, after the command was found to be allowed."""
    robot, is_allowed = Robot(), getattr(*check)

    def then_stop(self, *arguments):
        is_allowed(self, *arguments)
        robot.halt('the e-stop is engaged')
        robot.asked.clear()

    monkeypatch.setattr(*check, then_stop)
    robot.send(topic, message)
    assert robot.asked[0][0] == end[0]
    assert end in [asked[:2] for asked in robot.asked[1:]]


def test_a_bridge_that_ends_stops_speeds_and_leaves_positions():
    robot = Robot()
    robot.send('joint_commands', joints(arm=0.7))
    robot.send('joint_commands', joints(wheel=2.0))
    robot.asked.clear()
    robot.robot.stop_moving('')
    assert [asked[:2] for asked in robot.asked] == [('setpoints', {'wheel': 0.0})]
