# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Covariances as the numbers of a message."""

from __future__ import annotations

from collections.abc import Sequence


def diagonal(stddevs: Sequence[float]) -> list[float]:
    """
    Return the n x n matrix, as n * n numbers, of independent errors.

    For six of them the order is x, y, z (m) and turns about the fixed axes x, y, z (rad).

    >>> diagonal([2.0, 3.0])
    [4.0, 0.0, 0.0, 9.0]
    """
    size = len(stddevs)
    matrix = [0.0] * (size * size)
    matrix[:: size + 1] = [float(stddev) ** 2 for stddev in stddevs]
    return matrix


def isotropic(stddev: float | None) -> list[float]:
    """
    Return the 3 x 3 matrix of equal errors in all directions.

    :param stddev: 0 when unknown, None when the field is not reported.
    """
    return [-1.0] + [0.0] * 8 if stddev is None else diagonal((stddev, stddev, stddev))


def pose_or_twist(stddevs: Sequence[float] | None) -> list[float]:
    """Return the 6 x 6 matrix of a pose or twist, zeros (unknown) for None."""
    return [0.0] * 36 if stddevs is None else diagonal(stddevs)
