# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The tentacle: it stands still, bends smoothly, gives way and comes back."""

import mujoco
import numpy as np
import pytest

LINKS = 14
KEYS = ('home', 'curl', 'upright')


@pytest.fixture(scope='module')
def model(build_world):
    return build_world('tentacle')


def at(model, key):
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key(f'tentacle_{key}').id)
    mujoco.mj_forward(model, data)
    return data


def joints(model):
    names = [f'tentacle_bend_{n:02d}_{a}' for n in range(1, LINKS + 1) for a in 'xy']
    return np.array([model.joint(name).qposadr[0] for name in names])


@pytest.mark.parametrize('key', KEYS)
def test_it_holds_its_keyframes(model, key):
    data = at(model, key)
    before = data.qpos[joints(model)].copy()
    mujoco.mj_step(model, data, 1000)
    assert np.abs(data.qpos[joints(model)] - before).max() < 0.01
    assert np.abs(data.qvel).max() < 0.01
