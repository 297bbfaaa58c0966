# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""From z up to y up: a rotation of the world, compared with scipy."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from scipy.spatial.transform import Rotation

from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up_pose
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up_poses
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up_quaternions
from urlab_ros_bridge.gateways.virtual_field.scene.axes import z_up
from urlab_ros_bridge.gateways.virtual_field.scene.axes import z_up_quaternion
from urlab_ros_bridge.geometry import Pose

# What turns z into y and x into x.
WORLD = Rotation.from_euler('x', -90, degrees=True)


@given(st.integers(0, 2**32 - 1))
def test_points_rotations_and_poses_turn_with_the_world(seed):
    """A shape that had its own y up too is turned back before it is turned."""
    random = np.random.default_rng(seed)
    points = random.normal(size=(4, 3))
    turns = Rotation.from_quat(random.normal(size=(4, 4)))
    xyzw = turns.as_quat()
    wxyz, expected = xyzw[:, [3, 0, 1, 2]], WORLD * turns * WORLD.inv()
    np.testing.assert_allclose(y_up(points), WORLD.apply(points), atol=1e-12)
    np.testing.assert_allclose(z_up(y_up(points)[0]), points[0])
    found = y_up_quaternions(wxyz)
    assert (Rotation.from_quat(found) * expected.inv()).magnitude().max() < 1e-9
    np.testing.assert_allclose(z_up_quaternion(tuple(found[0])), xyzw[0], atol=1e-12)
    rows = y_up_poses(points, wxyz)
    assert rows.shape == (4, 7) and rows.dtype == np.float32
    np.testing.assert_allclose(rows[:, :3], WORLD.apply(points), atol=1e-5)
    assert (Rotation.from_quat(rows[:, 3:]) * expected.inv()).magnitude().max() < 1e-5
    single = y_up_pose(Pose(tuple(points[0]), tuple(xyzw[0])))
    np.testing.assert_allclose(single, rows[0], atol=1e-5)
