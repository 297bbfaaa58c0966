# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""One moment of the simulation, as all clients see it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Hashable
from dataclasses import dataclass
from dataclasses import field
from typing import Any
from typing import TypeVar

import numpy as np

from urlab_ros_bridge.client.errors import ProtocolError
from urlab_ros_bridge.client.replies.observations import Snapshot
from urlab_ros_bridge.client.state.tick import Tick

T = TypeVar('T')
# What was made of something, by a name of who made it.
Posed = dict[Hashable, Any]


@dataclass(slots=True, eq=False)
class SceneFrame:
    """
    One moment.  It is not to be changed; arrays are in MuJoCo's world: metres, z up.

    While nothing moves, frames of new moments have the arrays of the one before, and what was made
    of them (`posed`).

    :ivar time: simulated seconds; `step` the server's counter.
    :ivar tick: what the server sent, not decoded yet, see `seen`.
    :ivar qpos: of the whole model, shape (nq,).
    :ivar poses: of all bodies, by id: positions, then quaternions w x y z, then the same as
        matrices, row by row; shape (16 * nbody,).
    :ivar posed: see `of_poses`; it is the same object while nothing moves.
    :ivar find_contacts: returns where some bodies, given by a mask of shape (nbody,), touch
        something: points, shape (k, 3), and the ids of both bodies, shape (k, 2).  It is called
        when somebody wants contacts, by the thread that made the frame and before the next one.
    """

    time: float
    step: int
    tick: Tick
    qpos: np.ndarray
    poses: np.ndarray
    find_contacts: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    posed: Posed = field(default_factory=dict)
    _shared: Posed = field(default_factory=dict)

    @property
    def seen(self) -> Snapshot:
        """
        Return what the server sent: positions, velocities, controls, sensors, mode.

        :raises UrlabError: when it cannot be decoded.
        """
        state = self.tick.state()
        if state is None:
            raise ProtocolError('a tick without a snapshot')
        return state

    @property
    def body_positions(self) -> np.ndarray:
        """Return positions of bodies, shape (nbody, 3)."""
        return self.poses[: len(self.poses) // 16 * 3].reshape(-1, 3)

    @property
    def body_quaternions(self) -> np.ndarray:
        """Return rotations of bodies, w x y z, shape (nbody, 4)."""
        bodies = len(self.poses) // 16
        return self.poses[3 * bodies : 7 * bodies].reshape(-1, 4)

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` made of this frame for the first client that asked by `key`."""
        return _kept(self._shared, key, make)

    def of_poses(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` made of these poses, which later frames may have too."""
        return _kept(self.posed, key, make)

    def later(self, time: float, step: int, tick: Tick) -> SceneFrame:
        """Return the frame of a later moment in which nothing has moved."""
        return SceneFrame(
            time,
            step,
            tick,
            self.qpos,
            self.poses,
            self.find_contacts,
            self.posed,
        )


def _kept(made: Posed, key: Hashable, make: Callable[[], T]) -> T:
    if key not in made:
        made[key] = make()
    found: T = made[key]
    return found


__all__ = ['SceneFrame']
