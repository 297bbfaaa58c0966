# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The twist controller that holds a command: limited, ramped, timed out and visible."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import ClassVar

import mujoco
import numpy as np

from urlab_ros_bridge.sim.model.sidecar.twists import TwistSection
from urlab_ros_bridge.sim.physics.wall_timeout import WallTimeout
from urlab_ros_bridge.wire.errors import UrlabError


class BadTwist(UrlabError, ValueError):
    """A twist or its timeout is not finite, or the timeout is not positive."""


class TwistController:
    """
    Holds a twist (vx, vy in m/s, yaw rate in rad/s, in the base frame) for the drive.

    The target is clamped to the limits.  The value moves to it on a straight line in twist space,
    no faster than either acceleration limit permits, so a robot starts and stops along the arc
    that was asked for.  All times are sim seconds.  This class drives nothing: the value is shown
    in rows and observations, as that of the stock plugin, and a policy acts on it.

    :ivar active: the value changes or is not zero, so `apply` has something to do.
    :ivar value: (vx, vy, yaw rate) commanded right now, after ramping.
    :ivar actions: bit field of the protocol's `actions` row; no twist controller here has any.
    """

    drives: ClassVar[bool] = False
    """Whether it writes setpoints of actuators."""
    needs_controller: ClassVar[bool] = False
    """Whether these are for the robot's controller: without it, they would be wrong."""

    def __init__(self, spec: TwistSection) -> None:
        self.spec = spec
        limits = spec.limits
        self._bounds = (limits.linear, limits.lateral, limits.angular)
        self.actions = 0
        self.reset()

    @property
    def actuators(self) -> list[str]:
        """Return the local names of the actuators that it drives; none: it holds the command."""
        return []

    @property
    def wheel_matrix(self) -> list[list[float]]:
        """Return the kinematics of its wheels, see `DriveTwist.wheel_matrix`; here it has none."""
        return []

    def reset(self) -> None:
        """Forget command, ramp and timeout; actuators are released as they are."""
        self.active = False
        self.value = (0.0, 0.0, 0.0)
        self._target = (0.0, 0.0, 0.0)
        self._deadline = math.inf
        self._wall: WallTimeout | None = None
        self._time = -math.inf

    def resume(self, other: TwistController) -> None:
        """Restore the command of the same robot from the world that this one replaces."""
        self.active, self.value, self.actions = other.active, other.value, other.actions
        self._target, self._deadline, self._time = other._target, other._deadline, other._time
        self._wall = other._wall

    def set(
        self,
        linear: Sequence[float],
        angular: Sequence[float],
        now: float,
        timeout: float | None = None,
        wall: WallTimeout | None = None,
    ) -> tuple[float, float, float]:
        """
        Command a twist at sim time `now` and return what the limits leave of it.

        linear: m/s, the first two slots count; angular: rad/s, the third slot counts; missing
            slots are 0.
        timeout: sim seconds after which the target becomes zero unless a new twist came; None
            takes the sidecar's timeout, without one the twist holds.
        wall: ends the twist when simulated time is frozen for too long; None: it waits.

        Raises
        ------
        BadTwist
            A value is not finite or the timeout is not a positive number; nothing changes.
        """
        wanted = [
            _slot('linear', linear, 0),
            _slot('linear', linear, 1),
            _slot('angular', angular, 2),
        ]
        timeout = self.spec.timeout if timeout is None else timeout
        if timeout is not None and not 0.0 < timeout < math.inf:
            raise BadTwist(f'timeout must be a positive number of seconds, not {timeout!r}')
        clamped = [
            min(max(part, -bound), bound) for part, bound in zip(wanted, self._bounds, strict=True)
        ]
        scale = self._within_reach(clamped)
        self._target = (clamped[0] * scale, clamped[1] * scale, clamped[2] * scale)
        self._deadline = math.inf if timeout is None else now + timeout
        self._wall = wall
        self._activate(now)
        self._ramp(0.0)
        return self._target

    def stop(self, now: float) -> None:
        """Ramp down to rest from sim time `now` on."""
        self._target = (0.0, 0.0, 0.0)
        self._deadline = math.inf
        self._wall = None
        if self.active:
            self._activate(now)

    def on_time_frozen(self, since: float, until: float) -> None:
        """Stop the base if the sender may have disconnected (s by time.monotonic)."""
        if self._wall is not None and self._wall.is_exceeded(since, until):
            self._wall = None
            self._target = (0.0, 0.0, 0.0)

    def apply(self, time: float, data: mujoco.MjData, setpoint: np.ndarray) -> None:
        """
        Bring the command to the step that begins at `time`.

        Call it before every sub-step while it is active.

        :param setpoint: (nu_local,), of the robot's actuators; a drive writes those it owns.
        """
        self.advance(time)

    def advance(self, time: float) -> None:
        """Time out and ramp; at rest it is no longer active."""
        if time >= self._deadline:
            self._target = (0.0, 0.0, 0.0)
        self._ramp(max(time - self._time, 0.0))
        self._time = time
        self.active = any(self._target) or any(self.value)

    def limits(self) -> dict[str, float]:
        """Return the limits that exist, as in the handshake: m, s and rad."""
        limits = self.spec.limits
        named = {
            'linear': limits.linear,
            'lateral': limits.lateral,
            'angular': limits.angular,
            'linear_acceleration': limits.linear_acceleration,
            'angular_acceleration': limits.angular_acceleration,
        }
        return {name: value for name, value in named.items() if math.isfinite(value)}

    def _activate(self, now: float) -> None:
        if not self.active:
            self._time = now
            self.active = True

    def _ramp(self, elapsed: float) -> None:
        """Move the value towards the target by at most what `elapsed` seconds permit."""
        if self.value == self._target:
            return
        gap = [target - value for target, value in zip(self._target, self.value, strict=True)]
        limits = self.spec.limits
        fraction = min(
            _share(limits.linear_acceleration, elapsed, math.hypot(gap[0], gap[1])),
            _share(limits.angular_acceleration, elapsed, abs(gap[2])),
        )
        if fraction >= 1.0:
            self.value = self._target
        else:
            value = self.value
            self.value = (
                value[0] + fraction * gap[0],
                value[1] + fraction * gap[1],
                value[2] + fraction * gap[2],
            )

    def _within_reach(self, twist: Sequence[float]) -> float:
        """Return the factor <= 1 that keeps the twist within what the drive can do."""
        return 1.0


def _slot(field: str, values: Sequence[float], index: int) -> float:
    value = float(values[index]) if index < len(values) else 0.0
    if not math.isfinite(value):
        raise BadTwist(f'{field}[{index}] must be finite, not {value}')
    return value


def _share(acceleration: float, elapsed: float, distance: float) -> float:
    """Return which share of `distance` an acceleration covers in the time, 1 if all of it."""
    if distance == 0.0 or math.isinf(acceleration):
        return 1.0
    return min(1.0, acceleration * elapsed / distance)
