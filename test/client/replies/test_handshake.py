# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Handshakes of stock servers and of ours, and total parsing."""

import sys

import pytest
from stock_replies import floats

from urlab_ros_bridge.client.errors import ModelUnavailable
from urlab_ros_bridge.client.replies.handshake import load_model
from urlab_ros_bridge.client.replies.handshake import parse_handshake

ROBOT = {
    'prefix': 'rover',
    'default_control_mode': 'raw',
    'actuator_types': {'left': 'velocity'},
    'original_names': {'joints': {'Joint_1': 'left'}},
    'camera_topics': {},
}
STOCK = {
    'op': 'hello_ok',
    'session_id': 'x',
    'mujoco_version': '3.3.0',
    'mjb': b'\0mjb',
    'articulations': [ROBOT],
    'entities': {'pallet': {'id': 12, 'has_free_base': True, 'qpos_offset': 7}},
    'global_cameras': {},
}


def test_a_stock_handshake_has_the_defaults_of_a_stock_server():
    stock = parse_handshake({**floats(STOCK), 'mjb_base64': 'AG1qYg==', 'extensions': None})
    assert stock.depth_unit == 'cm' and stock.extensions == frozenset()
    assert stock.timestep is None and stock.world == ''
    assert stock.mjb == b'\0mjb' and 'mjb_base64' not in stock.raw
    robot = stock.articulations['rover']
    assert robot.twist_controller is None and robot.lidars == {} and robot.controller == {}
    pallet = stock.entities['pallet']
    assert (pallet.id, pallet.qpos_offset, pallet.free_joint) == (12, 7, '')
    assert isinstance(pallet.id, int)


def test_without_a_usable_model_the_reason_is_given(monkeypatch):
    empty = parse_handshake({'op': 'hello_ok', 'session_id': 'x', 'manager_present': False})
    assert not empty.manager_present and empty.articulations == {}
    with pytest.raises(ModelUnavailable, match='no compiled model'):
        _ = empty.model
    with pytest.raises(ModelUnavailable, match=r'server runs MuJoCo 1\.2\.3'):
        load_model(b'mjb', '1.2.3')
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    with pytest.raises(ModelUnavailable, match='not installed'):
        load_model(b'mjb', '')
