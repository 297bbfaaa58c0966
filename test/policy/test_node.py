# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node with sensors that the tests play: states, warnings, and what it never does."""

import itertools

from bridge_harness import free_domain
from bridge_harness import LATCHED
from bridge_harness import Listener
from bridge_harness import wait_until
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist
from managed_node import ACTIVATE
from managed_node import CLEANUP
from managed_node import CONFIGURE
from managed_node import DEACTIVATE
from managed_node import ManagedNode
import numpy as np
from policies import JOINTS
from policies import linear
from policies import write
import pytest
from sensor_msgs.msg import Imu
from sensor_msgs.msg import JointState
from stamps import ns_of
from stamps import time_of
from std_msgs.msg import Float64MultiArray
from std_msgs.msg import UInt64

from urlab_ros_bridge.policy.node import PolicyNode

WHERE = [1.0, 2.0, 3.0]


class Running(ManagedNode):
    """A policy node, and the robot that it moves."""

    def __init__(self, path, listener, **parameters):
        values = {'policy': str(path), 'cmd_vel_type': 'twist', **parameters}
        super().__init__(PolicyNode, 'urlab_policy', listener, values)
        self.reports = listener.listen(DiagnosticArray, '/diagnostics')

    def sensors(self):
        """Make the publishers of the robot, when the policy hears them."""
        self._joints = self.listener.publisher(JointState, 'joint_states')
        self._imu = self.listener.publisher(Imu, 'imu/data')
        self._command = self.listener.publisher(Twist, 'cmd_vel')

    def instant(self, ms, names=JOINTS, command=0.4):
        """Publish one instant, the command first."""
        if command is not None:
            twist = Twist()
            twist.linear.x = command
            self._command.publish(twist)
        joints = JointState(name=names, position=WHERE, velocity=[0.0] * 3)
        imu = Imu()
        imu.orientation.w = 1.0
        for message in (imu, joints):
            message.header.stamp = time_of(ms * 10**6)
        self._imu.publish(imu)
        self._joints.publish(joints)

    def status(self, says):
        """Wait for a report whose text holds some words; return its values."""

        def found():
            for message in list(self.reports):
                for status in message.status:
                    if says in status.message:
                        return {pair.key: pair.value for pair in status.values}
            return None

        return wait_until(found)


@pytest.fixture
def start(tmp_path, keep):
    """Return a function: changes of the description -> a policy node."""

    def begin(parameters=None, bias=(0.5, 0.5, 0.5), **changes):
        path = write(tmp_path, **changes)
        size = 12 if 'observations' not in changes else 3
        linear(tmp_path / 'walk.onnx', np.zeros((size, 3)), bias)
        return keep(Running(path, keep(Listener(free_domain())), **(parameters or {})))

    return begin


def answered(run, commands, ms, **more):
    """Publish instants until one of them is answered with its stamp; return the answer."""
    count = len(commands)

    run.instant(ms, **more)
    wait_until(lambda: len(commands) > count and ns_of(commands[-1]) == ms * 10**6)
    return commands[-1]


def test_it_commands_while_it_is_active_and_a_reset_begins_an_episode(start):
    run = start({'answer_all': True}, start_time=0.1, observation_timeout=60.0)
    commands = run.listener.listen(JointState, 'joint_commands')
    resets = run.listener.node.create_publisher(UInt64, 'reset_count', LATCHED)
    resets.publish(UInt64(data=3))  # before it began: nothing new
    assert run.change(CONFIGURE)
    run.sensors()
    run.instant(0)
    run.status('inactive')
    assert not commands
    assert run.change(ACTIVATE)
    first = answered(run, commands, 20)
    assert list(first.name) == list(JOINTS) and list(first.position) == WHERE
    for ms in range(40, 160, 20):
        last = answered(run, commands, ms)
    assert last.position.tolist() == pytest.approx([0.6, 0.3, 0.8])  # the default pose and 0.5
    assert int(run.status('running')['steps']) > 0
    wait_until(lambda: run.node._policy._resets == 3)
    resets.publish(UInt64(data=4))
    wait_until(lambda: run.node._policy._resets == 4)
    assert answered(run, commands, 160).position.tolist() == WHERE
    assert answered(run, commands, 160).position.tolist() == WHERE  # as if the answer were lost
    assert run.change(DEACTIVATE)
    count = len(commands)
    run.instant(500)
    run.reports.clear()
    run.status('inactive')
    assert len(commands) == count
    assert run.change(ACTIVATE)
    assert answered(run, commands, 520).position.tolist() == WHERE  # slowly, from where it is
    assert run.change(DEACTIVATE) and run.change(CLEANUP)
    wait_until(lambda: not run.listener.node.count_publishers('joint_commands'))


def test_silent_sensors_and_a_missing_command_end_the_walk(start):
    times = {'start_time': 0.0, 'hold_time': 0.0, 'observation_timeout': 2.0}
    run = start(output='array', command={'timeout': 0.1}, **times)  # as ros2_control takes it
    commands = run.listener.listen(Float64MultiArray, 'joint_commands')
    assert run.change(CONFIGURE) and run.change(ACTIVATE)
    run.status('waiting for imu/data, joint_states')
    run.sensors()
    pose = pytest.approx([0.1, -0.2, 0.3])
    stamps = itertools.count(0, 20)

    def walks(command):
        # An instant after two seconds in which this machine was suspended has no answer.
        run.instant(next(stamps), command=command)
        return bool(commands) and commands[-1].data.tolist() != pose

    # A command may be heard after the sensors that were heard with it.
    wait_until(lambda: walks(0.4))
    wait_until(lambda: not walks(None))
    run.status('holding the default pose: no cmd_vel for 0.1 s')
    wait_until(lambda: walks(0.4))
    wait_until(lambda: commands[-1].data.tolist() == pose)  # publishing has ended
    run.status('holding the default pose: no sensor messages for 2 s')


def test_what_it_cannot_use_is_reported_and_moves_nothing(start):
    assert not start({'cmd_vel_type': 'speed'}).change(CONFIGURE)
    assert not start({'policy': 'no_such_policy'}).change(CONFIGURE)
    run = start(start_time=0.0, observation_timeout=60.0)
    commands = run.listener.listen(JointState, 'joint_commands')
    assert run.change(CONFIGURE) and run.change(ACTIVATE)
    run.sensors()
    run.instant(0, names=('a', 'b', 'knee'))
    run.status("joint_states has no joint 'c'")
    assert not commands
    answered(run, commands, 20)
    run.instant(40, command=float('nan'))
    run.status('finite')
