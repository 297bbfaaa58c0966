# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What is fixed to bodies, as numbers of messages: y up, rounded, all of them computed at once.

Each such number is a sum of four numbers of one body's pose, with constant factors: a coordinate
of a point is one of the body's position and a row of its rotation matrix, a component of a
rotation is a row of a matrix and the body's quaternion.  So all arms and meshes of a world are one
gathering, one product and one sum; that a few calls of numpy do it matters more than how many
numbers they are: 72 times a second code and tables are found cold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from urlab_ros_bridge.gateways.webxr.scene.axes import y_up
from urlab_ros_bridge.gateways.webxr.scene.frame import SceneFrame

# 10 micrometres, and 1e-5 of a direction: more digits would only be longer messages.
DIGITS = 5
_AXES = np.arange(3)


@dataclass(frozen=True, slots=True)
class Part:
    """Where some numbers are among all: `begin`, and their shape."""

    begin: int
    shape: tuple[int, ...]


class PoseNumbers:
    """
    Add all points, directions and rotations first; each `follow` then fills their arrays.

    Not thread-safe.
    """

    def __init__(self, bodies: int) -> None:
        """
        Begin without any.

        :param bodies: how many the world has.
        """
        # Of a frame's `poses`: where these begin.
        self._quaternions, self._axes = 3 * bodies, 7 * bodies
        self._size = 0
        self._slots: list[np.ndarray] = []
        self._factors: list[np.ndarray] = []
        self._menders: list[Callable[[], None]] = []
        self._values: np.ndarray | None = None
        self._followed: object = None

    def add_points(self, bodies: np.ndarray, places: np.ndarray) -> Part:
        """
        Add points.

        :param bodies: ids, shape (n,); `places` in these bodies, in m, shape (n, 3).
        :returns: of shape (n, 3).
        """
        return self._add_vectors(bodies, places, 1.0)

    def add_directions(self, bodies: np.ndarray, vectors: np.ndarray) -> Part:
        """Add vectors that turn with bodies, see `add_points`."""
        return self._add_vectors(bodies, vectors, 0.0)

    def add_turns(self, bodies: np.ndarray, matrices: np.ndarray) -> Part:
        """
        Add rotations.

        :param matrices: shape (n, 4, 4): times w x y z of the body, it is x y z w.
        :returns: of shape (n, 4).
        """
        count = len(bodies)
        slots = self._quaternions + 4 * bodies[:, None, None] + np.arange(4)
        slots = np.broadcast_to(slots, (count, 4, 4))
        return self._add(slots, matrices.reshape(count, 4, 4), (count, 4))

    def mend(self, mender: Callable[[], None]) -> None:
        """Call a function after everything is computed and before it is rounded."""
        self._menders.append(mender)

    def array(self, part: Part) -> np.ndarray:
        """Return the array of a part; nothing can be added any more."""
        if self._values is None:
            self._freeze()
        found: np.ndarray = self._values[part.begin : part.begin + int(np.prod(part.shape))]  # type: ignore[index]
        return found.reshape(part.shape)

    def follow(self, frame: SceneFrame) -> None:
        """Compute everything at the poses of a frame, unless it is there already."""
        if self._followed is frame.poses:
            return
        if self._values is None:
            self._freeze()
        gathered, values = self._gathered, self._values
        frame.poses.take(self._from, out=gathered, mode='clip')
        np.multiply(gathered, self._times, out=gathered)
        np.add.reduce(gathered, axis=0, out=values)
        for mender in self._menders:
            mender()
        values.round(DIGITS, out=values)  # type: ignore[union-attr]
        self._followed = frame.poses

    def _add_vectors(self, bodies: np.ndarray, vectors: np.ndarray, fixed: float) -> Part:
        count = len(bodies)
        slots = np.empty((count, 3, 4), np.intp)
        factors = np.empty((count, 3, 4))
        slots[..., 0] = 3 * bodies[:, None] + _AXES
        slots[..., 1:] = self._axes + 9 * bodies[:, None, None] + 3 * _AXES[:, None] + _AXES
        factors[..., 0], factors[..., 1:] = fixed, vectors.reshape(count, 1, 3)
        # Of each coordinate: the one that it is with y up.
        order = y_up(np.array([1.0, 2.0, 3.0]))
        places = np.abs(order).astype(np.intp) - 1
        return self._add(
            slots[:, places], factors[:, places] * np.sign(order)[:, None], (count, 3)
        )

    def _add(self, slots: np.ndarray, factors: np.ndarray, shape: tuple[int, ...]) -> Part:
        if self._values is not None:
            raise RuntimeError('nothing can be added to numbers that are in use')
        part = Part(self._size, shape)
        self._slots.append(slots.reshape(-1, 4))
        self._factors.append(factors.reshape(-1, 4))
        self._size += len(self._slots[-1])
        return part

    def _freeze(self) -> None:
        empty = np.zeros((0, 4))
        slots = np.concatenate([empty.astype(np.intp), *self._slots])
        self._from = np.ascontiguousarray(slots.T)
        self._times = np.ascontiguousarray(np.concatenate([empty, *self._factors]).T)
        self._gathered = np.zeros((4, self._size))
        self._values = np.zeros(self._size)


__all__ = ['DIGITS', 'Part', 'PoseNumbers']
