# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Which messages make a reading, and what is in it."""

import mujoco
from nav_msgs.msg import Odometry
import numpy as np
from policies import write
import pytest
from sensor_msgs.msg import Imu
from sensor_msgs.msg import JointState
from stamps import time_of

from urlab_ros_bridge.policy.description import read_policy
from urlab_ros_bridge.policy.inputs import BadInput
from urlab_ros_bridge.policy.inputs import Inputs
from urlab_ros_bridge.policy.terms import IMU
from urlab_ros_bridge.policy.terms import JOINTS
from urlab_ros_bridge.policy.terms import ODOMETRY


def stamped(message, ms):
    message.header.stamp = time_of(ms * 10**6)
    return message


def joints(ms, names=('c', 'x', 'a', 'b'), positions=(3.0, 9.0, 1.0, 2.0), velocities=None):
    velocities = [-each for each in positions] if velocities is None else velocities
    return stamped(JointState(name=names, position=positions, velocity=velocities), ms)


def imu(ms, wxyz=(1.0, 0.0, 0.0, 0.0), rates=(0.1, 0.2, 0.3)):
    message = stamped(Imu(), ms)
    turn, rate = message.orientation, message.angular_velocity
    turn.w, turn.x, turn.y, turn.z = wxyz
    rate.x, rate.y, rate.z = rates
    return message


@pytest.fixture
def inputs(tmp_path):
    return lambda **changes: Inputs(read_policy(write(tmp_path, **changes)))


def test_an_instant_is_complete_when_all_topics_have_its_stamp(inputs):
    one = inputs(observations=['base_lin_vel', 'base_ang_vel'])
    messages = {JOINTS: joints, IMU: imu, ODOMETRY: lambda ms: stamped(Odometry(), ms)}
    random = np.random.default_rng(3)
    for ms in range(0, 400, 20):
        names = random.permutation(list(messages))
        found = [one.take(name, messages[name](ms)) for name in names]
        assert found[:2] == [None, None] and found[2].stamp_ns == ms * 10**6
        assert one.take(names[0], messages[names[0]](ms)) is None  # once


def test_the_newest_go_with_the_joints_unless_they_are_stale(inputs):
    one = inputs(pairing='newest', observation_timeout=0.1)
    assert one.take(JOINTS, joints(0)) is None and one.missing == [IMU]
    assert one.take(IMU, imu(7)) is None
    assert one.take(JOINTS, joints(20)).stamp_ns == 20_000_000
    assert one.take(JOINTS, joints(107)) is not None
    assert one.take(JOINTS, joints(108)) is None


def test_gravity_and_turning_are_in_the_base_frame_as_mujoco_has_it(inputs):
    random = np.random.default_rng(8)
    for number in range(20):
        roll, pitch, yaw = angles = random.uniform(-1.5, 1.5, 3)
        mounted, base = np.zeros(4), random.normal(size=4)
        mujoco.mju_euler2Quat(mounted, [yaw, pitch, roll], 'ZYX'.lower())
        base /= np.linalg.norm(base)
        sensor, rates, down, turning = np.zeros(4), np.zeros(3), np.zeros(3), random.normal(size=3)
        mujoco.mju_mulQuat(sensor, base, mounted)  # the sensor in the world
        back = np.zeros(4)
        mujoco.mju_negQuat(back, mounted)
        mujoco.mju_rotVecQuat(rates, turning, back)
        mujoco.mju_negQuat(back, base)
        mujoco.mju_rotVecQuat(down, np.array([0.0, 0.0, -1.0]), back)
        one = inputs(
            observations=['base_ang_vel', 'projected_gravity'],
            imu={'rotation': angles.tolist()},
        )
        one.take(JOINTS, joints(number))
        found = one.take(IMU, imu(number, sensor.tolist(), rates.tolist()))
        np.testing.assert_allclose(found.gravity, down, atol=1e-9)
        np.testing.assert_allclose(found.angular_velocity, turning, atol=1e-9)


@pytest.mark.parametrize(
    ('name', 'message', 'says'),
    [
        (JOINTS, joints(0, ('a', 'b', 'cc'), (1.0, 2.0, 3.0)), "no joint 'c'; did you mean"),
        (JOINTS, joints(0, positions=(np.nan, 9.0, 1.0, 2.0)), 'joint_states has .* not finite'),
        (IMU, imu(0, wxyz=(0.0, 0.0, 0.0, 0.0)), 'of length 0, not 1'),
    ],
)
def test_unusable_content_is_refused_with_the_reason(inputs, name, message, says):
    one = inputs(observations=['projected_gravity', 'joint_vel'])
    one.take(*((IMU, imu(0)) if name == JOINTS else (JOINTS, joints(0))))
    with pytest.raises(BadInput, match=says):
        one.take(name, message)
    assert one.take(IMU, imu(1)) is None and one.take(JOINTS, joints(1)) is not None
