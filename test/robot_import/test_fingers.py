# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""An imported arm with two fingers, as the server loads it, picks something up."""

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml

from urlab_ros_bridge.robot_import import ImportOptions
from urlab_ros_bridge.robot_import.importing import export_robot
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world

TEXT = (Path(__file__).parent / 'data' / 'gripper.urdf').read_text()
FINGER = """<inertial><mass value="0.015"/>
<inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial><collision>
<origin xyz="0 0.005 -0.04"/><geometry><box size="0.02 0.01 0.08"/></geometry></collision>"""
MIMIC = '<mimic joint="left_finger"/>'
CUBE = {'name': 'cube', 'shape': 'box', 'scale': [0.04] * 3, 'mass': 0.05, 'physics': 'dynamic'}
PLACE = (0.36, 0.0, 0.02)


@pytest.fixture(params=[MIMIC, ''], ids=['mimic', 'two actuators'])
def world(request, tmp_path):
    """Return the world of the arm and a cube of 50 g below its hand."""
    path = tmp_path / 'picker.urdf'
    path.write_text(TEXT.format(finger=FINGER, turned=math.pi, mimic=request.param))
    sidecar = export_robot(path, ImportOptions(base='fixed'), tmp_path / 'out', overwrite=False)
    content = yaml.safe_load(sidecar.read_text())
    content['objects'] = [{**CUBE, 'pose': {'pos': list(PLACE)}}]
    sidecar.write_text(yaml.safe_dump(content))
    return load_world(ServerConfig(model=sidecar))


def follow(world, seconds, **targets):
    """Move the setpoints of joints along straight lines, then wait a second."""
    model, data = world.model, world.data
    start = {name: data.actuator(f'picker_{name}').ctrl[0] for name in targets}
    steps = round(seconds / model.opt.timestep)
    for step in range(1, steps + 1):
        for name, target in targets.items():
            part = start[name] + (target - start[name]) * step / steps
            data.actuator(f'picker_{name}').ctrl[0] = part
        mujoco.mj_step(model, data)
    mujoco.mj_step(model, data, round(1.0 / model.opt.timestep))


def test_it_picks_a_cube_holds_it_for_ten_seconds_and_puts_it_down(world):
    fingers = world.spec.articulations[0].gripper['gripper']
    cube, hand = world.data.body('cube'), world.data.body('picker_hand')
    follow(world, 1.0, **dict.fromkeys(fingers, 0.035))
    follow(world, 1.5, lift=-0.2)
    follow(world, 0.5, **dict.fromkeys(fingers, 0.0))
    follow(world, 1.5, lift=0.1)
    held = cube.xpos - hand.xpos
    assert cube.xpos[2] > 0.25
    follow(world, 10.0)
    np.testing.assert_allclose(cube.xpos - hand.xpos, held, atol=1e-3)
    follow(world, 2.0, turn=0.8)
    follow(world, 1.5, lift=-0.2)
    follow(world, 0.5, **dict.fromkeys(fingers, 0.035))
    follow(world, 1.0, lift=0.1)
    x, y, z = cube.xpos
    assert z == pytest.approx(0.02, abs=2e-3)
    assert math.atan2(y, x - 0.06) == pytest.approx(0.8, abs=0.05)


def test_fingers_press_with_their_whole_effort(world):
    fingers = dict.fromkeys(world.spec.articulations[0].gripper['gripper'], 0.0)
    follow(world, 1.0, lift=-0.2, **dict.fromkeys(fingers, 0.035))
    follow(world, 1.0, **fingers)
    for name in fingers:
        assert world.data.joint(f'picker_{name}').qfrc_actuator[0] == pytest.approx(-30.0)


DRAWERS = TEXT.format(finger=FINGER, turned=0, mimic='')


def test_slides_that_go_the_same_way_are_no_gripper(tmp_path):
    path = tmp_path / 'picker.urdf'
    path.write_text(DRAWERS)
    assert not load_world(ServerConfig(model=path)).spec.articulations[0].gripper
