# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A path through points in joint space, as joint_trajectory_controller interpolates it.

Between two points that both carry velocities and accelerations it is a quintic, with velocities a
cubic, else a straight line.  Time is integer nanoseconds of simulation time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from urlab_ros_bridge.wire.stamp import NANOSECONDS

_ORDER = 6  # coefficients of a quintic


class Sample(NamedTuple):
    """Desired state of the joints: position, velocity and acceleration, each of shape (n,)."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class Points(NamedTuple):
    """
    Points of n joints.

    :ivar times: ns, strictly increasing, shape (k,).
    :ivar positions, velocities, accelerations: shape (k, n); a row of NaN where there is none.
    """

    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    accelerations: np.ndarray

    def after(self, time_ns: int) -> Points:
        """Return the points later than a time."""
        late = self.times > time_ns
        return Points(*(values[late] for values in self))

    def prepended(self, time_ns: int, first: Sample) -> Points:
        """Return the points with one more in front."""
        rows = (first.position, first.velocity, first.acceleration)
        times = np.concatenate([[time_ns], self.times]).astype(np.int64)
        return Points(
            times, *(np.vstack([row, rest]) for row, rest in zip(rows, self[1:], strict=True))
        )


class Spline:
    """
    A path, which rests at its first point before it and at its last point after it.

    >>> points = Points(np.array([0, 10**9]), *(np.array([[a], [b]]) for a, b in
    ...     ((0.0, 1.0), (np.nan, np.nan), (np.nan, np.nan))))
    >>> float(Spline(points).sample(500_000_000).position[0])
    0.5
    """

    def __init__(self, points: Points) -> None:
        self.start_ns, self.end_ns = int(points.times[0]), int(points.times[-1])
        self._times = points.times
        self._first, self._last = points.positions[0], points.positions[-1]
        count, width = points.positions.shape
        self._coefficients = np.zeros((max(count - 1, 0), _ORDER, width))
        for index in range(count - 1):
            seconds = float(points.times[index + 1] - points.times[index]) / NANOSECONDS
            self._coefficients[index] = _coefficients(points, index, seconds)

    def segment(self, time_ns: int) -> int:
        """Return the index of the next point at a time; the number of points after the end."""
        return int(np.searchsorted(self._times, time_ns, side='right'))

    def sample(self, time_ns: int) -> Sample:
        """Return the desired state at a time."""
        zero = np.zeros_like(self._first)
        if time_ns < self.start_ns or not len(self._coefficients):
            return Sample(self._first.copy(), zero, zero)
        if time_ns >= self.end_ns:
            return Sample(self._last.copy(), zero, zero)
        index = self.segment(time_ns) - 1
        t = float(time_ns - self._times[index]) / NANOSECONDS
        c = self._coefficients[index]
        position = c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * c[5]))))
        velocity = c[1] + t * (2 * c[2] + t * (3 * c[3] + t * (4 * c[4] + t * 5 * c[5])))
        acceleration = 2 * c[2] + t * (6 * c[3] + t * (12 * c[4] + t * 20 * c[5]))
        return Sample(position, velocity, acceleration)


def _coefficients(points: Points, index: int, seconds: float) -> np.ndarray:
    """Return the six coefficients of each joint between a point and the next, shape (6, n)."""
    (p0, p1), (v0, v1), (a0, a1) = (values[index : index + 2] for values in points[1:])
    t, found = seconds, np.zeros((_ORDER, len(p0)))
    found[0] = p0
    if np.isnan(v0).any() or np.isnan(v1).any():
        found[1] = (p1 - p0) / t
    elif np.isnan(a0).any() or np.isnan(a1).any():
        found[1] = v0
        found[2] = (3 * (p1 - p0) - (2 * v0 + v1) * t) / t**2
        found[3] = (2 * (p0 - p1) + (v0 + v1) * t) / t**3
    else:
        found[1], found[2] = v0, a0 / 2
        found[3] = (20 * (p1 - p0) - (8 * v1 + 12 * v0) * t - (3 * a0 - a1) * t**2) / (2 * t**3)
        found[4] = (30 * (p0 - p1) + (14 * v1 + 16 * v0) * t + (3 * a0 - 2 * a1) * t**2) / (
            2 * t**4
        )
        found[5] = (12 * (p1 - p0) - 6 * (v1 + v0) * t - (a0 - a1) * t**2) / (2 * t**5)
    return found


def resting(now_ns: int, position: np.ndarray) -> Spline:
    """Return a path that rests at a position."""
    unknown = np.full((1, len(position)), np.nan)
    return Spline(Points(np.array([now_ns]), position[None].copy(), unknown, unknown))


def braking(now_ns: int, moving: Sample, seconds: float) -> Spline:
    """
    Return the path that brings moving joints to rest with a constant deceleration.

    :param seconds: how long that takes; 0: they rest where they are.
    """
    span = round(seconds * NANOSECONDS)
    if span <= 0 or not moving.velocity.any():
        return resting(now_ns, moving.position)
    # Between these velocities the cubic through these positions is a parabola.
    positions = np.array([moving.position, moving.position + moving.velocity * (seconds / 2)])
    velocities = np.array([moving.velocity, np.zeros_like(moving.velocity)])
    unknown = np.full_like(positions, np.nan)
    return Spline(Points(np.array([now_ns, now_ns + span]), positions, velocities, unknown))
