# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bimanual world: what must hold of its arms, hands, cameras and objects."""

import mujoco
import numpy as np
import pytest


@pytest.fixture(scope='module')
def model(build_world):
    return build_world('bimanual')


def settled(model, key, seconds):
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key(key).id)
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
    return data


def robot_qpos(model, data):
    first = model.joint('bimanual_left_shoulder_pan').qposadr[0]
    return data.qpos[first : first + 16]


@pytest.mark.parametrize('key', ['bimanual_home', 'bimanual_rest'])
def test_keyframes_are_stable_and_free_of_contacts(model, key):
    data = settled(model, key, 2.0)
    start = model.key(key).qpos
    wanted = mujoco.MjData(model)
    wanted.qpos[:] = start
    np.testing.assert_allclose(robot_qpos(model, data), robot_qpos(model, wanted), atol=2e-3)
    touching = {
        model.body(model.geom_bodyid[geom]).name
        for contact in data.contact
        for geom in (contact.geom1, contact.geom2)
    }
    assert not {name for name in touching if name.startswith('bimanual_')}
