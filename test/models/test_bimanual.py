# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import mujoco
import numpy as np
import pytest


@pytest.mark.parametrize('key', ['bimanual_home', 'bimanual_rest'])
def test_keyframes_are_stable_and_free_of_contacts(build_world, at_key, key):
    model = build_world('bimanual')
    data = at_key(model, key)
    mujoco.mj_step(model, data, round(2.0 / model.opt.timestep))
    first = model.joint('bimanual_left_shoulder_pan').qposadr[0]
    robot = slice(first, first + 16)
    np.testing.assert_allclose(data.qpos[robot], model.key(key).qpos[robot], atol=2e-3)
    touching = model.geom_bodyid[data.contact.geom.ravel()]
    assert not any(model.body(body).name.startswith('bimanual_') for body in touching)
