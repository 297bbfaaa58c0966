# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Holding joints where they are: the state is read without a step of anybody's world."""

from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from test.ros.commands.commanded import EXTENSIONS  # noqa: E402
from test.ros.commands.commanded import Robot  # noqa: E402


@pytest.mark.parametrize(
    ('extensions', 'link', 'read'),
    [
        ((*EXTENSIONS, 'step_while_live'), {}, ('step', True)),
        (EXTENSIONS, {}, ('step', False)),  # it knows no other way to read
        (
            (*EXTENSIONS, 'step_while_live'),
            {'lockstep': True, 'state': SimpleNamespace(open=True, mode='direct')},
            'forward',  # a step would be one between two instants
        ),
    ],
)
def test_joints_are_held_without_moving_time(extensions, link, read):
    robot = Robot(extensions)
    vars(robot.link).update(link)
    robot.setpoints.hold()
    assert robot.read == [read]
    (kind, values, *_) = robot.asked[-1]
    assert (kind, values) == ('setpoints', {'wheel': 0.0})
