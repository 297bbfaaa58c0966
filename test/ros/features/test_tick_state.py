# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What rows of a tick say of the joints of a robot."""

import numpy as np

from test.ros.commands.commanded import PLAN
from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.ros.features.tick_state import WorldState
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.wire.rows import pack_joint


def filled(*rows):
    """Return the state of the robot after a tick with these rows; a joint is at rest."""
    state = WorldState(WorldPlan((PLAN,)))
    state.fill(Tick(0, 0, None, list(rows), None, 'sim_time'))
    return state.robots['bot']


JOINTS = [(name, pack_joint(1, 0.0, 0.0, 0)) for name in (b'bot/joint/arm', b'bot/joint/wheel')]


def test_with_a_missing_joint_there_is_no_joint_state():
    assert filled(JOINTS[0], (b'other/joint/wheel', b'')).joints() is None


def test_effort_needs_a_row_of_full_length():
    assert np.isnan(filled(*JOINTS).joints()[2]).all()
    efforts = np.array([1, 2], '<f4')
    assert list(filled(*JOINTS, (b'bot/effort', efforts.tobytes())).joints()[2]) == [1, 2]
    assert np.isnan(filled(*JOINTS, (b'bot/effort', efforts[:1].tobytes())).joints()[2]).all()
