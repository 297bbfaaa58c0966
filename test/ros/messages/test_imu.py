# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""IMU conventions of REP-145 against MuJoCo's sensors."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Imu
from sensor_msgs.msg import MagneticField

from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.ros.messages.imu import ImuTemplate
from urlab_ros_bridge.ros.messages.imu import MagneticFieldTemplate

WORLD = Path(__file__).with_name('imu.xml')


@pytest.fixture(scope='module')
def resting():
    """Return the sensors of a box at rest; turned by 90 degrees about x, their y points up."""
    model = mujoco.MjModel.from_xml_path(str(WORLD))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 500)
    mujoco.mj_forward(model, data)
    return {name: data.sensor(name).data for name in ('acc', 'gyro', 'mag', 'quat')}


def xyz(vector):
    return [vector.x, vector.y, vector.z]


def test_at_rest_it_reads_one_g_upwards(resting):
    raw = ImuTemplate('imu', 0.1, 0.2, 0.3).update(
        0, wxyz_to_xyzw(resting['quat']), resting['gyro'], resting['acc']
    )
    message = deserialize_message(raw, Imu)
    np.testing.assert_allclose(xyz(message.linear_acceleration), [0, 9.81, 0], atol=0.01)
    np.testing.assert_allclose(xyz(message.orientation), [0.5**0.5, 0, 0], atol=1e-3)


def test_the_field_is_in_tesla(resting):
    raw = MagneticFieldTemplate('imu').update(0, resting['mag'])
    message = deserialize_message(raw, MagneticField)
    # The world has (0.1, 0.2, -0.4) gauss.
    np.testing.assert_allclose(xyz(message.magnetic_field), [0.1e-4, -0.4e-4, -0.2e-4], atol=1e-7)
