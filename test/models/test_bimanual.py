# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The bimanual world: what must hold of its arms, hands, cameras and objects."""

import mujoco
import numpy as np
import pytest

JOINTS = (
    'shoulder_pan', 'shoulder_lift', 'elbow', 'forearm_roll', 'wrist_pitch', 'wrist_roll',
)  # fmt: skip
SIDES = ('left', 'right')
OBJECTS = ('tray', 'red_cube', 'green_cube', 'blue_can', 'ball', 'yellow_bar')


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


def test_two_arms_of_six_joints_with_a_gripper(model):
    names = [model.actuator(i).name for i in range(model.nu)]
    expected = [f'bimanual_{side}_{name}' for side in SIDES for name in (*JOINTS, 'gripper')]
    assert names == expected
    for side in SIDES:
        for name in JOINTS:
            low, high = model.joint(f'bimanual_{side}_{name}').range
            assert low < 0 < high
            np.testing.assert_array_equal(
                model.actuator(f'bimanual_{side}_{name}').ctrlrange, [low, high]
            )


@pytest.mark.parametrize('key', ['bimanual_home', 'bimanual_rest'])
def test_keyframes_are_held_and_touch_nothing(model, key):
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


def test_things_rest_where_they_were_put(model):
    data = settled(model, 'bimanual_home', 2.0)
    start = settled(model, 'bimanual_home', 0.0)
    for name in OBJECTS:
        address = model.joint(f'{name}_free').qposadr[0]
        moved = data.qpos[address : address + 3] - start.qpos[address : address + 3]
        assert np.linalg.norm(moved) < 4e-3, name
        assert data.qpos[address + 2] > 0.74


def test_fingers_close_together_and_open_as_wide_as_they_say(model):
    data = settled(model, 'bimanual_home', 0.2)
    for ctrl, gap in ((0.0, 0.0), (0.044, 0.088)):
        data.actuator('bimanual_left_gripper').ctrl = ctrl
        for _ in range(400):
            mujoco.mj_step(model, data)
        fingers = [data.joint(f'bimanual_left_finger_{side}').qpos[0] for side in SIDES]
        assert fingers[0] == pytest.approx(fingers[1], abs=5e-4)
        assert sum(fingers) == pytest.approx(gap, abs=2e-3)


@pytest.mark.parametrize('name', ['bimanual_head_rgb', 'scene_rgb'])
def test_the_cameras_see_the_things(model, at_key, name):
    data = at_key(model, 'bimanual_home')
    camera, number = data.camera(name), model.camera(name).id
    width, height = model.cam_resolution[number]
    focal = height / 2 / np.tan(np.radians(model.cam_fovy[number]) / 2)
    for thing in OBJECTS:
        x, y, z = camera.xmat.reshape(3, 3).T @ (data.body(thing).xpos - camera.xpos)
        assert z < 0
        assert abs(focal * x / -z) < width / 2 and abs(focal * y / -z) < height / 2, thing
