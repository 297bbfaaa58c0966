# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Scanners, and what is done to sensors after MuJoCo: rays are cast, noise is added.

A planar laser scanner is a MuJoCo `user` sensor that is filled by casting rays.  What it sees is
what its robot can touch: geoms with contype or conaffinity, whatever their group and transparency
(collision geoms are often hidden, visual ones often wrap them).  It never sees the robot that
carries it.  MuJoCo's own filters cannot express that: bodyexclude takes one body and not its
children, geomgroup whole groups, and both geoms of alpha 0 and the body itself have fixed rules.
So a scanner keeps a private copy of the model in which the geoms that count are group 0 and
opaque, and all others are in a group that is left out.  mj_multiRay reads poses from the live
data; sizes and meshes are those at the time the scanner was built.

MuJoCo zeroes user sensors in every step and in mj_forward, so the last scan is held here and
`restore` writes it back.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import copy
import math

import mujoco
import numpy as np

from urlab_ros_bridge.sim.model.sidecar.specs import LidarSpec
from urlab_ros_bridge.sim.physics.noise import RangeNoise
from urlab_ros_bridge.sim.physics.noise import SensorNoise
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.stamp import seconds_to_ns

_SEEN = np.array([1, 0, 0, 0, 0, 0], dtype=np.uint8)
NOTHING = -1.0


class NotAScanner(UrlabError, ValueError):
    """The sensor that a sidecar names as a lidar cannot hold a scan."""


class RayScanner:
    """
    One scanner: rays in the xy plane of its site, x is angle 0, counter-clockwise about z.

    :ivar name: local sensor name, set by the caller.
    :ivar rays: number of rays, the dimension of the sensor; they are spread evenly from angle_min
        to angle_max, both included.
    :ivar noise: set by the caller; disturbs each scan.
    :ivar scans: number of updates so far; a changed number means a fresh scan.
    """

    def __init__(self, model: mujoco.MjModel, sensor_id: int, spec: LidarSpec) -> None:
        self.sensor_id = sensor_id
        self.spec = spec
        self._full_name = model.sensor(sensor_id).name
        self.name = self._full_name
        self._site = _site_of(model, sensor_id)
        self._site_name = model.site(self._site).name
        self.rays = int(model.sensor_dim[sensor_id])
        adr = int(model.sensor_adr[sensor_id])
        self._slots = slice(adr, adr + self.rays)
        self.angles = np.linspace(spec.angle_min, spec.angle_max, self.rays)
        self._local = np.stack([np.cos(self.angles), np.sin(self.angles)], axis=1)
        self._world = np.empty((self.rays, 3))
        self._flat = self._world.reshape(-1)
        self._hit = np.empty(self.rays, dtype=np.int32)
        self._ranges = np.full(self.rays, NOTHING)
        self._eyes = _seen_by(model, self._site)
        self.scans = 0
        self.noise: RangeNoise | None = None
        self._updated = 0.0
        self._origin = 0.0
        self._slot = -1

    def describe(self) -> dict[str, float | int | str]:
        """Return the handshake block of this scanner: rad, m, scans per sim second."""
        spec = self.spec
        prefix = self._full_name.removesuffix(self.name)
        return {
            'angle_min': spec.angle_min,
            'angle_max': spec.angle_max,
            'range_min': spec.range_min,
            'range_max': spec.range_max,
            'rate': spec.rate,
            'rays': self.rays,
            'site': self._site_name.removeprefix(prefix),
        }

    def due(self, time: float) -> bool:
        """Return whether a scan belongs to this sim time; also if time has jumped back."""
        return self._slot_of(time) != self._slot

    def is_of(self, time: float) -> bool:
        """Return whether the held scan was made in the tick of this sim time."""
        return self._updated == time

    @property
    def stamp_ns(self) -> int:
        """Return the sim time of the held scan as integer nanoseconds."""
        return seconds_to_ns(self._updated)

    def update(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """
        Cast all rays and write the ranges (m, -1 = nothing within range_max) to the sensor.

        A hit nearer than range_min is written as it is: LaserScan has readers drop it.
        """
        axes = data.site_xmat[self._site].reshape(3, 3)
        np.dot(self._local, axes[:, :2].T, out=self._world)
        # MuJoCo skips geoms that are wholly beyond the cutoff; the others may still be hit there.
        mujoco.mj_multiRay(
            self._eyes,
            data,
            data.site_xpos[self._site],
            self._flat,
            _SEEN,
            1,
            -1,
            self._hit,
            self._ranges,
            None,
            self.rays,
            self.spec.range_max,
        )
        self._ranges[self._ranges > self.spec.range_max] = NOTHING
        if self.noise is not None:
            self.noise.distort(self._ranges, data.time - self._updated)
        self._updated = data.time
        self._slot = self._slot_of(data.time)
        self.scans += 1
        self.restore(data)

    def restore(self, data: mujoco.MjData) -> None:
        """Write the held scan to the sensor again, after MuJoCo has zeroed it."""
        data.sensordata[self._slots] = self._ranges

    def resume(self, other: RayScanner) -> None:
        """Restore the state of the same scanner from the world that this one replaces."""
        self._ranges[:] = other._ranges
        self._updated, self._origin, self._slot = other._updated, other._origin, other._slot
        self.scans, self.noise = other.scans, other.noise

    @property
    def full_name(self) -> str:
        """Return the compiled name of the sensor."""
        return self._full_name

    def reset(self, time: float) -> None:
        """Forget the held scan; the next one is due at `time` (s)."""
        self._ranges[:] = NOTHING
        self._origin = time
        self._slot = -1

    def _slot_of(self, time: float) -> int:
        """Return the number of whole scan periods since the reset; sums of timesteps may round."""
        return math.floor((time - self._origin) * self.spec.rate + 1e-6)


def _site_of(model: mujoco.MjModel, sensor_id: int) -> int:
    name = model.sensor(sensor_id).name
    kind = mujoco.mjtSensor(model.sensor_type[sensor_id])
    if kind != mujoco.mjtSensor.mjSENS_USER:
        raise NotAScanner(
            f'the sensor {name!r} is of type {kind.name[7:].lower()}; a lidar needs '
            '<user> with dim = number of rays'
        )
    attached = mujoco.mjtObj(model.sensor_objtype[sensor_id])
    if attached != mujoco.mjtObj.mjOBJ_SITE:
        raise NotAScanner(
            f'the user sensor {name!r} must be attached to a site (objtype="site"), '
            f'not to {attached.name[6:].lower()}'
        )
    if model.sensor_dim[sensor_id] < 2:
        raise NotAScanner(
            f'the user sensor {name!r} has dim '
            f'{model.sensor_dim[sensor_id]}; a scan has 2 rays or more'
        )
    return int(model.sensor_objid[sensor_id])


def _seen_by(model: mujoco.MjModel, site: int) -> mujoco.MjModel:
    """
    Return a copy of the model in which group 0 is what a scanner at `site` sees.

    Its own robot is every body of the site's tree, that is, below the same child of the world.
    """
    eyes = copy.copy(model)
    own_root = model.body_rootid[model.site_bodyid[site]]
    own = (model.body_rootid[model.geom_bodyid] == own_root) & (own_root != 0)
    solid = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    eyes.geom_group[:] = np.where(solid & ~own, 0, 1)
    eyes.geom_matid[:] = -1
    eyes.geom_rgba[:, 3] = 1.0
    return eyes


class Sensing:
    """
    Scanners and noise of a whole world.  Everything here needs the engine's lock.

    :ivar lidars: the scanners of each articulation.
    """

    def __init__(
        self, lidars: Mapping[str, list[RayScanner]], noises: Iterable[SensorNoise] = ()
    ) -> None:
        self.lidars = lidars
        self._lidars = [lidar for group in lidars.values() for lidar in group]
        self._noises = list(noises)

    def stepped(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Finish the sensors of a sub-step."""
        for lidar in self._lidars:
            if lidar.due(data.time):
                lidar.update(model, data)
            else:
                lidar.restore(data)
        for noise in self._noises:
            noise.draw()
            noise.add(data)

    def settled(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Finish the sensors after mj_forward: fresh scans, and the noise of this moment."""
        for lidar in self._lidars:
            lidar.reset(data.time)
            lidar.update(model, data)
        for noise in self._noises:
            noise.add(data)

    def resume(self, other: Sensing, data: mujoco.MjData) -> None:
        """
        Restore the sensors of the world that this one replaces.

        Call it after mj_forward: held scans are written, and the noise of this moment.
        """
        before = {lidar.full_name: lidar for lidar in other._lidars}
        for lidar in self._lidars:
            if lidar.full_name in before:
                lidar.resume(before[lidar.full_name])
            lidar.restore(data)
        for noise in self._noises:
            noise.resume(other._noises)
            noise.add(data)

    def forget_scans(self, time: float) -> None:
        """Restart the scanners at `time` (s)."""
        for lidar in self._lidars:
            lidar.reset(time)

    def restart(self, seed: int | None) -> None:
        """Begin the noise of a new run; a seed makes it repeatable."""
        for lidar in self._lidars:
            if lidar.noise is not None:
                lidar.noise.restart(seed)
        for noise in self._noises:
            noise.restart(seed)


__all__ = ['Sensing']
