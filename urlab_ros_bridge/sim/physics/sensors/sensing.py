# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Processing of sensors after MuJoCo has computed them: scans are cast, noise is added."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping

import mujoco

from urlab_ros_bridge.sim.physics.sensors.lidar import RayScanner
from urlab_ros_bridge.sim.physics.sensors.noise import SensorNoise


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
