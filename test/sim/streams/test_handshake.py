# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""hello_ok has the current state."""

import mujoco
import pytest


def model_of(reply, tmp_path):
    path = tmp_path / 'model.mjb'
    path.write_bytes(reply['mjb'])
    return mujoco.MjModel.from_binary_path(str(path))


def test_a_later_hello_has_the_changed_options_and_gains(rig, tmp_path):
    server = rig(world='quadruped')
    before = server.ask('hello', shared=True)
    assert server.ask('hello', shared=True)['mjb'] == before['mjb']
    server.ask('set_sim_options', options={'timestep': 0.004, 'gravity': [0, 0, -1.62]})
    server.ask('configure_controller', articulation='quadruped', params={'default_kv': 6.5})
    after = server.ask('hello', shared=True)
    assert after['timestep'] == 0.004
    assert model_of(after, tmp_path).opt.gravity[2] == pytest.approx(-1.62)
    assert model_of(before, tmp_path).opt.gravity[2] == pytest.approx(-9.81)
    assert after['articulations'][0]['controller']['params']['default_kv'] == 6.5
