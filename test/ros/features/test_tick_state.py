# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Both dialects of the wire give the same values."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np

from urlab_ros_bridge.client.state.tick import Tick
from urlab_ros_bridge.ros.features.tick_state import WorldState
from urlab_ros_bridge.ros.plan.plan import FrameNames
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.plan.plan import WorldPlan
from urlab_ros_bridge.wire import rows
from urlab_ros_bridge.wire.encoding import codec

NUMBERS = st.lists(st.floats(-1e3, 1e3, width=32), min_size=15, max_size=15)
PLAN = WorldPlan(
    (
        RobotPlan(
            'bot',
            '',
            '',
            FrameNames('b', 'f', 'o', 'm'),
            ('x', 'y'),
            qpos=(7, 8),
            qvel=(6, 7),
            base_joint='root',
            base_qpos=0,
            base_qvel=0,
        ),
    ),
    ('box',),
)


def world():
    return WorldState(PLAN, lambda robot: ('gyro', 'touch'))


def tick(row_list=(), snapshot=None):
    return Tick(0, 0, None, list(row_list), snapshot, 'sim_time')


def as_rows(qpos, qvel, gyro):
    quat = qpos[3:7]
    return [
        (b'bot/joint/x', rows.pack_joint(1, qpos[7], qvel[6], 0)),
        (b'bot/joint/y', rows.pack_joint(2, qpos[8], qvel[7], 0)),
        (
            b'bot/base_state/root',
            rows.pack_base_state(
                rows.BaseState(
                    tuple(qpos[:3]), (*quat[1:], quat[0]), tuple(qvel[:3]), tuple(qvel[3:6])
                )
            ),
        ),
        (b'bot/sensor/gyro', rows.pack_sensor(0, gyro)),
        (b'other/joint/x', b''),
        (b'scene/box/xpos', np.array(qpos[:3]).tobytes()),
        (b'scene/box/xquat', np.array(qpos[3:7]).tobytes()),
    ]


def as_snapshot(qpos, qvel, gyro):
    return codec.pack(
        {
            'op': 'state_full',
            'time': 0.0,
            'step': 0,
            'per_articulation': {
                'bot': {'qpos': qpos, 'qvel': qvel, 'sensors': {'gyro': gyro}},
                'ghost': {},
            },
            'entities': {'box': {'xpos': qpos[:3], 'xquat': qpos[3:7]}},
        }
    )


@given(NUMBERS, NUMBERS)
def test_rows_and_snapshots_agree(first, second):
    qpos, qvel, gyro = first[:9], second[:8], first[9:12]
    by_rows, by_snapshot = world(), world()
    assert by_rows.fill(tick(as_rows(qpos, qvel, gyro)))
    assert by_snapshot.fill(tick(snapshot=as_snapshot(qpos, qvel, gyro)))
    robots = [state.robots['bot'] for state in (by_rows, by_snapshot)]
    assert robots[0].base() == robots[1].base()
    for left, right in zip(robots[0].joints()[:2], robots[1].joints()[:2], strict=True):
        assert list(left) == list(right)
    assert np.isnan(robots[0].joints()[2]).all() and np.isnan(robots[1].joints()[2]).all()
    assert list(robots[0].sensor('gyro')) == list(robots[1].sensor('gyro')) == gyro
    assert robots[0].sensor('touch') is robots[1].sensor('touch') is None
    poses = [state.entities['box'].pose() for state in (by_rows, by_snapshot)]
    assert [list(part) for part in poses[0]] == [list(part) for part in poses[1]]


def test_with_a_missing_joint_there_is_no_joint_state():
    state = world()
    state.fill(
        tick(
            [
                entry
                for entry in as_rows([0.0] * 9, [0.0] * 8, [0.0] * 3)
                if entry[0] != b'bot/joint/y'
            ]
        )
    )
    assert state.robots['bot'].joints() is None and state.robots['bot'].base()


def test_effort_needs_a_row_of_full_length():
    state = world()
    entries = as_rows([0.0] * 9, [0.0] * 8, [0.0] * 3)
    state.fill(tick([*entries, (b'bot/effort', np.array([1, 2], '<f4').tobytes())]))
    assert list(state.robots['bot'].joints()[2]) == [1, 2]
    state.fill(tick([*entries, (b'bot/effort', np.array([1], '<f4').tobytes())]))
    assert np.isnan(state.robots['bot'].joints()[2]).all()
