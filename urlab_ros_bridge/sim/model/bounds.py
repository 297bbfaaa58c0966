# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Bounds of bodies: one oriented box for each geom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import mujoco
import numpy as np

from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import Pose

_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)


@dataclass(frozen=True, slots=True)
class Boxes:
    """
    Oriented boxes, one for each geom.

    :ivar center: m, shape (n, 3).
    :ivar half: half extents along the box's own axes, m, shape (n, 3).
    :ivar turn: rotation matrices, shape (n, 3, 3).
    :ivar solid: whether the geom can collide, shape (n,).
    """

    center: np.ndarray
    half: np.ndarray
    turn: np.ndarray
    solid: np.ndarray

    def bounds(
        self, pose: Pose | None = None, solid_only: bool = False
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """
        Return the lower and the upper corner of their bounds in the world; None without geoms.

        :param pose: of the boxes' frame in the world.
        """
        chosen = self.solid if solid_only else np.ones(len(self.solid), bool)
        if not chosen.any():
            return None
        pose = pose or Pose()
        frame = matrix_of(pose.orientation)
        center = self.center[chosen] @ frame.T + pose.position
        reach = np.abs(frame @ self.turn[chosen])
        half = np.einsum('nij,nj->ni', reach, self.half[chosen])
        return (center - half).min(axis=0), (center + half).max(axis=0)


def boxes_of(
    model: mujoco.MjModel, data: mujoco.MjData, bodies: Iterable[int] | None = None
) -> Boxes:
    """Return the boxes of the geoms of some bodies (None: all) at their present poses."""
    chosen = np.ones(model.ngeom, bool)
    if bodies is not None:
        chosen = np.isin(model.geom_bodyid, list(bodies))
    plane = model.geom_type == _PLANE
    # A plane without a size has no bounds.
    chosen &= ~plane | (model.geom_size[:, :2] > 0).all(axis=1)
    center, half = model.geom_aabb[:, :3].copy(), model.geom_aabb[:, 3:].copy()
    center[plane] = 0.0
    half[plane, :2], half[plane, 2] = model.geom_size[plane, :2], 0.0
    turn = data.geom_xmat.reshape(-1, 3, 3)
    where = data.geom_xpos + np.einsum('nij,nj->ni', turn, center)
    solid = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    return Boxes(where[chosen], half[chosen], turn[chosen].copy(), solid[chosen])
