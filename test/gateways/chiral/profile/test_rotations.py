# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of rotations, against MuJoCo's own."""

from hypothesis import assume
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.gateways.chiral.profile import rotations

quats = hnp.arrays(np.float64, 4, elements=st.floats(-1, 1)).filter(
    lambda q: np.linalg.norm(q) > 0.1
)


def matrix_of(quat):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quat)
    return matrix.reshape(3, 3)


@given(quats)
def test_every_representation_of_a_rotation_is_that_of_mujoco_and_converts_back(quat):
    theirs, vector, angles = matrix_of(quat / np.linalg.norm(quat)), np.zeros(3), np.zeros(4)
    mujoco.mju_quat2Vel(vector, quat / np.linalg.norm(quat), 1.0)
    given = {'quat': quat, 'rotvec': vector, 'rot6d': theirs[:2].ravel()}
    roll, pitch, yaw = rotations.from_matrix(theirs, 'rpy')
    mujoco.mju_euler2Quat(angles, [yaw, pitch, roll], 'zyx')
    np.testing.assert_allclose(matrix_of(angles), theirs, atol=1e-6)
    for kind, size in rotations.ROTATIONS.items():
        values = rotations.from_matrix(theirs, kind)
        assert values.shape == (size,)
        for each in (values, given.get(kind, values)):
            np.testing.assert_allclose(rotations.to_matrix(each, kind), theirs, atol=1e-7)


@given(hnp.arrays(np.float64, 6, elements=st.floats(-5, 5)))
def test_any_six_numbers_make_a_rotation_or_are_refused(values):
    assume(np.linalg.norm(np.cross(values[:3], values[3:])) > 1e-3)
    matrix = rotations.to_matrix(values, 'rot6d')
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-6)
    assert np.linalg.det(matrix) == pytest.approx(1.0)
    assert matrix[0] @ values[:3] == pytest.approx(np.linalg.norm(values[:3]))


def test_invalid_rotations_are_refused():
    for kind, values in (('rot6d', [1, 0, 0, 2, 0, 0]), ('quat', [0] * 4)):
        with pytest.raises(ValueError, match=kind):
            rotations.to_matrix(np.array(values, float), kind)
