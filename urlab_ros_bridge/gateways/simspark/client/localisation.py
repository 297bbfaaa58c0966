# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Where a player is, from the landmarks that it sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math

import numpy as np

from urlab_ros_bridge.gateways.simspark.client.percepts import Polar
from urlab_ros_bridge.gateways.simspark.client.percepts import Seen


@dataclass(frozen=True, slots=True)
class Located:
    """
    A pose on the field.

    :ivar place: of the head, m, shape (3,).
    :ivar axes: of the head as columns x forward, y left, z up, shape (3, 3).
    """

    place: np.ndarray
    axes: np.ndarray

    @property
    def heading(self) -> float:
        """Return the direction that the head looks in, degrees to the left of x."""
        return math.degrees(math.atan2(self.axes[1, 0], self.axes[0, 0]))

    def on_field(self, seen: Polar) -> np.ndarray:
        """Return where something that is seen is on the field, m, shape (3,)."""
        where: np.ndarray = self.place + self.axes @ cartesian(seen)
        return where


def cartesian(seen: Polar) -> np.ndarray:
    """
    Return a point before the head: x forward, y left, z up, m, shape (3,).

    >>> cartesian(Polar(2.0, 90.0, 0.0)).round(9) + 0.0
    array([0., 2., 0.])
    """
    left, up = math.radians(seen.left), math.radians(seen.up)
    flat = seen.distance * math.cos(up)
    return np.array([flat * math.cos(left), flat * math.sin(left), seen.distance * math.sin(up)])


def landmarks(
    length: float = 18.0, width: float = 12.0, goal_width: float = 2.1, goal_height: float = 0.8
) -> dict[str, np.ndarray]:
    """Return flags and posts of a field, m; x points to the goal of the right team."""
    found = {}
    for side, x in (('L', -length / 2), ('R', length / 2)):
        for number, sign in ((1, 1.0), (2, -1.0)):
            found[f'F{number}{side}'] = np.array([x, sign * width / 2, 0.0])
            found[f'G{number}{side}'] = np.array([x, sign * goal_width / 2, goal_height])
    return found


def locate(seen: Seen, known: Mapping[str, np.ndarray]) -> Located | None:
    """
    Return the pose that fits best to the landmarks that are seen, by least squares.

    :param known: name of a landmark -> where it is, as `landmarks` returns them.
    :returns: None with fewer than three landmarks, or with all of them on one line.
    """
    names = [name for name in seen.points if name in known]
    if len(names) < 3:
        return None
    here = np.array([cartesian(seen.points[name]) for name in names])
    there = np.array([known[name] for name in names])
    here_middle, there_middle = here.mean(axis=0), there.mean(axis=0)
    # Kabsch: the rotation between two clouds of points.
    u, strength, vt = np.linalg.svd((there - there_middle).T @ (here - here_middle))
    if strength[1] < 1e-3 * strength[0]:
        return None
    axes = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    return Located(there_middle - axes @ here_middle, axes)


__all__ = ['Located', 'cartesian', 'landmarks', 'locate']
