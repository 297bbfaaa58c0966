# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""IMU conventions of REP-145 against MuJoCo's sensors."""

import mujoco
import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Imu
from sensor_msgs.msg import MagneticField

from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.ros.messages.imu import ImuTemplate
from urlab_ros_bridge.ros.messages.imu import MagneticFieldTemplate

WORLD = """
<mujoco>
  <option magnetic="0.1 0.2 -0.4"/>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="base" pos="0 0 0.1">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1" mass="1"/>
      <site name="imu" euler="0 0 90"/>
      <site name="tilted" euler="90 0 0"/>
    </body>
  </worldbody>
  <sensor>
    <accelerometer name="acc" site="imu"/>
    <accelerometer name="acc_tilted" site="tilted"/>
    <gyro name="gyro" site="imu"/>
    <magnetometer name="mag" site="imu"/>
    <framequat name="quat" objtype="site" objname="imu"/>
    <framequat name="quat_tilted" objtype="site" objname="tilted"/>
  </sensor>
</mujoco>
"""


@pytest.fixture(scope='module')
def resting():
    model = mujoco.MjModel.from_xml_string(WORLD)
    data = mujoco.MjData(model)
    for _ in range(500):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    return data


def xyz(vector):
    return [vector.x, vector.y, vector.z]


def measure(data, suffix=''):
    raw = ImuTemplate('imu', 0.1, 0.2, 0.3).update(
        0,
        wxyz_to_xyzw(data.sensor(f'quat{suffix}').data),
        data.sensor('gyro').data,
        data.sensor(f'acc{suffix}').data,
    )
    return deserialize_message(raw, Imu)


def test_at_rest_it_reads_one_g_upwards(resting):
    np.testing.assert_allclose(xyz(measure(resting).linear_acceleration), [0, 0, 9.81], atol=0.01)
    # Turned by 90 degrees about x, the site's y axis points up.
    tilted = measure(resting, '_tilted')
    np.testing.assert_allclose(xyz(tilted.linear_acceleration), [0, 9.81, 0], atol=0.01)


def test_the_field_is_in_tesla(resting):
    raw = MagneticFieldTemplate('imu').update(0, resting.sensor('mag').data)
    message = deserialize_message(raw, MagneticField)
    # World field (0.1, 0.2, -0.4) gauss, seen from a frame turned by 90 degrees.
    np.testing.assert_allclose(xyz(message.magnetic_field), [0.2e-4, -0.1e-4, -0.4e-4], atol=1e-7)
