# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Defaults of a profile come from its own robot alone."""

import numpy as np
import pytest

from test.gateways.simulation.robots import robot
from urlab_ros_bridge.gateways.chiral.errors import ProfileError
from urlab_ros_bridge.gateways.chiral.profile.defaults import default_actions
from urlab_ros_bridge.gateways.chiral.profile.defaults import default_proprio
from urlab_ros_bridge.gateways.chiral.profile.layout import ActionLayout
from urlab_ros_bridge.gateways.chiral.profile.profile import ActionProfile
from urlab_ros_bridge.gateways.chiral.profile.profile import Profile


def described(actions):
    return [(action.kind, action.joints) for action in actions]


def test_a_robot_is_served_with_its_own_joints():
    """`arm_left_j1` begins with both prefixes; it is j1 of `arm_left` and nothing of `arm`."""
    arm, left = robot('arm'), robot('arm_left')
    assert described(default_actions(arm)) == [
        ('joint_position', ['j1', 'j2']),
        ('joint_torque', ['j3']),
    ]
    assert described(default_actions(left)) == [('joint_torque', ['j1'])]
    for one, size in ((arm, 3), (left, 1)):
        layout = ActionLayout(Profile(actions=default_actions(one)), one, None)
        assert layout.size == size
        assert set(layout.initial(np.zeros(9), np.zeros(9)).ctrl) == set(one.actuators)
    streams = [(stream.kind, stream.joints) for stream in default_proprio(left)]
    assert streams == [('joint_position', None), ('joint_velocity', None)]


@pytest.mark.parametrize(
    ('action', 'says'),
    [
        (ActionProfile(joints=['idle']), r"actions\[0\]: joint 'idle' of arm has no actuator"),
        (ActionProfile('ee_pose', site='base'), r"actions\[0\].site: 'base' is moved by no"),
        (ActionProfile('joint_torque', joints=['j1']), 'give no torque; valid: motor'),
    ],
)
def test_an_unknown_element_of_the_robot_is_reported_at_its_key(action, says):
    with pytest.raises(ProfileError, match=says):
        ActionLayout(Profile(actions=[action]), robot('arm'), None)
