# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""joint_commands as users write them, and as JointStateTopicSystem of ros2_control sends them."""

import math
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies
import pytest
from sensor_msgs.msg import JointState
from topic_system import Block

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.commands.joint_commands import actuators_by_name
from urlab_ros_bridge.ros.commands.joint_commands import setpoints
from urlab_ros_bridge.ros.plan.plan import PlannedActuator

NAN = math.nan
JOINTS = ('shoulder', 'elbow', 'finger', 'wheel', 'winch')
ACTUATORS = (
    PlannedActuator('shoulder_servo', 'position', 'shoulder'),
    PlannedActuator('elbow_servo', 'position', 'elbow'),
    PlannedActuator('wheel', 'velocity', 'wheel'),
    PlannedActuator('winch', 'motor', 'winch'),
    PlannedActuator('tendon', 'position', ''),
)
TAKEN = ('position', 'position', 'velocity', 'effort', 'position')
PLAN = SimpleNamespace(joints=JOINTS, actuators=ACTUATORS)


def read(message):
    """Return the setpoints of a message by the name of the actuator."""
    found = setpoints(message, 'bot', actuators_by_name(PLAN), TAKEN)
    return {ACTUATORS[index].name: value for index, value in found.items()}


def sent(values, *joints):
    """Return what a block of joints (name, command interfaces) sends for values by interface."""
    block = Block((name, commands, ()) for name, commands in joints)
    block.commands |= {tuple(key.split('/')): value for key, value in values.items()}
    return block.message()


ARM = (('shoulder', ['position']), ('elbow', ['position']))
ARM_VALUES = {'shoulder/position': 0.1, 'elbow/position': 0.2}
ARM_FOUND = {'shoulder_servo': 0.1, 'elbow_servo': 0.2}
ALL = ['position', 'velocity', 'effort']


@pytest.mark.parametrize(
    ('message', 'found'),
    [
        pytest.param(sent({}, *ARM, ('wheel', ALL)), {}, id='before a controller'),
        pytest.param(sent({'elbow/position': 0.2}, *ARM), {'elbow_servo': 0.2}, id='one claimed'),
        pytest.param(
            sent(ARM_VALUES, *((name, ALL) for name, _ in ARM), ('finger', [])),
            ARM_FOUND,
            id='interfaces that the robot does not take',
        ),
        pytest.param(
            JointState(name=['bot_wheel', 'tendon'], position=[NAN, 0.3], velocity=[2.0, NAN]),
            {'wheel': 2.0, 'tendon': 0.3},
            id='written by hand',
        ),
    ],
)
def test_setpoints_of_a_message(message, found):
    assert read(message) == found


@pytest.mark.parametrize(
    ('message', 'value'),
    [
        (JointState(name=['knee'], position=[1.0]), 'knee'),
        (JointState(name=['finger']), 'finger'),
        (JointState(name=['shoulder'], effort=[1.0]), 'shoulder'),
        (JointState(name=['shoulder'], position=[math.inf]), 'inf'),
        # A controller that has claimed velocities, of a block that declares positions too.
        (sent({'shoulder/velocity': 1.0}, ('shoulder', ALL)), 'shoulder'),
        (JointState(name=['shoulder', 'elbow', 'wheel'], position=[1.0]), '1 values'),
        # Which of the two servos has the value?
        (JointState(name=['shoulder', 'finger', 'tendon'], position=[1.0]), '2'),
    ],
)
def test_invalid_joint_commands_are_refused(message, value):
    with pytest.raises(CommandRejected, match=value):
        read(message)


@given(
    strategies.lists(
        strategies.tuples(strategies.sampled_from(JOINTS), strategies.booleans()),
        unique_by=lambda joint: joint[0],
        min_size=1,
    ),
    strategies.randoms(use_true_random=False),
)
def test_a_block_commands_its_joints_in_any_order_and_never_others(joints, numbers):
    own = {'shoulder': 'position', 'elbow': 'position', 'wheel': 'velocity', 'winch': 'effort'}
    block = [(name, [own[name]] if moves and name in own else []) for name, moves in joints]
    values = {f'{name}/{each}': numbers.random() for name, given in block for each in given}
    message = sent(values, *block)
    left_out = {own[name] for name, given in block if name in own and not given}
    if message is None:
        assert not values
    elif left_out & {key.split('/')[1] for key in values}:
        # Which of the joints that take this field has the value?
        with pytest.raises(CommandRejected):
            read(message)
    else:
        found = {name.removesuffix('_servo'): value for name, value in read(message).items()}
        assert found == {key.split('/')[0]: value for key, value in values.items()}
