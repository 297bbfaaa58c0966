# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of splines: they meet their points, are as smooth as the points say, and end at rest."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from urlab_ros_bridge.ros.extras.trajectory.spline import braking
from urlab_ros_bridge.ros.extras.trajectory.spline import Points
from urlab_ros_bridge.ros.extras.trajectory.spline import Sample
from urlab_ros_bridge.ros.extras.trajectory.spline import Spline

NUMBER = st.floats(-10, 10).map(lambda value: round(value, 3))


@st.composite
def points(draw, order):
    """Draw points with positions, from order 1 on velocities, from 2 on accelerations."""
    count, width = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    gaps = draw(st.lists(st.integers(10**8, 3 * 10**9), min_size=count, max_size=count))
    start = draw(st.integers(0, 10**12))
    rows = [
        np.array(draw(st.lists(NUMBER, min_size=count * width, max_size=count * width))).reshape(
            count, width
        )
        if level <= order
        else np.full((count, width), np.nan)
        for level in range(3)
    ]
    return Points(start + np.cumsum(gaps), *rows)


@given(st.integers(0, 2), st.data())
def test_a_spline_has_the_positions_velocities_and_accelerations_of_its_points(order, data):
    path = data.draw(points(order))
    spline, last = Spline(path), len(path.times) - 1
    for index, time in enumerate(map(int, path.times)):
        assert spline.sample(time).position == pytest.approx(path.positions[index], abs=1e-6)
        for moment in (time - 1, time) if order and 0 < index < last else ():
            speed = spline.sample(moment).velocity
            assert speed == pytest.approx(path.velocities[index], abs=1e-2)
        if order == 2 and index < last:
            found = spline.sample(time).acceleration
            assert found == pytest.approx(path.accelerations[index], abs=1e-4)


@given(st.integers(0, 2).flatmap(points), st.floats(0.01, 0.99))
def test_velocity_is_the_slope_of_position(path, share):
    spline = Spline(path)
    step = 1_000
    for first, last in pairwise(path.times):
        time = int(first + share * (last - first))
        if not first + step < time < last - step:
            continue
        before, after = spline.sample(time - step), spline.sample(time + step)
        slope = (after.position - before.position) / (2e-9 * step)
        scale = 1 + np.abs(spline.sample(time).velocity).max()
        assert spline.sample(time).velocity == pytest.approx(slope, abs=2e-4 * scale)


@given(st.integers(0, 2).flatmap(points), st.integers(0, 10**10))
def test_before_the_start_and_after_the_end_it_is_at_rest(path, far):
    spline = Spline(path)
    for time, row in ((spline.start_ns - 1 - far, 0), (spline.end_ns + far, -1)):
        sample = spline.sample(time)
        assert sample.position.tolist() == path.positions[row].tolist()
        assert not sample.velocity.any() and not sample.acceleration.any()


@given(points(0))
def test_without_velocities_it_is_straight(path):
    spline = Spline(path)
    for index in range(len(path.times) - 1):
        middle = (int(path.times[index]) + int(path.times[index + 1])) // 2
        expected = (path.positions[index] + path.positions[index + 1]) / 2
        assert spline.sample(middle).position == pytest.approx(expected, abs=1e-5)


@given(points(2), st.floats(0.0, 1.0))
def test_braking_begins_as_it_moves_and_never_speeds_up(path, seconds):
    moving = Sample(path.positions[0], path.velocities[0], path.accelerations[0])
    now = int(path.times[0])
    spline = braking(now, moving, seconds)
    assert spline.sample(now).position.tolist() == moving.position.tolist()
    if spline.end_ns > now:
        assert spline.sample(now).velocity == pytest.approx(moving.velocity)
    speeds = [
        np.abs(spline.sample(now + k * (spline.end_ns - now) // 20).velocity) for k in range(21)
    ]
    assert all((b <= a + 1e-6).all() for a, b in pairwise(speeds))
    assert not spline.sample(spline.end_ns).velocity.any()
    way = np.abs(spline.sample(spline.end_ns).position - moving.position)
    assert (way <= np.abs(moving.velocity) * seconds / 2 + 1e-6).all()
