# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The terms of an observation.

Names follow Isaac Lab's `mdp.observations` where it has the term.  All are in the frame
of the base (x forward, y left, z up), in m, s and rad.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
import math

import numpy as np

IMU = 'imu'
ODOMETRY = 'odometry'
JOINTS = 'joint_states'


@dataclass(slots=True)
class Reading:
    """
    Sensor readings at one instant.

    :ivar stamp_ns: time of the readings.
    :ivar positions: (n,), rad or m, of the observed joints; `velocities` likewise.
    :ivar angular_velocity: (3,), rad/s, in the base frame.
    :ivar gravity: (3,), unit vector that points down, in the base frame.
    :ivar linear_velocity: (3,), m/s, in the base frame; zero where it is not measured.
    :ivar driven: (m,), positions of the joints that the policy moves.
    """

    stamp_ns: int
    positions: np.ndarray
    velocities: np.ndarray
    driven: np.ndarray
    angular_velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -1.0]))
    linear_velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))


@dataclass(slots=True)
class PolicyInputs:
    """
    The inputs of all terms.

    :ivar command: (3,), m/s, m/s, rad/s: commanded velocity of the base.
    :ivar default_pose: (n,), of the observed joints.
    :ivar last_action: (m,), output of the model one step ago.
    :ivar seconds: time since the policy started to move the robot.
    """

    reading: Reading
    command: np.ndarray
    default_pose: np.ndarray
    last_action: np.ndarray
    seconds: float


def _phase(inputs: PolicyInputs, period: float) -> np.ndarray:
    angle = 2.0 * math.pi * (inputs.seconds / period)
    return np.array([math.sin(angle), math.cos(angle)])


@dataclass(frozen=True, slots=True)
class Term:
    """
    One term.

    :ivar text: description, for the documentation.
    :ivar size: number of values, from the counts of observed and of driven joints.
    :ivar value: returns the values, from the inputs and the period of the phase (s).
    :ivar needs: the sensor that it requires.
    """

    text: str
    size: Callable[[int, int], int]
    value: Callable[[PolicyInputs, float], np.ndarray]
    needs: str = JOINTS


def _three(observed: int, driven: int) -> int:
    return 3


def _observed(observed: int, driven: int) -> int:
    return observed


TERMS: dict[str, Term] = {
    'base_lin_vel': Term(
        'linear velocity of the base, from `odom`',
        _three, lambda inputs, _: inputs.reading.linear_velocity, ODOMETRY,
    ),
    'base_ang_vel': Term(
        'angular velocity of the base, from `imu/data`',
        _three, lambda inputs, _: inputs.reading.angular_velocity, IMU,
    ),
    'projected_gravity': Term(
        'unit vector that points down, from the orientation in `imu/data`',
        _three, lambda inputs, _: inputs.reading.gravity, IMU,
    ),
    'velocity_commands': Term(
        'commanded vx, vy (m/s) and yaw rate (rad/s), from `cmd_vel`',
        _three, lambda inputs, _: inputs.command,
    ),
    'joint_pos': Term(
        'positions of the joints', _observed, lambda inputs, _: inputs.reading.positions,
    ),
    'joint_pos_rel': Term(
        'positions of the joints less `default_pose`',
        _observed, lambda inputs, _: inputs.reading.positions - inputs.default_pose,
    ),
    'joint_vel': Term(
        'velocities of the joints', _observed, lambda inputs, _: inputs.reading.velocities,
    ),
    'last_action': Term(
        'output of the model one step ago, after `action.clip`; zeros at first',
        lambda _, driven: driven, lambda inputs, _: inputs.last_action,
    ),
    'phase': Term(
        'sine and cosine of a clock with the `period` of the term, from the first step on',
        lambda _, __: 2, _phase,
    ),
}  # fmt: skip

__all__ = ['IMU', 'JOINTS', 'ODOMETRY', 'TERMS', 'PolicyInputs', 'Reading', 'Term']
