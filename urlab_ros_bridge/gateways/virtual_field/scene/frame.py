# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The state of the simulation that all clients are sent."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Hashable
from dataclasses import dataclass
from dataclasses import field
import threading
from typing import Any
from typing import TypeVar

import numpy as np

from urlab_ros_bridge.client.replies.observations import Snapshot

T = TypeVar('T')


@dataclass(frozen=True, slots=True, eq=False)
class SceneFrame:
    """
    One moment; arrays are in MuJoCo's world: metres, z up.

    :ivar time: simulated seconds; `step` the server's counter.
    :ivar seen: what the server sent: positions, velocities, controls, sensors, mode.
    :ivar qpos: of the whole model, shape (nq,).
    :ivar body_positions: of all bodies, by id, shape (nbody, 3).
    :ivar body_quaternions: w x y z, shape (nbody, 4); `body_matrices` the same, (nbody, 3, 3).
    :ivar find_contacts: returns where some bodies, given by a mask of shape (nbody,), touch
        something: points, shape (k, 3), and the ids of both bodies, shape (k, 2).  Only for the
        thread that made the frame, before it makes the next one.
    """

    time: float
    step: int
    seen: Snapshot
    qpos: np.ndarray
    body_positions: np.ndarray
    body_quaternions: np.ndarray
    body_matrices: np.ndarray
    find_contacts: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    _made: dict[Hashable, Any] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` made of this frame for the first caller with this key."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            found: T = self._made[key]
            return found


__all__ = ['SceneFrame']
