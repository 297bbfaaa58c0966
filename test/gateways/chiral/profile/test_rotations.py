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


@given(quats, st.sampled_from(list(rotations.ROTATIONS)))
def test_every_representation_of_a_rotation_converts_back(quat, kind):
    matrix = rotations.to_matrix(quat, 'quat')
    values = rotations.from_matrix(matrix, kind)
    assert values.shape == (rotations.ROTATIONS[kind],)
    np.testing.assert_allclose(rotations.to_matrix(values, kind), matrix, atol=1e-7)


@given(quats)
def test_quaternions_are_those_of_mujoco(quat):
    theirs = np.zeros(9)
    mujoco.mju_quat2Mat(theirs, quat / np.linalg.norm(quat))
    np.testing.assert_allclose(rotations.to_matrix(quat, 'quat').ravel(), theirs, atol=1e-12)


@given(hnp.arrays(np.float64, 3, elements=st.floats(-3, 3)))
def test_rotation_vectors_are_those_of_mujoco(vector):
    quat, theirs = np.array([1.0, 0, 0, 0]), np.zeros(9)
    mujoco.mju_quatIntegrate(quat, vector, 1.0)
    mujoco.mju_quat2Mat(theirs, quat)
    np.testing.assert_allclose(rotations.to_matrix(vector, 'rotvec').ravel(), theirs, atol=1e-8)


@given(hnp.arrays(np.float64, 6, elements=st.floats(-5, 5)))
def test_any_six_numbers_make_a_rotation_or_are_refused(values):
    assume(np.linalg.norm(np.cross(values[:3], values[3:])) > 1e-3)
    matrix = rotations.to_matrix(values, 'rot6d')
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-6)
    assert np.linalg.det(matrix) == pytest.approx(1.0)
    assert matrix[0] @ values[:3] == pytest.approx(np.linalg.norm(values[:3]))


@pytest.mark.parametrize(
    ('kind', 'values'), [('rot6d', [0.0] * 6), ('rot6d', [1, 0, 0, 2, 0, 0]), ('quat', [0.0] * 4)]
)
def test_invalid_rotations_are_refused(kind, values):
    with pytest.raises(ValueError, match=r'rot6d: the|quat: a quaternion'):
        rotations.to_matrix(np.array(values, float), kind)
