# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Rays of a scanner.

What they meet is what the scanner's robot can touch: geoms with contype or conaffinity, whatever
their group and transparency (collision geoms are often hidden, visual ones often wrap them).  They
never meet the robot that carries the scanner.  MuJoCo's own filters cannot express that:
bodyexclude takes one body and not its children, geomgroup whole groups, and both geoms of alpha 0
and the body itself have fixed rules.  So the scanners of a world share a copy of its model in
which all geoms are opaque; for each cast, those that count are in group 0, and all others in a
group that is left out.  mj_multiRay reads poses from the live data; sizes and meshes are those of
the first cast.
"""

from __future__ import annotations

import copy

import mujoco
import numpy as np

from urlab_ros_bridge.sim.physics.noise import NOTHING

_SEEN = np.array([1, 0, 0, 0, 0, 0], dtype=np.uint8)


class RayTargets:
    """What rays can meet in a world; needs the engine's lock."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._opaque: mujoco.MjModel | None = None

    def groups(self, site: int) -> np.ndarray:
        """
        Return the group of each geom for a scanner at a site, shape (ngeom,): 0 is what it sees.

        Its own robot is every body of the site's tree, that is, below the same child of the world.
        """
        model = self._model
        own_root = model.body_rootid[model.site_bodyid[site]]
        own = (model.body_rootid[model.geom_bodyid] == own_root) & (own_root != 0)
        solid = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
        return np.where(solid & ~own, 0, 1)

    def with_groups(self, groups: np.ndarray) -> mujoco.MjModel:
        """Return the model for one cast, shared by all of them."""
        opaque = self._opaque
        if opaque is None:
            opaque = self._opaque = copy.copy(self._model)
            opaque.geom_matid[:] = -1
            opaque.geom_rgba[:, 3] = 1.0
        opaque.geom_group[:] = groups
        return opaque


class RayCaster:
    """
    Rays from a site.

    :ivar hits: id of the geom that each ray of the last cast met, -1 for none, shape (rays,).
    :ivar normals: of the surface there, in the world, shape (rays, 3); empty unless asked for.
    :ivar directions: of the rays of the last cast, in the world, shape (rays, 3).
    """

    def __init__(
        self,
        targets: RayTargets,
        site: int,
        directions: np.ndarray,
        range_max: float,
        with_normals: bool = False,
    ) -> None:
        """
        Prepare the rays.

        :param directions: unit vectors in the frame of the site, shape (rays, 3).
        """
        count = len(directions)
        self._site, self._range_max = site, range_max
        self._local = np.ascontiguousarray(directions, dtype=float)
        self._targets, self._groups = targets, targets.groups(site)
        self.directions = np.empty((count, 3))
        self.hits = np.empty(count, dtype=np.int32)
        self.normals = np.zeros((count if with_normals else 0, 3))

    def cast(self, data: mujoco.MjData, ranges: np.ndarray) -> None:
        """Fill in the distance along each ray, shape (rays,), m; -1 = nothing in range_max."""
        axes = data.site_xmat[self._site].reshape(3, 3)
        np.dot(self._local, axes.T, out=self.directions)
        mujoco.mj_multiRay(
            self._targets.with_groups(self._groups),
            data,
            data.site_xpos[self._site],
            self.directions.reshape(-1),
            _SEEN,
            1,
            -1,
            self.hits,
            ranges,
            self.normals.reshape(-1) if len(self.normals) else None,
            len(ranges),
            self._range_max,
        )
        # MuJoCo skips geoms that are wholly beyond the cutoff; others may still be met there.
        ranges[ranges > self._range_max] = NOTHING
