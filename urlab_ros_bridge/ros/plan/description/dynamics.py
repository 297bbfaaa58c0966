# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Masses, limits and couplings of a robot, from the reading of its model.

The effort limit of a joint is the largest effort that its actuators can hold it with at rest, at
any position within its limits: control and activation go through gain and bias, the force is
bounded by the actuator's forcerange, and gears (or the coefficients of a fixed tendon) lead it to
the joint, whose actuatorfrcrange bounds the sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import math

import numpy as np

from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.model import Actuator
from urlab_ros_bridge.model import Body
from urlab_ros_bridge.model import Joint
from urlab_ros_bridge.model import WorldModel
from urlab_ros_bridge.model.elements import Range
from urlab_ros_bridge.model.elements import UNLIMITED

# Written where the model sets no limit, since URDF demands one: N m or N, and m.
NO_EFFORT_LIMIT = 1000.0
NO_TRAVEL_LIMIT = 1000.0


@dataclass(frozen=True, slots=True)
class Inertial:
    """
    What a body weighs.

    :ivar com: centre of mass in the frame of the body (m).
    :ivar inertia: about it, along the axes of the body (kg m^2): xx, xy, xz, yy, yz, zz.
    """

    mass: float
    com: tuple[float, float, float]
    inertia: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class UrdfLimits:
    """Range (rad or m), largest effort (N m or N) and speed (rad/s or m/s) of a joint."""

    lower: float
    upper: float
    effort: float
    velocity: float


@dataclass(frozen=True, slots=True)
class Mimic:
    """A joint that follows another (id in the model): multiplier * position + offset."""

    joint: int
    multiplier: float
    offset: float


def inertial_of(body: Body) -> Inertial | None:
    """Return mass and inertia of a body; None when it has no mass."""
    if body.mass <= 0.0:
        return None
    turn = matrix_of(body.inertial.orientation)
    tensor = turn @ np.diag(body.inertia) @ turn.T
    values = tuple(float(tensor[i, j]) for i in range(3) for j in range(i, 3))
    return Inertial(body.mass, body.inertial.position, values)


class JointDynamics:
    """Limits of the scalar joints of one model, and what drives them."""

    def __init__(self, world: WorldModel, velocity_limit: float) -> None:
        """
        Read what drives the joints.

        :param velocity_limit: rad/s or m/s, for joints whose actuators set none.
        """
        self._world = world
        self._velocity_limit = velocity_limit
        self._drives: dict[int, list[Actuator]] = {}
        pulled: dict[int, list[Actuator]] = {}
        for actuator in world.actuators:
            if actuator.joint_id >= 0:
                self._drives.setdefault(actuator.joint_id, []).append(actuator)
            elif actuator.tendon_id >= 0:
                pulled.setdefault(actuator.tendon_id, []).append(actuator)
        # Joint -> what its fixed tendons do to it.
        self._pulls: dict[int, list[Range]] = {}
        for tendon, actuators in pulled.items():
            force = self._tendon_force(tendon, actuators)
            for joint, coefficient in world.tendons[tendon].joints.items():
                self._pulls.setdefault(joint, []).append(_scaled(force, coefficient))

    def limits(self, joint: int) -> UrdfLimits:
        """Return the limits of a hinge or slide joint."""
        element = self._world.joints[joint]
        lower, upper = -NO_TRAVEL_LIMIT, NO_TRAVEL_LIMIT
        if element.limited:
            lower, upper = element.range
        return UrdfLimits(lower, upper, self._effort(element), self._velocity(element))

    def friction(self, joint: int) -> tuple[float, float]:
        """Return damping (N m s/rad or N s/m) and static friction (N m or N)."""
        element = self._world.joints[joint]
        return element.damping, element.friction

    def _effort(self, joint: Joint) -> float:
        """Return the largest effort at a joint, or the value for no limit."""
        forces = list(self._pulls.get(joint.id, ()))
        for actuator in self._drives.get(joint.id, ()):
            length = _scaled(joint.range, actuator.gear)
            forces.append(_scaled(_force(actuator, length), actuator.gear))
        total = _sum(forces) if forces else UNLIMITED
        largest = max(map(abs, _within(total, joint.effort_range)))
        return largest if math.isfinite(largest) else NO_EFFORT_LIMIT

    def _tendon_force(self, tendon: int, actuators: list[Actuator]) -> Range:
        element = self._world.tendons[tendon]
        parts = [_scaled(self._world.joints[j].range, c) for j, c in element.joints.items()]
        length = _sum(parts)
        forces = [_scaled(_force(a, _scaled(length, a.gear)), a.gear) for a in actuators]
        return _within(_sum(forces), element.force_range)

    def _velocity(self, joint: Joint) -> float:
        """Return the largest setpoint of velocity servos."""
        found = []
        for actuator in self._drives.get(joint.id, ()):
            _, stiffness, braking = actuator.bias_params
            is_servo = actuator.bias == 'affine' and not stiffness and braking
            largest = max(map(abs, actuator.control_range))
            if is_servo and math.isfinite(largest) and actuator.gear:
                gain = abs(actuator.gain_params[0] / braking)
                found.append(largest * gain / abs(actuator.gear))
        return max(found) if found else self._velocity_limit


def _force(actuator: Actuator, length: Range) -> Range:
    """
    Return the force that an actuator can have at rest, before its gear.

    :param length: of its transmission.
    """
    force = UNLIMITED
    if actuator.gain in ('fixed', 'affine') and actuator.bias in ('none', 'affine'):
        force = _scaled(_input(actuator), actuator.gain_params[0])
        if actuator.gain == 'affine' and actuator.gain_params[1]:
            force = UNLIMITED
        if actuator.bias == 'affine':
            constant, slope, _ = actuator.bias_params
            force = _sum([force, (constant, constant), _scaled(length, slope)])
    return _within(force, actuator.force_range)


def _input(actuator: Actuator) -> Range:
    """Return what the gain of an actuator can be multiplied with: control or activation."""
    if actuator.dynamics == 'none':
        return actuator.control_range
    if actuator.dynamics in ('filter', 'filterexact'):
        # The activation follows the control, and has been at 0.
        low, high = actuator.control_range
        return _within((min(low, 0.0), max(high, 0.0)), actuator.activation_range)
    return actuator.activation_range


def _scaled(values: Range, factor: float) -> Range:
    if not factor:
        return 0.0, 0.0
    one, two = values[0] * factor, values[1] * factor
    return min(one, two), max(one, two)


def _sum(parts: Iterable[Range]) -> Range:
    lows, highs = zip(*parts, strict=True)
    return math.fsum(lows), math.fsum(highs)


def _within(values: Range, bounds: Range) -> Range:
    """Return a range with both ends moved into the bounds."""
    low, high = bounds
    return min(max(values[0], low), high), min(max(values[1], low), high)


def mimics(world: WorldModel) -> dict[int, Mimic]:
    """
    Return the joints that an equality constraint ties to another by a straight line.

    A joint whose leader follows in turn is left out: few readers of URDF resolve chains.
    """
    found: dict[int, Mimic] = {}
    for coupling in world.couplings:
        offset, slope, *higher = coupling.coefficients
        if any(higher) or not coupling.active or not slope or coupling.follower in found:
            continue
        zero = world.joints[coupling.follower].zero
        leader_zero = world.joints[coupling.leader].zero
        found[coupling.follower] = Mimic(
            coupling.leader, slope, zero + offset - slope * leader_zero
        )
    return {joint: mimic for joint, mimic in found.items() if mimic.joint not in found}
