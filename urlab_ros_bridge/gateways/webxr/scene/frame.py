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
    :ivar body_positions: shape (nbody, 3), by id of the body; `body_quaternions` w x y z, shape
        (nbody, 4), and the same as matrices, `body_axes`, shape (nbody, 3, 3).
    :ivar posed: see `of_poses`; it is the same object while nothing moves.
    :ivar find_contacts: returns where some bodies, given by a mask of shape (nbody,), touch
        something: points, shape (k, 3), and the ids of both bodies, shape (k, 2).  It is called
        when somebody wants contacts, by the thread that made the frame and before the next one.
    """

    time: float
    step: int
    tick: Tick
    qpos: np.ndarray
    body_positions: np.ndarray
    body_quaternions: np.ndarray
    body_axes: np.ndarray
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
            self.body_positions,
            self.body_quaternions,
            self.body_axes,
            self.find_contacts,
            self.posed,
        )


def _kept(made: Posed, key: Hashable, make: Callable[[], T]) -> T:
    if key not in made:
        made[key] = make()
    found: T = made[key]
    return found


__all__ = ['SceneFrame']
