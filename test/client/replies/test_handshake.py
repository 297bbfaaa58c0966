# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Handshakes of stock servers and of ours, and total parsing."""

import sys

import pytest
from stock_replies import floats

from urlab_ros_bridge.client.errors import ModelUnavailable
from urlab_ros_bridge.client.replies.handshake import load_model
from urlab_ros_bridge.client.replies.handshake import parse_handshake

STOCK = {
    'op': 'hello_ok',
    'session_id': 'x',
    'urlab_version': 'urlab/0.1',
    'mujoco_version': '3.3.0',
    'mujoco_version_int': 330,
    'manager_present': True,
    'shm_session_dir': '/nowhere/live',
    'mjb': b'\0mjb',
    'mjb_size': 4,
    'articulations': [
        {
            'prefix': 'rover',
            'actor_id': 'rover_id',
            'default_control_mode': 'raw',
            'actuator_types': {'left': 'velocity'},
            'original_names': {'joints': {'Joint_1': 'left'}},
            'camera_topics': {},
        }
    ],
    'entities': {
        'pallet': {
            'id': 12,
            'has_free_base': True,
            'qpos_offset': 7,
            'qvel_offset': 6,
            'free_joint_id': 3,
        }
    },
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


def test_an_editor_handshake_without_a_world():
    parsed = parse_handshake(
        {'op': 'hello_ok', 'session_id': 'x', 'manager_present': False, 'articulations': []}
    )
    assert not parsed.manager_present and parsed.articulations == {}
    with pytest.raises(ModelUnavailable, match='no compiled model'):
        _ = parsed.model


def test_a_model_of_another_mujoco_is_refused():
    with pytest.raises(ModelUnavailable, match=r'server runs MuJoCo 1\.2\.3'):
        load_model(b'mjb', '1.2.3')


def test_without_mujoco_the_reason_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    with pytest.raises(ModelUnavailable, match='not installed'):
        load_model(b'mjb', '')
