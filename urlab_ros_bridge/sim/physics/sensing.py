# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Scanners, and what is done to sensors after MuJoCo: rays are cast, noise is added.

A planar laser scanner is a MuJoCo `user` sensor that is filled by casting rays (`rays`).
MuJoCo zeroes user sensors in every step and in mj_forward, so the last scan is held here and
`restore` writes it back.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import math
from types import MappingProxyType

import mujoco
import numpy as np

from urlab_ros_bridge.geometry import ray_directions
from urlab_ros_bridge.sim.model.sidecar.specs import LidarSpec
from urlab_ros_bridge.sim.physics.noise import NOTHING
from urlab_ros_bridge.sim.physics.noise import RangeNoise
from urlab_ros_bridge.sim.physics.noise import SensorNoise
from urlab_ros_bridge.sim.physics.point_lidar import PointLidar
from urlab_ros_bridge.sim.physics.rays import RayCaster
from urlab_ros_bridge.sim.physics.rays import RayTargets
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.stamp import seconds_to_ns


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

    def __init__(
        self, model: mujoco.MjModel, sensor_id: int, spec: LidarSpec, targets: RayTargets
    ) -> None:
        self.sensor_id = sensor_id
        self.spec = spec
        self._full_name = model.sensor(sensor_id).name
        self.name = self._full_name
        site = _site_of(model, sensor_id)
        self._site_name = model.site(site).name
        self.rays = int(model.sensor_dim[sensor_id])
        adr = int(model.sensor_adr[sensor_id])
        self._slots = slice(adr, adr + self.rays)
        self.angles = np.linspace(spec.angle_min, spec.angle_max, self.rays)
        directions = ray_directions(self.angles, np.zeros(1))[0]
        self._rays = RayCaster(targets, site, directions, spec.range_max)
        self._ranges = np.full(self.rays, NOTHING)
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
        self._rays.cast(data, self._ranges)
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


class Sensing:
    """
    Scanners and noise of a whole world.  Everything here needs the engine's lock.

    :ivar lidars: the planar scanners of each articulation.
    :ivar point_lidars: its 3-D lidars, which are cast when they are sent.
    :ivar has_sensors: whether there is anything to finish after a step.
    """

    def __init__(
        self,
        lidars: Mapping[str, list[RayScanner]],
        noises: Iterable[SensorNoise] = (),
        point_lidars: Mapping[str, list[PointLidar]] = MappingProxyType({}),
    ) -> None:
        self.lidars = lidars
        self.point_lidars = point_lidars
        self._lidars = [lidar for group in lidars.values() for lidar in group]
        self._noises = list(noises)
        self.has_sensors = bool(self._lidars or self._noises)

    def after_step(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Finish the sensors of a sub-step."""
        for lidar in self._lidars:
            if lidar.due(data.time):
                lidar.update(model, data)
            else:
                lidar.restore(data)
        for noise in self._noises:
            noise.draw()
            noise.add(data)

    def after_forward(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
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
        ranges = [lidar.noise for lidar in self._lidars]
        ranges += [lidar.noise for group in self.point_lidars.values() for lidar in group]
        for noise in (*ranges, *self._noises):
            if noise is not None:
                noise.restart(seed)
