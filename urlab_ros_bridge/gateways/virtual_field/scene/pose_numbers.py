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
import orjson

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.gateways.virtual_field.scene.axes import y_up
from urlab_ros_bridge.gateways.virtual_field.scene.frame import SceneFrame

# 10 micrometres, and 1e-5 of a direction: more digits would only be longer messages.
DIGITS = 5
_AXES = np.arange(3)
# JSON has no number for what is none: so texts of rows are found without looking at numbers.
_NONE, _BETWEEN, _END = b'null', b',null,', b',null]'


@dataclass(frozen=True, slots=True)
class Part:
    """
    Some of the numbers.

    :ivar begin: of its first row among all numbers; `row` that among all rows.
    :ivar shape: rows, and the numbers of each.
    """

    begin: int
    row: int
    shape: tuple[int, int]


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
        self._size = self._rows = 0
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

    def add_free(self, count: int) -> Part:
        """Add one row of numbers that a mender writes."""
        slots = np.zeros((1, count, 4), np.intp)
        return self._add(slots, np.zeros((1, count, 4)), (1, count))

    def mend(self, mender: Callable[[], None]) -> None:
        """Call a function after everything is computed and before it is rounded."""
        self._menders.append(mender)

    def array(self, part: Part) -> np.ndarray:
        """Return the array of a part; nothing can be added any more."""
        rows, width = part.shape
        values = self._values if self._values is not None else self._freeze()
        found = values[part.begin : part.begin + rows * (width + 1)]
        return found.reshape(rows, width + 1)[:, :width]

    def follow(self, frame: SceneFrame) -> None:
        """Compute everything at the poses of a frame, unless it is there already."""
        if self._followed is frame.poses:
            return
        values = self._values if self._values is not None else self._freeze()
        gathered = self._gathered
        frame.poses.take(self._from, out=gathered, mode='clip')
        np.multiply(gathered, self._times, out=gathered)
        np.add.reduce(gathered, axis=0, out=values)
        for mender in self._menders:
            mender()
        values.round(DIGITS, out=values)
        self._followed = frame.poses

    def texts(self) -> list[bytes]:
        """
        Return each row as JSON has it, without brackets.

        :raises ProtocolError: when one of the numbers is not finite.
        """
        values = self._values if self._values is not None else self._freeze()
        text = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)
        if text.count(_NONE) != self._rows:
            raise ProtocolError('a pose that is not finite')
        return text[1 : -len(_END)].split(_BETWEEN)

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

    def _add(self, slots: np.ndarray, factors: np.ndarray, shape: tuple[int, int]) -> Part:
        if self._values is not None:
            raise RuntimeError('nothing can be added to numbers that are in use')
        rows, width = shape
        part = Part(self._size, self._rows, shape)
        # After each row comes a number that is none.
        slots = np.concatenate((slots, np.zeros((rows, 1, 4), np.intp)), axis=1)
        factors = np.concatenate((factors, np.full((rows, 1, 4), np.nan)), axis=1)
        self._slots.append(slots.reshape(-1, 4))
        self._factors.append(factors.reshape(-1, 4))
        self._size += rows * (width + 1)
        self._rows += rows
        return part

    def _freeze(self) -> np.ndarray:
        nothing = np.zeros((0, 4))
        slots = np.concatenate([nothing.astype(np.intp), *self._slots])
        self._from = np.ascontiguousarray(slots.T)
        self._times = np.ascontiguousarray(np.concatenate([nothing, *self._factors]).T)
        self._gathered = np.zeros((4, self._size))
        self._values = np.zeros(self._size)
        return self._values


__all__ = ['DIGITS', 'Part', 'PoseNumbers']
