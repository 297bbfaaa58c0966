# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Odometry against MuJoCo's own velocities."""

import mujoco
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.serialization import deserialize_message

from urlab_ros_bridge.ros.messages.robot import OdometryTemplate
from urlab_ros_bridge.wire.rows import BASE_STATE
from urlab_ros_bridge.wire.rows import BaseState
from urlab_ros_bridge.wire.rows import pack_base_state

# The centre of mass and the inertial axes lie apart from the body frame, on purpose.
TUMBLER = """
<mujoco><worldbody><body name="base" pos="0 0 1"><freejoint/>
  <inertial pos="0.3 -0.2 0.1" quat="0.8 0.6 0 0" mass="2" diaginertia="0.02 0.03 0.04"/>
</body></worldbody></mujoco>
"""


def test_the_twist_is_that_of_the_body_in_its_own_frame():
    model = mujoco.MjModel.from_xml_string(TUMBLER)
    data, base, rng = mujoco.MjData(model), model.body('base').id, np.random.default_rng(6)
    for _ in range(4):
        data.qpos[:], data.qvel[:] = rng.normal(size=7), rng.normal(scale=3, size=6)
        data.qpos[3:] /= np.linalg.norm(data.qpos[3:])
        mujoco.mj_forward(model, data)
        position, (w, x, y, z) = data.qpos[:3], data.qpos[3:]
        row = pack_base_state(BaseState(position, (x, y, z, w), data.qvel[:3], data.qvel[3:]))
        raw = OdometryTemplate('odom', 'base_link').update(5, BASE_STATE.unpack(row))
        message = deserialize_message(raw, Odometry)

        expected = np.empty(6)  # angular first; XBODY: the body frame, BODY: that of the inertia
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, base, expected, 1)
        twist, pose = message.twist.twist, message.pose.pose
        np.testing.assert_allclose(xyz(twist.linear), expected[3:], atol=5e-6)
        np.testing.assert_allclose(xyz(twist.angular), expected[:3], atol=5e-6)
        np.testing.assert_allclose(xyz(pose.position), data.xpos[base], atol=5e-6)
        matrix = np.empty(9)
        mujoco.mju_quat2Mat(matrix, np.array([pose.orientation.w, *xyz(pose.orientation)]))
        np.testing.assert_allclose(matrix, data.xmat[base], atol=1e-6)


def xyz(vector):
    return [vector.x, vector.y, vector.z]
