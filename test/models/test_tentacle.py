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


def nodes(model, data):
    bodies = [data.body(f'tentacle_link_{n:02d}').xpos for n in range(1, LINKS + 1)]
    return np.array([*bodies, data.site('tentacle_tip').xpos])


def test_it_is_a_chain_of_many_links_that_narrows(model):
    parents = [model.body(f'tentacle_link_{n:02d}').parentid[0] for n in range(2, LINKS + 1)]
    assert parents == [model.body(f'tentacle_link_{n:02d}').id for n in range(1, LINKS)]
    assert (np.diff(model.actuator_gainprm[:, 0].reshape(-1, 2)[:, 0]) < 0).all()


@pytest.mark.parametrize('key', KEYS)
def test_it_holds_its_keyframes(model, key):
    data = at(model, key)
    before = data.qpos[joints(model)].copy()
    mujoco.mj_step(model, data, 1000)
    assert np.abs(data.qpos[joints(model)] - before).max() < 0.01
    assert np.abs(data.qvel).max() < 0.01


@pytest.mark.parametrize('key', ['home', 'curl'])
def test_it_bends_in_a_smooth_line(model, key):
    steps = np.diff(nodes(model, at(model, key)), axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    turns = np.arccos(np.clip((steps[1:] * steps[:-1]).sum(axis=1), -1, 1))
    assert turns.sum() > 0.6
    assert turns.max() < 0.5
    assert np.abs(np.diff(turns[:-1])).max() < 0.15


def test_it_is_soft_and_comes_back(model):
    data = at(model, 'upright')
    tip = data.site('tentacle_tip').xpos.copy()
    link = model.body(f'tentacle_link_{LINKS:02d}').id
    data.xfrc_applied[link, 0] = 0.5
    mujoco.mj_step(model, data, 1500)
    assert data.site('tentacle_tip').xpos[0] - tip[0] > 0.02  # half a newton bends it
    data.xfrc_applied[link, 0] = 0.0
    mujoco.mj_step(model, data, 2500)
    np.testing.assert_allclose(data.site('tentacle_tip').xpos, tip, atol=0.005)


def test_the_pearl_is_within_reach(model):
    data = at(model, 'home')
    pearl, base = data.body('pearl').xpos, data.body('tentacle_link_01').xpos
    length = np.linalg.norm(np.diff(nodes(model, data), axis=0), axis=1).sum()
    assert np.linalg.norm(pearl - base) < length
