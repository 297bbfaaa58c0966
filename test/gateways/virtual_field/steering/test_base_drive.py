# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Sticks to velocities."""

import pytest

from urlab_ros_bridge.client.replies.handshake import TwistControllerInfo
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrController
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrInput
from urlab_ros_bridge.gateways.virtual_field.protocol.xr_input import XrPose
from urlab_ros_bridge.gateways.virtual_field.steering.operator import read_sticks

POSE = XrPose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
WHEELS = TwistControllerInfo('differential', {'linear': 1.5, 'angular': 2.0})
OMNI = TwistControllerInfo('omni', {'linear': 1.5, 'lateral': 0.5, 'angular': 2.0})


@pytest.mark.parametrize(
    ('left', 'right', 'drive', 'twist'),
    [
        ((0.09, -0.09), (0.05, 1.0), WHEELS, (0.0, 0.0, 0.0)),
        ((0.0, -1.0), (0.0, 0.0), WHEELS, (1.5, 0.0, 0.0)),
        ((0.0, 0.0), (1.0, 0.0), WHEELS, (0.0, 0.0, -2.0)),
        ((-1.0, 0.0), (0.0, 0.0), WHEELS, (0.0, 0.0, 2.0)),
        ((-1.0, 0.0), (0.0, 0.0), OMNI, (0.0, 0.5, 0.0)),
        ((0.0, -0.55), (0.0, 0.0), OMNI, (0.75, 0.0, 0.0)),
    ],
)
def test_sticks_are_velocities_beyond_a_dead_zone(left, right, drive, twist):
    sides = {'left': left, 'right': right}
    hands = {side: XrController(POSE, joystick=stick) for side, stick in sides.items()}
    assert read_sticks(XrInput(0.0, POSE, hands), drive) == pytest.approx(twist)
    assert read_sticks(XrInput(0.0, POSE, {}), drive) == (0.0, 0.0, 0.0)
