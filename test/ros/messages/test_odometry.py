# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Odometry against MuJoCo's own velocities."""

import mujoco
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from rclpy.serialization import deserialize_message

from urlab_ros_bridge.ros.messages.robot import OdometryTemplate
from urlab_ros_bridge.wire.rows import BASE_STATE
from urlab_ros_bridge.wire.rows import BaseState
from urlab_ros_bridge.wire.rows import pack_base_state

# The centre of mass and the inertial axes lie apart from the body frame, on purpose.
TUMBLER = """
<mujoco>
  <worldbody>
    <body name="stand" pos="1 2 3"/>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <inertial pos="0.3 -0.2 0.1" quat="0.8 0.6 0 0" mass="2" diaginertia="0.02 0.03 0.04"/>
    </body>
  </worldbody>
</mujoco>
"""


def row(data):
    """Return the base_state row as the wire says."""
    return pack_base_state(
        BaseState(
            tuple(data.qpos[:3]),
            (*data.qpos[4:7], data.qpos[3]),
            tuple(data.qvel[:3]),
            tuple(data.qvel[3:6]),
        )
    )


@pytest.fixture(scope='module')
def tumbling():
    model = mujoco.MjModel.from_xml_string(TUMBLER)
    data = mujoco.MjData(model)
    return model, data


@pytest.mark.parametrize('seed', range(0, 20, 6))
def test_the_twist_is_that_of_the_body_in_its_own_frame(tumbling, seed):
    model, data = tumbling
    rng = np.random.default_rng(seed)
    mujoco.mj_resetData(model, data)
    data.qpos[:3] = rng.normal(size=3)
    data.qpos[3:7] = rng.normal(size=4)
    data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
    data.qvel[:] = rng.normal(scale=3, size=6)
    for _ in range(seed):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    base = model.body('base').id

    raw = OdometryTemplate('odom', 'base_link').update(5, BASE_STATE.unpack(row(data)))
    message = deserialize_message(raw, Odometry)

    expected = np.empty(6)  # angular first; XBODY: the body frame, BODY: that of the inertia
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, base, expected, 1)
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    np.testing.assert_allclose([linear.x, linear.y, linear.z], expected[3:], atol=5e-6)
    np.testing.assert_allclose([angular.x, angular.y, angular.z], expected[:3], atol=5e-6)
    position, orientation = message.pose.pose.position, message.pose.pose.orientation
    np.testing.assert_allclose([position.x, position.y, position.z], data.xpos[base], atol=5e-6)
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(
        matrix, np.array([orientation.w, orientation.x, orientation.y, orientation.z])
    )
    np.testing.assert_allclose(matrix, data.xmat[base], atol=1e-6)
