# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Grippers tick by tick, without a server."""

from types import SimpleNamespace

import numpy as np

from test.ros.commands.commanded import Robot
from urlab_ros_bridge.ros.extras.gripper.gripper import Gripper


def test_a_finger_that_waits_for_a_late_setpoint_has_not_stalled():
    robot, ends = Robot(), []
    goal = SimpleNamespace(done=lambda ending, grip: ends.append(grip), feedback=lambda grip: None)
    gripper = Gripper('hand', ('arm',), robot.setpoints, robot.arbiter, robot.settings)
    gripper.start(np.array([0.0]), np.array([3.0]), goal, 0)

    def tick(ms, *state):
        gripper.tick(ms * 10**6, [np.array([value, 0.0]) for value in state])

    tick(0, 0.05, -0.07, -3.0)
    for ms in range(20, 1000, 20):
        tick(ms, 0.0425, 0.0, -0.1)
    assert not ends
    for ms in range(1000, 1800, 20):
        tick(ms, 0.02, 0.0, -2.9)
    assert ends[0].stalled and ends[0].position.tolist() == [0.02]
