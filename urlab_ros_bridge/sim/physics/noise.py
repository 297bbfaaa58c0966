# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Noise on sensors, seeded.

Noise is added to MjData's sensordata after each sub-step, so every face of the simulation reads
the same disturbed value; states, poses and ground truth stay exact, and so does the physics. Each
sub-step rewrites the sensors, so nothing adds up.  The same seed, world and requests give the same
values; `reset` with a seed starts the sequence again.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
import math
import zlib

import mujoco
import numpy as np

from urlab_ros_bridge.model import Sensor
from urlab_ros_bridge.sim.model.sidecar.specs import NoiseSpec

NOTHING = -1.0  # a lidar's "no return"
_QUATERNIONS = (int(mujoco.mjtSensor.mjSENS_FRAMEQUAT), int(mujoco.mjtSensor.mjSENS_BALLQUAT))


class SensorNoise:
    """
    Noise on the sensors of one articulation, scanners excepted.

    The offset of a value is its bias plus white noise.  A bias is drawn at each reset and then
    walks randomly.  A quaternion is turned by the offset, a rotation vector in rad in the sensor's
    own frame.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        sensors: Mapping[str, Sensor],
        specs: dict[str, NoiseSpec],
        seed: tuple[int, str],
    ) -> None:
        """
        Prepare the noise of `specs`, whose names are in `sensors`.

        :param seed: a number, and a name that separates this sequence from others with that
            number.
        """
        self._timestep = model.opt.timestep
        self._name = zlib.crc32(seed[1].encode())
        self._lay_out(model, sensors, specs)
        every = [(spec, sensors[n].slots) for n, spec in specs.items()]
        self._steps = [(place, spec.resolution) for spec, place in every if spec.resolution > 0]
        self._drops = [(place, spec.dropout) for spec, place in every if spec.dropout > 0]
        self._held: dict[int, np.ndarray] = {}
        self._dropped: set[int] = set()
        self.restart(seed[0])

    def _lay_out(
        self, model: mujoco.MjModel, sensors: Mapping[str, Sensor], specs: dict[str, NoiseSpec]
    ) -> None:
        """Assign a column to each disturbed number, three to a quaternion."""
        self._quats: list[tuple[slice, slice]] = []
        plain: list[int] = []
        columns: list[tuple[float, ...]] = []
        for name, spec in specs.items():
            sensor = sensors[name]
            slots = list(range(sensor.address, sensor.address + sensor.dim))
            if model.sensor_type[sensor.id] in _QUATERNIONS:
                turn = slice(len(plain), len(plain) + 3)
                self._quats.append((sensor.slots, turn))
                slots = [-1] * 3
            plain += slots
            columns += [(spec.stddev, spec.relative, spec.bias, spec.walk)] * len(slots)
        slots_of_columns = np.array(plain, dtype=np.intp)
        self._columns = np.flatnonzero(slots_of_columns >= 0)
        self._slots = slots_of_columns[self._columns]
        self._stddev, self._relative, self._spread, self._walk = np.array(columns).T.copy()
        self._bias, self._white = np.zeros(len(plain)), np.zeros(len(plain))

    def restart(self, seed: int | None) -> None:
        """Begin a new run: a new sequence when there is a seed, and new biases."""
        if seed is not None:
            self._random = np.random.default_rng([seed, self._name])
        self._bias = self._spread * self._random.standard_normal(len(self._spread))
        self._held.clear()
        self.draw()

    def resume(self, others: Iterable[SensorNoise]) -> None:
        """Restore the noise of the same articulation from the replaced world."""
        for other in others:
            if other._name == self._name and len(other._bias) == len(self._bias):
                self._random, self._timestep = other._random, other._timestep
                self._bias, self._white = other._bias, other._white
                self._held, self._dropped = other._held, other._dropped

    def draw(self) -> None:
        """Draw the noise of the next sub-step."""
        random = self._random
        random.standard_normal(out=self._white)
        if self._walk.any():
            step = self._walk * math.sqrt(self._timestep)
            self._bias += step * random.standard_normal(len(step))
        self._dropped = {
            index for index, (_, share) in enumerate(self._drops) if random.random() < share
        }

    def add(self, data: mujoco.MjData) -> None:
        """Disturb what MuJoCo has just computed; the same draw gives the same again."""
        values, slots, columns = data.sensordata, self._slots, self._columns
        truth = values[slots]
        spread = self._stddev[columns] + self._relative[columns] * np.abs(truth)
        values[slots] = truth + self._bias[columns] + spread * self._white[columns]
        for place, column in self._quats:
            turn = self._bias[column] + self._stddev[column] * self._white[column]
            values[place] = _turned(values[place], turn)
        for place, resolution in self._steps:
            values[place] = np.round(values[place] / resolution) * resolution
        for index, (place, _) in enumerate(self._drops):
            if index in self._dropped and index in self._held:
                values[place] = self._held[index]
            else:
                self._held[index] = values[place].copy()


class RangeNoise:
    """Noise on the ranges of one scanner, redrawn for each scan; lost rays become -1."""

    def __init__(self, spec: NoiseSpec, range_max: float, seed: tuple[int, str]) -> None:
        self._spec = spec
        self._range_max = range_max
        self._name = zlib.crc32(seed[1].encode())
        self.restart(seed[0])

    def restart(self, seed: int | None) -> None:
        """Begin a new run: a new sequence when there is a seed, and a new bias."""
        if seed is not None:
            self._random = np.random.default_rng([seed, self._name])
        self._bias = self._spec.bias * self._random.standard_normal()
        self._walked = 0.0

    def distort(self, ranges: np.ndarray, elapsed: float) -> None:
        """
        Disturb a fresh scan in place: m, -1 = nothing.

        :param elapsed: sim seconds since the scan before.
        """
        spec, random = self._spec, self._random
        self._walked += spec.walk * math.sqrt(max(elapsed, 0.0)) * random.standard_normal()
        white = random.standard_normal(len(ranges))
        lost = random.random(len(ranges)) < spec.dropout
        hit = ranges != NOTHING
        noisy = ranges + self._bias + self._walked + (spec.stddev + spec.relative * ranges) * white
        if spec.resolution > 0:
            noisy = np.round(noisy / spec.resolution) * spec.resolution
        np.maximum(noisy, 0.0, out=noisy)
        ranges[hit] = noisy[hit]
        ranges[hit & (lost | (noisy > self._range_max))] = NOTHING


def _turned(quat: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return quat (wxyz) times the rotation vector `turn` (rad)."""
    small, result = np.empty(4), np.empty(4)
    angle = float(np.linalg.norm(turn))
    if angle == 0.0:
        return quat
    mujoco.mju_axisAngle2Quat(small, turn / angle, angle)
    mujoco.mju_mulQuat(result, quat, small)
    return result
