# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Observations: lazy, tolerant of stock number types, total."""

import numpy as np
import pytest
from stock_replies import floats
from stock_replies import step_ok

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.replies.observations import StepResult


def test_a_step_reply_of_a_stock_server_is_typed():
    result = StepResult(floats(step_ok(step=21, time=0.042)))
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
    assert robot.ctrl.shape == (0,) and robot.twist is None and robot.bodies == {}
    assert result.entities == {} and result.cameras == {} and result.wall_time_ns is None


def test_camera_images():
    def image(dtype, data):
        block = {'width': 3.0, 'height': 2.0, 'dtype': dtype, 'data': data}
        return StepResult({'time': 0, 'step': 0, 'cameras': {'c': block}}).cameras['c']

    depth = np.arange(6, dtype='<f4')
    assert image('float32', depth.tobytes()).pixels.tolist() == depth.reshape(2, 3).tolist()
    assert image('bgra8', bytes(range(24))).pixels.shape == (2, 3, 4)
    with pytest.raises(ProtocolError, match='3x2'):
        _ = image('bgra8', bytes(23)).pixels
