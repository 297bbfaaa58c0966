# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Holding joints where they are: the state is read without a step of anybody's world."""

from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from test.ros.commands.test_stale_commands import EXTENSIONS  # noqa: E402
from test.ros.commands.test_stale_commands import Robot  # noqa: E402


class ReadRobot(Robot):
    """A robot whose server writes down how its state is read."""

    def __init__(self, extensions, **link):
        super().__init__(extensions)
        self.read = []
        for name, value in link.items():
            setattr(self.link, name, value)

    def forward(self):
        self.read.append('forward')
        return self._state()

    def step(self, *, while_live):
        self.read.append(('step', while_live))
        return self._state()

    def _state(self):
        return SimpleNamespace(articulations={'bot': SimpleNamespace(qpos=[], qvel=[])})


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
    robot = ReadRobot(extensions, **link)
    robot.setpoints.freeze()
    assert robot.read == [read]
    (kind, values, *_) = robot.asked[-1]
    assert (kind, values) == ('setpoints', {'wheel': 0.0})
