# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the rotations, against MuJoCo's own."""

import math

from hypothesis import given
from hypothesis import strategies as st
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge import geometry as f

components = st.floats(-1, 1)
quaternions = (
    st.tuples(components, components, components, components)
    .filter(lambda q: sum(x * x for x in q) > 1e-3)
    .map(f.normalize)
)
vectors = st.tuples(*[st.floats(-100, 100)] * 3)


def mujoco_quaternion(quaternion):
    return np.array(f.xyzw_to_wxyz(quaternion))


@given(quaternions, quaternions, vectors)
def test_rotate_and_multiply_are_those_of_mujoco(left, right, vector):
    expected = np.empty(3)
    mujoco.mju_rotVecQuat(expected, np.array(vector), mujoco_quaternion(left))
    np.testing.assert_allclose(f.rotate(left, vector), expected, atol=1e-11)
    expected = np.empty(4)
    mujoco.mju_mulQuat(expected, mujoco_quaternion(left), mujoco_quaternion(right))
    np.testing.assert_allclose(f.multiply(left, right), f.wxyz_to_xyzw(expected), atol=1e-14)


@given(quaternions, vectors, quaternions, vectors, vectors)
def test_compose_chains_poses(outer, position, inner, offset, point):
    chained_position, chained = f.compose(position, outer, offset, inner)
    through = f.rotate(inner, point)
    through = f.rotate(outer, tuple(map(sum, zip(through, offset, strict=True))))
    expected = np.add(through, position)
    np.testing.assert_allclose(
        np.add(f.rotate(chained, point), chained_position), expected, atol=1e-10
    )


@given(st.tuples(*[st.floats(allow_nan=True, allow_infinity=True)] * 4))
def test_normalize_never_fails(quaternion):
    result = f.normalize(quaternion)
    length = math.hypot(*quaternion)
    if 1.001e-15 <= length < 1e150:
        assert math.isclose(math.hypot(*result), 1.0, rel_tol=1e-12)
    elif length < 0.999e-15:
        assert result == f.IDENTITY


@given(vectors, quaternions, st.floats(-5, 5))
def test_the_footprint_lies_below_and_keeps_the_heading(position, quaternion, ground):
    point, heading = f.footprint(position, quaternion, ground)
    assert point == (*position[:2], ground)
    np.testing.assert_allclose(f.rotate(heading, (0, 0, 1)), (0, 0, 1), atol=1e-15)
    x_axis = f.rotate(quaternion, (1.0, 0.0, 0.0))
    if math.hypot(*x_axis[:2]) > 1e-3:
        assert math.isclose(math.cos(f.yaw_of(heading) - f.yaw_of(quaternion)), 1, abs_tol=1e-9)


def test_optical_constants_agree():
    np.testing.assert_allclose(
        f.multiply(f.CAMERA_TO_BODY, f.BODY_TO_OPTICAL), f.CAMERA_TO_OPTICAL, atol=1e-15
    )
    # REP-103: z forward, x right, y down, seen from x forward, y left, z up.
    assert f.rotate(f.BODY_TO_OPTICAL, (0, 0, 1)) == (1, 0, 0)
    assert f.rotate(f.BODY_TO_OPTICAL, (1, 0, 0)) == (0, -1, 0)
    assert f.rotate(f.BODY_TO_OPTICAL, (0, 1, 0)) == (0, 0, -1)


def as_matrix(quaternion):
    flat = np.empty(9)
    mujoco.mju_quat2Mat(flat, mujoco_quaternion(quaternion))
    return flat.reshape(3, 3)


@given(quaternions)
def test_matrices_are_those_of_mujoco_and_lead_back_as_rotation_vectors_do(quaternion):
    matrix, vector = f.matrix_of(quaternion), f.rotation_vector(quaternion)
    np.testing.assert_allclose(matrix, as_matrix(quaternion), atol=1e-14)
    back = f.quaternion_of_matrix(matrix)
    assert back[3] >= 0 and math.hypot(*vector) <= math.pi + 1e-12
    for each in (back, f.quaternion_of_rotation_vector(vector)):
        assert abs(np.dot(each, quaternion)) > 1 - 1e-12


@given(vectors.map(lambda v: tuple(0.05 * part for part in v)))
def test_rotation_vectors_are_mujocos_axis_and_angle(vector):
    angle = math.hypot(*vector)
    expected = np.array([1.0, 0, 0, 0])
    if angle:
        mujoco.mju_axisAngle2Quat(expected, np.array(vector) / angle, angle)
    found = f.quaternion_of_rotation_vector(vector)
    np.testing.assert_allclose(f.xyzw_to_wxyz(found), expected, atol=1e-12)
    if angle:
        axis = tuple(part / angle for part in vector)
        np.testing.assert_allclose(f.axis_angle(axis, angle), found, atol=1e-12)


@given(st.floats(-3.1, 3.1), st.floats(-1.57, 1.57), st.floats(-3.1, 3.1))
def test_roll_pitch_yaw_are_mujocos_fixed_axes(roll, pitch, yaw):
    expected = np.empty(4)
    # Fixed axes x, y, z are moving axes z, y, x.
    mujoco.mju_euler2Quat(expected, np.array([yaw, pitch, roll]), 'zyx')
    found = f.quaternion_of_rpy(roll, pitch, yaw)
    assert abs(np.dot(found, f.wxyz_to_xyzw(expected))) > 1 - 1e-12
    np.testing.assert_allclose(
        as_matrix(f.quaternion_of_rpy(*f.rpy_of(found))), as_matrix(found), atol=1e-12
    )
    if abs(pitch) < 1.5:
        assert math.isclose(f.yaw_of(found), yaw, abs_tol=1e-6)


@given(quaternions)
def test_a_ball_is_three_hinges(quaternion):
    a, b, c = f.xyz_angles(quaternion)
    expected = np.empty(4)
    mujoco.mju_euler2Quat(expected, np.array([a, b, c]), 'xyz')
    np.testing.assert_allclose(
        as_matrix(quaternion), as_matrix(f.wxyz_to_xyzw(expected)), atol=3e-9
    )


@given(vectors.filter(lambda v: math.hypot(*v) > 1e-3))
def test_looking_along_is_level(direction):
    turn = f.looking_along(direction)
    np.testing.assert_allclose(
        f.rotate(turn, (1, 0, 0)), np.array(direction) / math.hypot(*direction), atol=1e-12
    )
    assert abs(f.rotate(turn, (0, 1, 0))[2]) < 1e-15


poses = st.builds(f.Pose, vectors, quaternions)


@given(poses, poses)
def test_poses_chain_and_turn_back(one, two):
    there = one.then(two).then(two.inverse())
    np.testing.assert_allclose(there.position, one.position, atol=1e-9)
    assert abs(np.dot(there.orientation, one.orientation)) > 1 - 1e-12


def test_rays_of_a_scanner_are_unit_vectors_at_their_angles():
    azimuths, elevations = np.linspace(-3.0, 3.0, 7), np.linspace(-1.2, 0.9, 4)
    rays = f.ray_directions(azimuths, elevations)
    assert rays.shape == (4, 7, 3)
    assert np.linalg.norm(rays, axis=-1) == pytest.approx(1.0, abs=1e-12)
    assert np.arctan2(rays[..., 1], rays[..., 0]) == pytest.approx(np.tile(azimuths, (4, 1)))
    assert np.arcsin(rays[..., 2]) == pytest.approx(np.tile(elevations[:, None], (1, 7)))
