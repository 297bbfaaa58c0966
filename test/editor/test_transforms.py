# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of poses, against MuJoCo."""

from hypothesis import given
from hypothesis import strategies as st
import mujoco
import numpy as np

from urlab_ros_bridge.editor.transforms import from_euler
from urlab_ros_bridge.editor.transforms import to_euler
from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import wxyz_to_xyzw


@given(st.tuples(*[st.floats(-180, 180)] * 3))
def test_euler_angles_turn_about_the_worlds_axes_in_order_x_y_z_and_back(degrees):
    expected = np.empty(4)
    mujoco.mju_euler2Quat(expected, np.radians(degrees), 'XYZ')  # upper case: fixed axes
    expected, quat = matrix_of(wxyz_to_xyzw(expected)), from_euler(degrees)
    assert np.allclose(matrix_of(quat), expected, atol=1e-9)
    assert np.allclose(matrix_of(from_euler(to_euler(quat))), expected, atol=1e-6)
