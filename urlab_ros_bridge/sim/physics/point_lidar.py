# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""3-D lidars: rings of rays, cast only for subscribers."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from urlab_ros_bridge.geometry import ray_directions
from urlab_ros_bridge.model.colors import Colors
from urlab_ros_bridge.sim.model.sidecar.specs import LidarSpec
from urlab_ros_bridge.sim.model.world import World
from urlab_ros_bridge.sim.physics.noise import NOTHING
from urlab_ros_bridge.sim.physics.noise import RangeNoise
from urlab_ros_bridge.sim.physics.rays import RayCaster
from urlab_ros_bridge.sim.physics.rays import RayTargets

_LUMINANCE = (0.2126, 0.7152, 0.0722)  # of r, g, b (Rec. 709)


class PointLidar:
    """
    Rings of rays about the z axis of its site, all cast at the same instant.

    The lowest ring is the first; in each, rays go from angle_min to angle_max as those of a planar
    scanner.  A surface reflects as its colour is bright, and less where the ray grazes it.

    :ivar name: local name, also of its site.
    :ivar noise: set by the caller; disturbs the ranges of each cast.
    """

    def __init__(
        self, world: World, prefix: str, name: str, spec: LidarSpec, targets: RayTargets
    ) -> None:
        self.name, self.spec = name, spec
        self.rings, self.columns = spec.rings or 0, spec.rays or 0
        self.noise: RangeNoise | None = None
        self._world = world
        self._targets = targets
        self._site = world.model.site(f'{prefix}_{name}').id
        self._rays: RayCaster | None = None
        self._brightness = np.empty(0)
        self._painted = b''  # the colours that it follows from
        self._cast_at = -math.inf

    def describe(self) -> dict[str, float | int | str]:
        """Return the handshake block: rad, m, casts per sim second."""
        spec = self.spec
        return {
            'angle_min': spec.angle_min,
            'angle_max': spec.angle_max,
            'elevation_min': spec.elevation_min,
            'elevation_max': spec.elevation_max,
            'range_min': spec.range_min,
            'range_max': spec.range_max,
            'rate': spec.rate,
            'rings': self.rings,
            'columns': self.columns,
            'site': self.name,
        }

    def slot(self, time: float) -> int:
        """Return the number of whole periods until a sim time; sums of timesteps may round."""
        return math.floor(time * self.spec.rate + 1e-6)

    def cast(self, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
        """
        Cast all rays.

        :return: ranges, shape (rings, columns), m, -1 = nothing within range_max; intensities of
            the same shape, 0 to 255, uint8.
        """
        rays = self._rays
        if rays is None:
            rays = self._rays = self._prepare()
        self._follow_colors()
        ranges = np.empty(self.rings * self.columns)
        rays.cast(data, ranges)
        cosines = np.abs(np.einsum('ij,ij->i', rays.directions, rays.normals))
        shares = np.where(ranges >= 0.0, self._brightness[rays.hits] * cosines, 0.0)
        if self.noise is not None:
            elapsed = data.time - self._cast_at
            self.noise.distort(ranges, elapsed if math.isfinite(elapsed) else 0.0)
            shares[ranges == NOTHING] = 0.0
        self._cast_at = data.time
        shape = (self.rings, self.columns)
        return ranges.reshape(shape), np.rint(255.0 * shares).astype(np.uint8).reshape(shape)

    def directions(self) -> np.ndarray:
        """Return the unit vectors of all rays in the frame of the lidar, shape (rays, 3)."""
        spec = self.spec
        azimuths = np.linspace(spec.angle_min, spec.angle_max, self.columns)
        elevations = np.linspace(spec.elevation_min, spec.elevation_max, self.rings)
        return ray_directions(azimuths, elevations).reshape(-1, 3)

    def _prepare(self) -> RayCaster:
        return RayCaster(
            self._targets, self._site, self.directions(), self.spec.range_max, with_normals=True
        )

    def _follow_colors(self) -> None:
        """Compute how bright each geom is, unless its colours are those of the last cast."""
        model = self._world.model
        painted = model.geom_rgba.tobytes() + model.mat_rgba.tobytes()
        if painted == self._painted:
            return
        colors = Colors(model)
        surfaces = zip(model.geom_rgba, model.geom_matid.tolist(), strict=True)
        rgb = np.array([colors.of(rgba, material)[:3] for rgba, material in surfaces])
        self._brightness = rgb.reshape(-1, 3) @ _LUMINANCE
        self._painted = painted
