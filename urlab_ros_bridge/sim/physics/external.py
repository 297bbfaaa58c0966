# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
What acts on a world for a limited simulation time: wrenches on bodies, setpoints that expire.

Wrenches are put into xfrc_applied for the length of one sub-step and removed again, so they add
to those of a step request and nothing is left behind.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

import mujoco
import numpy as np

from urlab_ros_bridge.sim.physics.wall_timeout import WallTimeout

# More of them cannot be meant; each costs time in every sub-step.
MAX_WRENCHES = 1000
# Of a pull: natural frequency (rad/s), critically damped; largest acceleration (m/s^2); and how
# fast (1/s) and how far (m/s^2) a standing error is made good.
PULL_FREQUENCY = 12.0
PULL_ACCELERATION = 40.0
PULL_BIAS_RATE = 1.5
PULL_BIAS = 40.0


@dataclass(slots=True)
class Wrench:
    """
    A force and torque on a body, at its centre of mass.

    :ivar wrench: force (N) and torque (N m), shape (6,).
    :ivar in_body: it turns with the body; else it is in the world's frame.
    :ivar until: last simulation time (s) at which a sub-step with it begins.
    :ivar name: a new wrench of the same name on the same body takes its place; '' adds up.
    :ivar wall: ends it when time is frozen for too long; None: it waits.
    """

    body: int
    wrench: np.ndarray
    in_body: bool
    until: float
    name: str = ''
    wall: WallTimeout | None = None


@dataclass(slots=True)
class Pull(Wrench):
    """
    A damped spring from a point of a body to a place; its `wrench` is computed in every sub-step.

    :ivar point: in the frame of the body, m; `target` in the world.
    :ivar mass: effective mass of the body at the point, kg (`effective_mass`).
    :ivar bias: acceleration (m/s^2) that friction and gravity have been found to need.
    """

    point: np.ndarray = field(default_factory=lambda: np.zeros(3))
    target: np.ndarray = field(default_factory=lambda: np.zeros(3))
    mass: float = 1.0
    bias: np.ndarray = field(default_factory=lambda: np.zeros(3))


@dataclass(slots=True)
class ExpiringSetpoint:
    """
    A setpoint that becomes zero.

    :ivar slot: array of setpoints, and `index` in it.
    :ivar until: simulation time (s).
    :ivar wall: makes it zero when time is frozen for too long; None: it waits.
    """

    slot: np.ndarray
    index: int
    until: float
    wall: WallTimeout | None = None


class ExternalActions:
    """
    The wrenches and lapsing setpoints of one world.  Everything needs the engine's lock.

    :ivar active: there are any; while there are none they cost nothing.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self.active = False
        self._model = model
        self._data = data
        self._wrenches: list[Wrench] = []
        self._expiring: dict[tuple[int, int], ExpiringSetpoint] = {}
        self._saved: list[tuple[int, np.ndarray]] = []

    def apply(self, wrench: Wrench) -> bool:
        """Add a wrench, or replace that of its name; return whether there was room."""
        self._wrenches = [
            each
            for each in self._wrenches
            if not (wrench.name and (each.name, each.body) == (wrench.name, wrench.body))
        ]
        if len(self._wrenches) >= MAX_WRENCHES:
            return False
        self._wrenches.append(wrench)
        self.active = True
        return True

    def pull(self, pull: Pull) -> bool:
        """Add a pull, or move the target of that of its name; return whether there was room."""
        for each in self._wrenches:
            if isinstance(each, Pull) and (each.name, each.body) == (pull.name, pull.body):
                pull.bias = each.bias
        return self.apply(pull)

    def effective_mass(self, body: int, point: np.ndarray) -> float:
        """
        Return the mass that a force at a point of a body has to move, kg; inf for none that moves.

        :param point: in the world, m.
        """
        jacobian = np.zeros((3, self._model.nv))
        mujoco.mj_jac(self._model, self._data, jacobian, None, point, body)
        moved = np.zeros_like(jacobian)
        mujoco.mj_solveM(self._model, self._data, moved, jacobian)
        mobility = float(np.einsum('ij,ij->', jacobian, moved))
        return 3.0 / mobility if mobility > 1e-9 else np.inf

    def expire_setpoints(
        self,
        slot: np.ndarray,
        indices: Iterable[int],
        until: float | None,
        wall: WallTimeout | None = None,
    ) -> None:
        """
        Make setpoints zero after some time.

        :param slot: array of setpoints, `indices` of it.
        :param until: simulation time (s); None: they hold.
        :param wall: makes them zero when time is frozen for too long; None: they wait.
        """
        for index in indices:
            key = (id(slot), index)
            self._expiring.pop(key, None)
            if until is not None:
                self._expiring[key] = ExpiringSetpoint(
                    slot, index, until, replace(wall) if wall else None
                )
        self.active = bool(self._wrenches or self._expiring)

    def resume(
        self,
        other: ExternalActions,
        bodies: Mapping[int, int],
        slots: Iterable[tuple[np.ndarray, np.ndarray]],
    ) -> None:
        """
        Restore what acts on the world that this one replaces.

        :param bodies: number of a body there -> here; other bodies no longer exist.
        :param slots: arrays of setpoints: there, here.
        """
        for wrench in other._wrenches:
            if wrench.body in bodies:
                self._wrenches.append(replace(wrench, body=bodies[wrench.body]))
        here = {id(old): new for old, new in slots}
        for (array, index), setpoint in other._expiring.items():
            if array in here:
                self.expire_setpoints(here[array], [index], setpoint.until, setpoint.wall)
        self.active = bool(self._wrenches or self._expiring)

    def expire(self) -> None:
        """End everything now, as if its time had come."""
        for setpoint in self._expiring.values():
            setpoint.slot[setpoint.index] = 0.0
        self.clear()

    def on_time_frozen(self, since: float, until: float) -> None:
        """End commands whose sender may have disconnected (s by time.monotonic)."""
        self._wrenches = [
            wrench
            for wrench in self._wrenches
            if not (wrench.wall and wrench.wall.is_exceeded(since, until))
        ]
        for setpoint in self._expiring.values():
            if setpoint.wall and setpoint.wall.is_exceeded(since, until):
                setpoint.until = -np.inf

    def drop(self, bodies: Iterable[int]) -> None:
        """End the wrenches on some bodies (ids)."""
        dropped = set(bodies)
        self._wrenches = [wrench for wrench in self._wrenches if wrench.body not in dropped]
        self.active = bool(self._wrenches or self._expiring)

    def clear(self) -> None:
        """Forget everything: after a reset."""
        self._wrenches.clear()
        self._expiring.clear()
        self.active = False

    def begin(self) -> None:
        """Set up the sub-step that begins now, before its controls."""
        now = self._data.time
        for key, setpoint in list(self._expiring.items()):
            if now >= setpoint.until:
                setpoint.slot[setpoint.index] = 0.0
                del self._expiring[key]
        self._wrenches = [wrench for wrench in self._wrenches if now <= wrench.until]
        applied = self._data.xfrc_applied
        for wrench in self._wrenches:
            self._saved.append((wrench.body, applied[wrench.body].copy()))
            applied[wrench.body] += self._in_world(wrench)
        self.active = bool(self._wrenches or self._expiring)

    def end(self) -> None:
        """Remove the wrenches after the sub-step."""
        while self._saved:
            body, before = self._saved.pop()
            self._data.xfrc_applied[body] = before

    def _pull(self, pull: Pull) -> np.ndarray:
        """Return the wrench of a pull at the centre of mass, in the world."""
        data, body = self._data, pull.body
        velocity = np.zeros(6)  # rotation, translation
        mujoco.mj_objectVelocity(
            self._model, data, int(mujoco.mjtObj.mjOBJ_XBODY), body, velocity, 0
        )
        arm = data.xmat[body].reshape(3, 3) @ pull.point
        place = data.xpos[body] + arm
        moving = velocity[3:] + np.cross(velocity[:3], arm)
        error = pull.target - place
        spring = limited(PULL_FREQUENCY**2 * error, PULL_ACCELERATION)
        if np.linalg.norm(spring) < PULL_ACCELERATION:  # near: what remains is a standing error
            rate = PULL_BIAS_RATE * PULL_FREQUENCY**2 * self._model.opt.timestep
            pull.bias = limited(pull.bias + rate * error, PULL_BIAS)
        force = pull.mass * (spring + pull.bias - 2.0 * PULL_FREQUENCY * moving)
        return np.concatenate([force, np.cross(place - data.xipos[body], force)])

    def _in_world(self, wrench: Wrench) -> np.ndarray:
        if isinstance(wrench, Pull):
            return self._pull(wrench)
        if not wrench.in_body:
            return wrench.wrench
        rotation = self._data.xmat[wrench.body].reshape(3, 3)
        return np.concatenate([rotation @ wrench.wrench[:3], rotation @ wrench.wrench[3:]])


def limited(vector: np.ndarray, longest: float) -> np.ndarray:
    """Return a vector, shortened where it is longer than allowed."""
    length = float(np.linalg.norm(vector))
    return vector if length <= longest else vector * (longest / length)
