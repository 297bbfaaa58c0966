# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bundled worlds as the server loads them."""

import mujoco
import pytest

from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world


@pytest.fixture(scope='session')
def build_world():
    """Return a function: world name -> compiled MjModel."""
    return lambda name: load_world(ServerConfig(world=name)).model


@pytest.fixture(scope='session')
def at_key():
    """Return a function: model, keyframe name -> MjData there, after mj_forward."""

    def place(model, key):
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, model.key(key).id)
        mujoco.mj_forward(model, data)
        return data

    return place
