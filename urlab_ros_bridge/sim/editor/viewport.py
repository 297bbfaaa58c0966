# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The viewport: a free camera that clients put somewhere, or let follow an actor.

Its x axis is where it looks, z is up in the picture (REP 103, and the stock plugin's wire);
`fov` is the horizontal field of view in degrees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
import time
from typing import Any

import numpy as np

from urlab_ros_bridge.sim.editor.transforms import as_vector
from urlab_ros_bridge.sim.editor.transforms import looking_along
from urlab_ros_bridge.sim.editor.transforms import Pose
from urlab_ros_bridge.sim.editor.transforms import rotate
from urlab_ros_bridge.sim.editor.transforms import to_euler
from urlab_ros_bridge.sim.editor.transforms import to_wire
from urlab_ros_bridge.sim.editor.transforms import Vector

MODES = ('lit', 'unlit', 'wireframe', 'collision', 'reflections')
DEFAULT_OFFSET: Vector = (-2.0, 0.0, 1.0)  # 2 m behind and 1 m above
MAX_SMOOTHING = 0.99
_TICKS = 60.0  # 1/s; smoothing is meant per picture of a game
_NEAREST = 0.1  # m from the bounds' centre

# The pose of a tracked actor, None when it is gone.
PoseOf = Callable[[str], Pose | None]


@dataclass(frozen=True, slots=True)
class Tracking:
    """What the camera follows: an actor by name, from `offset` (m, in the actor's frame)."""

    name: str
    offset: Vector
    smoothing: float


class Viewport:
    """The state of the free camera."""

    def __init__(self, pose_of: PoseOf, clock: Callable[[], float] = time.monotonic) -> None:
        self._pose_of = pose_of
        self._clock = clock
        self._moved = clock()
        # Looks at the origin from behind, above and the side.
        self._pose = Pose((-4.0, -3.0, 3.0), looking_along((4.0, 3.0, -2.5)))
        self.fov = 90.0
        self.mode = 'lit'
        self.tracking: Tracking | None = None

    @property
    def pose(self) -> Pose:
        """Return where the camera is now; one that follows somebody moves on by asking."""
        self._follow()
        return self._pose

    @pose.setter
    def pose(self, pose: Pose) -> None:
        self._pose = pose

    def frame(self, low: np.ndarray, high: np.ndarray) -> None:
        """Step back, looking the same way, until the box from `low` to `high` fits."""
        center, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
        distance = max(radius / math.sin(math.radians(self.fov) / 2), _NEAREST)
        pose = self.pose
        forward = np.asarray(rotate(pose.quat, (1.0, 0.0, 0.0)))
        self._pose = Pose(as_vector(center - distance * forward), pose.quat)

    def track(self, tracking: Tracking) -> None:
        """Follow an actor from now on."""
        self.tracking = tracking
        self._moved = self._clock()

    def untrack(self) -> bool:
        """Stay where the camera is; say whether it followed somebody."""
        self._follow()
        was, self.tracking = self.tracking is not None, None
        return was

    def _follow(self) -> None:
        now = self._clock()
        elapsed, self._moved = now - self._moved, now
        if self.tracking is None:
            return
        actor = self._pose_of(self.tracking.name)
        if actor is None:
            self.tracking = None
            return
        wanted = np.add(actor.pos, rotate(actor.quat, self.tracking.offset))
        smoothing = self.tracking.smoothing
        kept = smoothing ** (max(elapsed, 0.0) * _TICKS) if smoothing > 0 else 0.0
        place = kept * np.asarray(self._pose.pos) + (1.0 - kept) * wanted
        gaze = np.subtract(actor.pos, place)
        quat = looking_along(gaze) if np.linalg.norm(gaze) > 1e-6 else self._pose.quat
        self._pose = Pose(as_vector(place), quat)

    def describe(self) -> dict[str, Any]:
        """Return the camera as replies have it: m, quaternion x, y, z, w, degrees."""
        pose = self.pose
        return {
            'location': list(pose.pos),
            'rotation_quat': to_wire(pose.quat),
            'rotation_euler': list(to_euler(pose.quat)),
            'fov': self.fov,
        }

    def view(self) -> dict[str, Any]:
        """
        Return what a renderer needs.

        :return: `pos` (m), `forward` and `up` (unit vectors), `fov` (horizontal, degrees), `mode`.
        """
        pose = self.pose
        return {
            'pos': list(pose.pos),
            'forward': list(rotate(pose.quat, (1.0, 0.0, 0.0))),
            'up': list(rotate(pose.quat, (0.0, 0.0, 1.0))),
            'fov': self.fov,
            'mode': self.mode,
        }
