# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Build bundled worlds with stock MuJoCo, the way the server attaches robots to a scene."""

import warnings

import mujoco
import pytest
import yaml

from urlab_ros_bridge.models import world_path


@pytest.fixture(scope='session')
def sidecar():
    """Return a function: world name -> parsed YAML."""
    return lambda name: yaml.safe_load(world_path(name).read_text(encoding='utf-8'))


@pytest.fixture(scope='session')
def build_world(sidecar):
    """Return a function: world name (and further articulations) -> compiled MjModel."""

    def build(name, more=()):
        folder, config = world_path(name).parent, sidecar(name)
        with warnings.catch_warnings():
            warnings.simplefilter('error')  # options of scene and robot must not contradict
            scene = mujoco.MjSpec.from_file(str(folder / config['scene']))
            for entry in [*config['articulations'], *more]:
                pose = entry['pose']
                frame = scene.worldbody.add_frame(pos=pose['pos'], quat=pose['quat'])
                robot = mujoco.MjSpec.from_file(str(folder / entry['model']))
                scene.attach(robot, prefix=entry['prefix'] + '_', frame=frame)
            return scene.compile()

    return build


@pytest.fixture(scope='session')
def rover(build_world):
    """Return the compiled rover world."""
    return build_world('rover')


@pytest.fixture
def at_key():
    """Return a function: model, keyframe name -> MjData there, after mj_forward."""

    def place(model, key):
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, model.key(key).id)
        mujoco.mj_forward(model, data)
        return data

    return place
