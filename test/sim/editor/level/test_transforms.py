# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of poses, against MuJoCo."""

from hypothesis import given
from hypothesis import strategies as st
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.geometry import looking_along
from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import normalize
from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.geometry import wxyz_to_xyzw
from urlab_ros_bridge.sim.editor.transforms import from_euler
from urlab_ros_bridge.sim.editor.transforms import to_euler

numbers = st.floats(-10, 10)
vectors = st.tuples(numbers, numbers, numbers)
quats = (
    st.tuples(numbers, numbers, numbers, numbers)
    .filter(lambda quat: np.linalg.norm(quat) > 0.1)
    .map(normalize)
)


@given(st.tuples(*[st.floats(-180, 180)] * 3))
def test_euler_angles_turn_about_the_worlds_axes_in_order_x_y_z(degrees):
    expected = np.empty(4)
    mujoco.mju_euler2Quat(expected, np.radians(degrees), 'XYZ')  # upper case: fixed axes
    assert np.allclose(
        matrix_of(from_euler(degrees)), matrix_of(wxyz_to_xyzw(expected)), atol=1e-9
    )


@given(quats)
def test_euler_angles_of_a_rotation_give_it_back(quat):
    assert np.allclose(matrix_of(from_euler(to_euler(quat))), matrix_of(quat), atol=1e-6)


@given(vectors.filter(lambda vector: np.linalg.norm(vector) > 0.1))
def test_a_view_along_a_direction_keeps_the_horizon_level(direction):
    quat = looking_along(direction)
    forward, left, up = (rotate(quat, axis) for axis in np.eye(3))
    assert np.allclose(forward, np.divide(direction, np.linalg.norm(direction)), atol=1e-9)
    assert left[2] == pytest.approx(0, abs=1e-9) and up[2] >= -1e-9
