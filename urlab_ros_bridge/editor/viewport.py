# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The viewport: a free camera that clients place, or that follows an actor.

It looks along its x axis, and z is up in the image (REP 103, and the stock plugin's wire); `fov`
is the horizontal field of view in degrees.

Ops move it, and while it follows an actor, every image does, too: all methods are thread-safe.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
import threading
import time
from typing import Any

import numpy as np

from urlab_ros_bridge.editor.transforms import as_vector
from urlab_ros_bridge.editor.transforms import to_euler
from urlab_ros_bridge.geometry import looking_along
from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import Pose
from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.geometry import Vector
from urlab_ros_bridge.sim.cameras.catalog import DEFAULT_RESOLUTION
from urlab_ros_bridge.sim.cameras.free_camera import FreeCameraView
from urlab_ros_bridge.sim.cameras.free_camera import LIT
from urlab_ros_bridge.sim.simulation import Simulation

DEFAULT_OFFSET: Vector = (-2.0, 0.0, 1.0)  # 2 m behind and 1 m above
MAX_SMOOTHING = 0.99
_TICKS = 60.0  # 1/s; smoothing is meant per image of a game
_NEAREST = 0.1  # m from the bounds' centre
_ASPECT = DEFAULT_RESOLUTION[0] / DEFAULT_RESOLUTION[1]  # of the image

# The pose of a tracked actor, None when it no longer exists.
PoseOf = Callable[[str], Pose | None]


@dataclass(frozen=True, slots=True)
class Tracking:
    """An actor that the camera follows, by name, from `offset` (m, in the actor's frame)."""

    name: str
    offset: Vector
    smoothing: float


class Viewport:
    """The state of the free camera."""

    def __init__(self, pose_of: PoseOf, clock: Callable[[], float] = time.monotonic) -> None:
        self._pose_of = pose_of
        self._clock = clock
        self._moved = clock()
        self._lock = threading.Lock()
        # Looks at the origin from behind, above and the side.
        self._pose = Pose((-4.0, -3.0, 3.0), looking_along((4.0, 3.0, -2.5)))
        self.fov = 90.0
        self.mode = LIT
        self.tracking: Tracking | None = None

    @property
    def pose(self) -> Pose:
        """Return the camera's pose; if it follows an actor, it moves first."""
        return self.seen()[0]

    @pose.setter
    def pose(self, pose: Pose) -> None:
        self._pose = pose

    def seen(self, pose_of: PoseOf | None = None) -> tuple[Pose, float, str]:
        """
        Return the present pose, horizontal field of view in degrees and view mode.

        :param pose_of: replaces the one given at first, for callers that hold other locks.
        """
        tracking = self.tracking
        actor = (pose_of or self._pose_of)(tracking.name) if tracking is not None else None
        with self._lock:
            self._follow(tracking, actor)
            return self._pose, self.fov, self.mode

    def frame(self, low: np.ndarray, high: np.ndarray) -> None:
        """Move the camera, without turning it, so that the box from `low` to `high` fits."""
        center, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
        narrowest = min(self.fov, vertical_fov(self.fov))
        distance = max(radius / math.sin(math.radians(narrowest) / 2), _NEAREST)
        pose = self.pose
        forward = np.asarray(rotate(pose.orientation, (1.0, 0.0, 0.0)))
        self._pose = Pose(as_vector(center - distance * forward), pose.orientation)

    def track(self, tracking: Tracking) -> None:
        """Follow an actor from now on."""
        with self._lock:
            self.tracking = tracking
            self._moved = self._clock()

    def untrack(self) -> bool:
        """Stop following; return whether it followed an actor."""
        self.seen()
        was, self.tracking = self.tracking is not None, None
        return was

    def _follow(self, tracking: Tracking | None, actor: Pose | None) -> None:
        now = self._clock()
        elapsed, self._moved = now - self._moved, now
        if tracking is None or tracking is not self.tracking:
            return
        if actor is None:
            self.tracking = None
            return
        wanted = np.add(actor.position, rotate(actor.orientation, tracking.offset))
        smoothing = tracking.smoothing
        kept = smoothing ** (max(elapsed, 0.0) * _TICKS) if smoothing > 0 else 0.0
        place = kept * np.asarray(self._pose.position) + (1.0 - kept) * wanted
        gaze = as_vector(np.subtract(actor.position, place))
        quat = looking_along(gaze) if np.linalg.norm(gaze) > 1e-6 else self._pose.orientation
        self._pose = Pose(as_vector(place), quat)

    def describe(self) -> dict[str, Any]:
        """Return the camera as replies have it: m, quaternion x, y, z, w, degrees."""
        pose = self.pose
        return {
            'location': list(pose.position),
            'rotation_quat': list(pose.orientation),
            'rotation_euler': list(to_euler(pose.orientation)),
            'fov': self.fov,
        }


def vertical_fov(fov: float) -> float:
    """Return the vertical field of view of the viewport's image, both in degrees."""
    return math.degrees(2 * math.atan(math.tan(math.radians(fov) / 2) / _ASPECT))


# Columns: the axes of a MuJoCo camera (right, up, backwards) in the frame of the viewport, which
# looks along x and has z up.
_CAMERA = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


class ViewportCamera:
    """The viewport as a camera of one world; see `simulation.WorldService`."""

    def __init__(self, viewport: Viewport, simulation: Simulation, pose_of: PoseOf) -> None:
        """
        Control the free camera of a world.

        :param pose_of: returns the pose of the actor that the viewport follows; called with the
            engine's lock held.
        """
        self._viewport, self._pose_of = viewport, pose_of
        self._engine, self._cameras = simulation.engine, simulation.cameras
        self._cameras.free_view = self._view
        self.aim()

    def aim(self) -> None:
        """Update the world's model at once; the caller must not hold the engine's lock."""
        with self._engine.lock:
            free = self._cameras.state.free
            if free is not None:
                free.aim(self._view())

    def close(self) -> None:
        """Stop moving the camera."""
        self._cameras.free_view = None

    def _view(self) -> FreeCameraView:
        pose, fov, mode = self._viewport.seen(self._pose_of)
        return FreeCameraView(
            np.asarray(pose.position),
            (matrix_of(pose.orientation) @ _CAMERA).reshape(9),
            vertical_fov(fov),
            mode,
        )
