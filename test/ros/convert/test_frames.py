# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the rotations, against MuJoCo's own."""

import math

from hypothesis import given
from hypothesis import strategies as st
import mujoco
import numpy as np
import pytest

from urlab_ros_bridge.ros.convert import frames as f

pytestmark = pytest.mark.ros

components = st.floats(-1, 1)
quaternions = (
    st.tuples(components, components, components, components)
    .filter(lambda q: sum(x * x for x in q) > 1e-3)
    .map(f.normalize)
)
vectors = st.tuples(*[st.floats(-100, 100)] * 3)


def mujoco_quaternion(quaternion):
    return np.array(f.xyzw_to_wxyz(quaternion))


@given(quaternions, vectors)
def test_rotate_is_that_of_mujoco(quaternion, vector):
    expected = np.empty(3)
    mujoco.mju_rotVecQuat(expected, np.array(vector), mujoco_quaternion(quaternion))
    np.testing.assert_allclose(f.rotate(quaternion, vector), expected, atol=1e-11)


@given(quaternions, vectors)
def test_rotate_inverse_undoes_rotate(quaternion, vector):
    back = f.rotate_inverse(quaternion, f.rotate(quaternion, vector))
    np.testing.assert_allclose(back, vector, atol=1e-11)


@given(quaternions, quaternions)
def test_multiply_is_that_of_mujoco(left, right):
    expected = np.empty(4)
    mujoco.mju_mulQuat(expected, mujoco_quaternion(left), mujoco_quaternion(right))
    np.testing.assert_allclose(f.multiply(left, right), f.wxyz_to_xyzw(expected), atol=1e-14)


@given(quaternions)
def test_conjugate_is_the_inverse(quaternion):
    np.testing.assert_allclose(
        f.multiply(quaternion, f.conjugate(quaternion)), f.IDENTITY, atol=1e-14
    )


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


def test_normalize_keeps_not_a_number():
    assert all(map(math.isnan, f.normalize((math.nan, 0.0, 0.0, 1.0))))


@given(components, components, components, components)
def test_orders_are_inverse(x, y, z, w):
    assert f.wxyz_to_xyzw((w, x, y, z)) == (x, y, z, w)
    assert f.xyzw_to_wxyz(f.wxyz_to_xyzw((w, x, y, z))) == (w, x, y, z)


@given(st.floats(-3.1, 3.1), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1))
def test_yaw_is_that_of_fixed_axes(roll, pitch, yaw):
    quaternion = np.empty(4)
    # Fixed axes x, y, z are moving axes z, y, x.
    mujoco.mju_euler2Quat(quaternion, np.array([yaw, pitch, roll]), 'zyx')
    xyzw = f.wxyz_to_xyzw(quaternion.tolist())
    assert math.isclose(f.yaw_of(xyzw), yaw, abs_tol=1e-6)
    heading = f.rotate(xyzw, (1.0, 0.0, 0.0))
    assert math.isclose(math.atan2(heading[1], heading[0]), yaw, abs_tol=1e-6)


@given(vectors, quaternions, st.floats(-5, 5))
def test_the_footprint_lies_below_and_keeps_the_heading(position, quaternion, ground):
    point, heading = f.footprint(position, quaternion, ground)
    assert point == (*position[:2], ground)
    np.testing.assert_allclose(f.rotate(heading, (0, 0, 1)), (0, 0, 1), atol=1e-15)
    x_axis = f.rotate(quaternion, (1.0, 0.0, 0.0))
    if math.hypot(*x_axis[:2]) > 1e-3:
        assert math.isclose(math.cos(f.yaw_of(heading) - f.yaw_of(quaternion)), 1, abs_tol=1e-9)


@given(vectors, quaternions, st.floats(-5, 5))
def test_both_ways_to_the_footprint_meet(position, quaternion, ground):
    offset, turn = f.footprint_in_base(position, quaternion, ground)
    through = f.compose(position, quaternion, offset, turn)
    direct = f.footprint(position, quaternion, ground)
    np.testing.assert_allclose(through[0], direct[0], atol=1e-10)
    np.testing.assert_allclose(through[1], direct[1], atol=1e-12)


def test_optical_constants_agree():
    np.testing.assert_allclose(
        f.multiply(f.CAMERA_TO_BODY, f.BODY_TO_OPTICAL), f.CAMERA_TO_OPTICAL, atol=1e-15
    )
    # REP-103: z forward, x right, y down, seen from x forward, y left, z up.
    assert f.rotate(f.BODY_TO_OPTICAL, (0, 0, 1)) == (1, 0, 0)
    assert f.rotate(f.BODY_TO_OPTICAL, (1, 0, 0)) == (0, -1, 0)
    assert f.rotate(f.BODY_TO_OPTICAL, (0, 1, 0)) == (0, 0, -1)
