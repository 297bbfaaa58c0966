# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A robot as served by gateways: names, frames, and the joints that move a frame."""

import pytest

from test.gateways.simulation.robots import robot
from urlab_ros_bridge.gateways.simulation.robot import FrameName
from urlab_ros_bridge.wire.errors import UnknownName


def test_a_name_belongs_to_the_longest_prefix():
    arm, left = robot('arm'), robot('arm_left')
    assert list(arm.joints) == ['j1', 'idle', 'j2', 'j3'] and list(left.joints) == ['j1']
    assert set(arm.sites) == {'tcp'} and set(left.bodies) == {'base', 'link'}
    with pytest.raises(UnknownName, match="unknown joint 'left_j1'"):
        arm.need_joints(['left_j1'])
    with pytest.raises(UnknownName, match="'left_tcp'"):
        arm.frame('left_tcp')


def test_frames_are_local_first_and_then_compiled():
    arm = robot('arm')
    assert arm.frame('tcp') == arm.frame('arm_tcp') == FrameName('site', 'arm_tcp')
    assert arm.frame('hand') == FrameName('body', 'arm_hand')
    assert arm.frame('mark') == FrameName('site', 'mark')
    assert arm.frame('world') == FrameName('body', 'world')
    for name in ('', 'moon', 'arm_'):
        with pytest.raises(UnknownName, match='body or site'):
            arm.frame(name)
