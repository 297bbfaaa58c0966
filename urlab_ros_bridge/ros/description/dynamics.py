# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Masses, limits and couplings of a robot, from the compiled model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.convert.frame_tree import enumeration
from urlab_ros_bridge.ros.description.spatial import Pose
from urlab_ros_bridge.ros.description.spatial import pose_of

# Written where the model sets no limit, since URDF demands one: N m or N, rad/s or m/s, and m.
NO_EFFORT_LIMIT = 1000.0
NO_VELOCITY_LIMIT = 1000.0
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
class Limits:
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


def inertial_of(model: Any, body: int) -> Inertial | None:
    """Return mass and inertia of a body; None when it has no mass."""
    mass = float(model.body_mass[body])
    if mass <= 0.0:
        return None
    pose = pose_of(model.body_ipos[body], model.body_iquat[body])
    turn = _matrix(pose)
    tensor = turn @ np.diag(model.body_inertia[body]) @ turn.T
    values = tuple(float(tensor[i, j]) for i in range(3) for j in range(i, 3))
    return Inertial(mass, pose.position, values)


def _matrix(pose: Pose) -> np.ndarray:
    x, y, z, w = pose.orientation
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


class JointDynamics:
    """Limits of the scalar joints of one model, and what drives them."""

    def __init__(self, model: Any) -> None:
        self._model = model
        transmissions = enumeration(model, 'mjtTrn')
        own = (int(transmissions.mjTRN_JOINT), int(transmissions.mjTRN_JOINTINPARENT))
        self._drives: dict[int, list[int]] = {}
        for actuator in range(model.nu):
            if int(model.actuator_trntype[actuator]) in own:
                joint = int(model.actuator_trnid[actuator][0])
                self._drives.setdefault(joint, []).append(actuator)
        self._affine = int(enumeration(model, 'mjtBias').mjBIAS_AFFINE)
        self._fixed_gain = int(enumeration(model, 'mjtGain').mjGAIN_FIXED)

    def limits(self, joint: int) -> Limits:
        """Return the limits of a hinge or slide joint."""
        model = self._model
        lower, upper = -NO_TRAVEL_LIMIT, NO_TRAVEL_LIMIT
        if model.jnt_limited[joint]:
            lower, upper = (float(bound) for bound in model.jnt_range[joint])
        return Limits(lower, upper, self._effort(joint), self._velocity(joint))

    def friction(self, joint: int) -> tuple[float, float]:
        """Return damping (N m s/rad or N s/m) and static friction (N m or N)."""
        first = int(self._model.jnt_dofadr[joint])
        return float(self._model.dof_damping[first]), float(self._model.dof_frictionloss[first])

    def _effort(self, joint: int) -> float:
        model = self._model
        found = []
        if model.jnt_actfrclimited[joint]:
            found.append(_largest(model.jnt_actfrcrange[joint]))
        forces = [self._force(actuator) for actuator in self._drives.get(joint, [])]
        if forces and None not in forces:
            found.append(sum(forces))
        return min(found) if found else NO_EFFORT_LIMIT

    def _force(self, actuator: int) -> float | None:
        """Return the largest effort of one actuator at its joint; None: there is no limit."""
        model = self._model
        gear = abs(float(model.actuator_gear[actuator][0]))
        found = []
        if model.actuator_forcelimited[actuator]:
            found.append(_largest(model.actuator_forcerange[actuator]) * gear)
        direct = not model.actuator_biastype[actuator] and not model.actuator_dyntype[actuator]
        gain_fixed = model.actuator_gaintype[actuator] == self._fixed_gain
        if direct and gain_fixed and model.actuator_ctrllimited[actuator]:
            gain = abs(float(model.actuator_gainprm[actuator][0]))
            found.append(_largest(model.actuator_ctrlrange[actuator]) * gain * gear)
        return min(found) if found else None

    def _velocity(self, joint: int) -> float:
        """Return the largest set-point of velocity servos."""
        model, found = self._model, []
        for actuator in self._drives.get(joint, []):
            bias = model.actuator_biasprm[actuator]
            is_servo = (
                model.actuator_biastype[actuator] == self._affine and not bias[1] and bias[2]
            )
            gear = abs(float(model.actuator_gear[actuator][0]))
            if is_servo and model.actuator_ctrllimited[actuator] and gear:
                gain = abs(float(model.actuator_gainprm[actuator][0] / bias[2]))
                found.append(_largest(model.actuator_ctrlrange[actuator]) * gain / gear)
        return max(found) if found else NO_VELOCITY_LIMIT


def mimics(model: Any) -> dict[int, Mimic]:
    """
    Return the joints that an equality constraint ties to another by a straight line.

    A joint whose leader follows in turn is left out: few readers of URDF resolve chains.
    """
    found: dict[int, Mimic] = {}
    kind = int(enumeration(model, 'mjtEq').mjEQ_JOINT)
    for index in range(model.neq):
        follower, leader = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
        offset, slope, *higher = (float(value) for value in model.eq_data[index][:5])
        if model.eq_type[index] != kind or leader < 0 or any(higher):
            continue
        if not model.eq_active0[index] or follower in found or not slope:
            continue
        zero, leader_zero = (
            float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (follower, leader)
        )
        found[follower] = Mimic(leader, slope, zero + offset - slope * leader_zero)
    return {joint: mimic for joint, mimic in found.items() if mimic.joint not in found}


def _largest(bounds: Any) -> float:
    return max(abs(float(bounds[0])), abs(float(bounds[1])))
