# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Rows are grouped by robot and name."""

import struct

import numpy as np

from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.wire import rows


def tick(*messages):
    return Tick(0, 0, None, list(messages), None, 'sim_time')


def test_every_kind_of_row_has_its_place():
    state = rows.BaseState((1, 2, 3), (0, 0, 0, 1), (4, 5, 6), (7, 8, 9))
    grouped = tick(
        (b'r/base_state/root', rows.pack_base_state(state)),
        (b'r/sensor/gyro', rows.pack_sensor(3, np.array([1, 2, 3.5]))),
        (b'r/twist', struct.pack('<3f', 1, 0, 0.5)),
        (b'r/actions', struct.pack('<i', 5)),
        (b'r/effort', struct.pack('<2f', 7, 8)),
        (b'scene/pallet/xquat', struct.pack('<4d', 1, 0, 0, 0)),
    ).grouped()
    robot = grouped.articulations['r']
    assert robot.base_states['root'] == state
    assert robot.sensors['gyro'].values.tolist() == [1, 2, 3.5]
    assert robot.twist == (1, 0, 0.5) and robot.actions == 5
    assert robot.effort.tolist() == [7, 8]
    assert grouped.entities['pallet']['xquat'].tolist() == [1, 0, 0, 0]


def test_a_broken_row_costs_only_itself():
    grouped = tick(
        (b'r/joint/a', b'short'),
        (b'nonsense', b''),
        (b'\xff', b''),
        (b'r/joint/b', rows.pack_joint(1, 2, 3, 4)),
    ).grouped()
    assert list(grouped.articulations['r'].joints) == ['b']
    assert len(grouped.errors) == 3 and "'joint'" in str(grouped.errors[0])
