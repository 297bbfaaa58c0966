# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The rover drives as its kinematics say, rests without a stir, and sees the room."""

import mujoco
import numpy as np
import pytest

OPEN_FLOOR = (-2.5, 0.0)  # m; room to drive 4 m along x without meeting the pallet


def base_velocity(model, data):
    """Return (forward m/s, left m/s, yaw rate rad/s) of base_link in its own frame."""
    velocity = np.zeros(6)
    body = model.body('rover_base_link').id
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 1)
    return velocity[3], velocity[4], velocity[2]


def drive(model, data, twist, seconds):
    """Drive by differential kinematics with ramped speed; return the velocity at each step."""
    linear = angular = 0.0
    step = model.opt.timestep
    found = []
    for _ in range(round(seconds / step)):
        linear += np.clip(twist[0] - linear, -3.0 * step, 3.0 * step)
        angular += np.clip(twist[1] - angular, -8.0 * step, 8.0 * step)
        data.actuator('rover_left_wheel').ctrl = (linear - 0.2 * angular) / 0.1
        data.actuator('rover_right_wheel').ctrl = (linear + 0.2 * angular) / 0.1
        mujoco.mj_step(model, data)
        found.append(base_velocity(model, data))
    return np.array(found)


@pytest.fixture(scope='module')
def rover(build_world):
    return build_world('rover')


@pytest.fixture
def placed(rover, at_key):
    data = at_key(rover, 'rover_home')
    start = rover.joint('rover_base').qposadr[0]
    data.qpos[start : start + 2] = OPEN_FLOOR
    mujoco.mj_step(rover, data, 200)
    return data


@pytest.mark.parametrize('twist', [(1.5, 0.0), (0.0, 2.5), (0.5, -1.5)])
def test_it_drives_and_turns_as_commanded(rover, placed, twist):
    forward, left, yaw_rate = drive(rover, placed, twist, 2.0)[-300:].T
    np.testing.assert_allclose(forward, twist[0], rtol=0.02, atol=0.01)
    np.testing.assert_allclose(yaw_rate, twist[1], rtol=0.05, atol=0.005)
    if not twist[1]:
        np.testing.assert_allclose(left, 0.0, atol=0.005)


def test_at_rest_it_neither_creeps_nor_jitters(rover, at_key):
    data = at_key(rover, 'rover_home')
    mujoco.mj_step(rover, data, 1000)
    before = data.body('rover_base_link').xpos.copy()
    accelerations = []
    for _ in range(2000):
        mujoco.mj_step(rover, data)
        accelerations.append(data.sensor('rover_imu_accel').data.copy())
    assert np.linalg.norm(data.body('rover_base_link').xpos - before) < 1e-3
    assert np.std(accelerations, axis=0).max() < 0.05
    np.testing.assert_allclose(np.mean(accelerations, axis=0), [0, 0, 9.81], atol=0.05)
    np.testing.assert_allclose(data.sensor('rover_imu_gyro').data, 0.0, atol=1e-3)
    np.testing.assert_allclose(data.sensor('rover_imu_mag').data, rover.opt.magnetic, atol=1e-3)
