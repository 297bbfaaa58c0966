# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Observations: lazy, tolerant of stock number types, total."""

import contextlib

from fake_server import floats
from fake_server import step_ok
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.replies.observations import decode_snapshot
from urlab_ros_bridge.client.replies.observations import StepResult
from urlab_ros_bridge.wire.encoding.codec import pack


@pytest.mark.parametrize('convert', [lambda reply: reply, floats])
def test_a_step_reply_is_typed(convert):
    result = StepResult(convert(step_ok(step=21, time=0.042)))
    assert (result.time, result.step, result.sim_time_ns) == (0.042, 21, 42_000_000)
    assert isinstance(result.step, int)
    assert result.wall_time_ns == 1714125000_123000000
    rover = result.articulations['rover']
    assert rover.qpos.dtype == np.float64 and rover.qpos.tolist() == list(range(9))
    assert rover.sensors['gyro'][2] == 9.5
    assert rover.twist == ((1.0, 0.0, 0.0), (0.0, 0.0, 0.5)) and rover.actions == 3
    assert result.entities['pallet'].xquat.tolist() == [1, 0, 0, 0]


def test_time_is_rounded_where_stock_servers_truncate():
    reply = step_ok(time=0.1 + 0.2 - 1e-16)
    reply['sim_time']['nsec'] = 299999999
    assert StepResult(reply).sim_time_ns == 300_000_000


def test_absent_fields_are_empty():
    result = StepResult({'time': 0.0, 'step': 0.0, 'per_articulation': {'r': {}}})
    robot = result.articulations['r']
    assert robot.ctrl.shape == (0,) and robot.twist is None and robot.actions == 0
    assert robot.sensors == {} and robot.bodies == {} and robot.actuator_force.shape == (0,)
    assert result.entities == {} and result.cameras == {} and result.wall_time_ns is None


def test_level_full_is_read_in_both_spellings():
    body = {'base': {'xpos': [1, 2, 3], 'xquat': [1, 0, 0, 0]}}
    for key in ('actuator_force', 'actuator_forces'):
        reply = {'time': 0, 'step': 0, 'per_articulation': {'r': {key: [4.0], 'bodies': body}}}
        robot = StepResult(reply).articulations['r']
        assert robot.actuator_force.tolist() == [4.0]
        assert robot.bodies['base'].xpos.tolist() == [1, 2, 3]


def test_conversions_are_made_once_and_only_when_asked_for():
    reply = step_ok()
    reply['per_articulation']['rover']['qvel'] = 'never looked at'
    rover = StepResult(reply).articulations['rover']
    assert rover.qpos is rover.qpos
    with pytest.raises(ProtocolError, match='qvel'):
        _ = rover.qvel


def test_camera_images():
    def image(dtype, data):
        block = {'width': 3.0, 'height': 2.0, 'dtype': dtype, 'data': data}
        return StepResult({'time': 0, 'step': 0, 'cameras': {'c': block}}).cameras['c']

    depth = np.arange(6, dtype='<f4')
    assert image('float32', depth.tobytes()).pixels.tolist() == depth.reshape(2, 3).tolist()
    assert image('bgra8', bytes(range(24))).pixels.shape == (2, 3, 4)
    with pytest.raises(ProtocolError, match='3x2'):
        _ = image('bgra8', bytes(23)).pixels


@pytest.mark.parametrize(
    'reply', [{}, {'time': 0.0}, {'time': 'x', 'step': 1}, {'time': 0.0, 'step': float('nan')}]
)
def test_a_reply_without_time_or_step_is_refused(reply):
    with pytest.raises(ProtocolError):
        StepResult(reply)


def test_both_spellings_of_a_snapshot_mean_the_same():
    reply = step_ok(op='state_full')
    newer = {**reply, 'arts': reply['per_articulation'], 'scene': reply['entities']}
    del newer['per_articulation'], newer['entities']
    old, new = decode_snapshot(pack(reply)), decode_snapshot(pack({**newer, 'mode': 'live'}))
    for snapshot in (old, new):
        assert snapshot.articulations['rover'].qpos.tolist() == list(range(9))
        assert snapshot.entities['pallet'].xpos.tolist() == [1, 2, 3]
    assert (old.mode, new.mode) == ('', 'live')


LEAVES = st.none() | st.booleans() | st.floats() | st.integers(-9, 9) | st.text(max_size=2)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(['rover', 'qpos', 'twist', 'linear', 'sec', 'nsec', 'sensors', 'x']),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(
            [
                'time',
                'step',
                'sim_time',
                'wall_time',
                'entities',
                'per_articulation',
                'cameras',
                'perturbation',
            ]
        ),
        VALUES,
    )
)
def test_any_reply_gives_values_or_a_protocol_error(reply):
    try:
        result = StepResult({'time': 0.0, 'step': 0, **reply})
    except ProtocolError:
        return
    for owner, names in [(result, ('sim_time_ns', 'wall_time_ns', 'cameras', 'perturbation'))]:
        for name in names:
            with contextlib.suppress(ProtocolError):
                getattr(owner, name)
    with contextlib.suppress(ProtocolError):
        for robot in result.articulations.values():
            for name in ('qpos', 'sensors', 'twist', 'actions', 'bodies', 'actuator_force'):
                with contextlib.suppress(ProtocolError):
                    getattr(robot, name)
        assert all(entity.xpos is not None for entity in result.entities.values())
