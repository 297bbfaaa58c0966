# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
How far joints may be from where they should be, on the way and at the end.

Numbers as in control_msgs/msg/JointTolerance: 0 is the default, a negative one means none.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.commands.trajectory.goal import BadGoal
from urlab_ros_bridge.ros.commands.trajectory.goal import INVALID_GOAL
from urlab_ros_bridge.ros.commands.trajectory.goal import INVALID_JOINTS
from urlab_ros_bridge.ros.commands.trajectory.goal import nanoseconds
from urlab_ros_bridge.ros.commands.trajectory.parameters import TrajectoryParameters
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.names import known_name


@dataclass(frozen=True)
class ErrorLimits:
    """Largest errors, shape (n,) each; infinite where there is no tolerance."""

    position: np.ndarray
    velocity: np.ndarray

    def violation(self, joints: Sequence[str], position: np.ndarray, velocity: np.ndarray) -> str:
        """Describe the worst error beyond the limits; empty when all are within."""
        for name, unit, error, limit in (
            ('position', '', position, self.position),
            ('velocity', '/s', velocity, self.velocity),
        ):
            beyond = ~(np.abs(error) <= limit)
            if beyond.any():
                worst = int(np.argmax(np.where(beyond, np.abs(error) - limit, -np.inf)))
                return (
                    f'{name} error of {joints[worst]} is {error[worst]:.4g}{unit}, '
                    f'tolerance {limit[worst]:.4g}{unit}'
                )
        return ''


@dataclass(frozen=True)
class Tolerances:
    """
    What one trajectory is held to.

    :ivar goal_time_ns: None: wait forever.
    """

    path: ErrorLimits
    goal: ErrorLimits
    goal_time_ns: int | None


def read_tolerances(
    goal: Any, joints: Sequence[str], defaults: TrajectoryParameters, prefix: str = ''
) -> Tolerances:
    """
    Read the tolerances of a FollowJointTrajectory goal.

    :raises BadGoal: for a joint that the trajectory does not name, NaN, or tolerances of joints
        with several degrees of freedom.
    """
    if goal.component_path_tolerance or goal.component_goal_tolerance:
        raise BadGoal(INVALID_GOAL, 'multi-DOF joints are not supported')
    paths, ends = defaults.trajectory_path_tolerance, defaults.trajectory_goal_tolerance
    stopped = defaults.trajectory_stopped_velocity_tolerance
    path = _limits(goal.path_tolerance, 'path_tolerance', joints, prefix, paths, 0.0)
    end = _limits(goal.goal_tolerance, 'goal_tolerance', joints, prefix, ends, stopped)
    time = nanoseconds(goal.goal_time_tolerance)
    if time == 0:
        time = round(defaults.trajectory_goal_time * 1e9) or -1
    return Tolerances(path, end, time if time > 0 else None)


def no_tolerances(count: int) -> Tolerances:
    """Return tolerances that everything is within."""
    free = ErrorLimits(np.full(count, math.inf), np.full(count, math.inf))
    return Tolerances(free, free, None)


def _limits(
    messages: Iterable[Any],
    field: str,
    joints: Sequence[str],
    prefix: str,
    position: float,
    velocity: float,
) -> ErrorLimits:
    positions = np.full(len(joints), position or math.inf)
    velocities = np.full(len(joints), velocity or math.inf)
    for message in messages:
        name = known_name(message.name, prefix, joints)
        if name not in joints:
            raise BadGoal(
                INVALID_JOINTS, f'{field} names {message.name!r}; {list_names("joint", joints)}'
            )
        index = list(joints).index(name)
        for values, wanted in ((positions, message.position), (velocities, message.velocity)):
            if math.isnan(wanted):
                raise BadGoal(INVALID_GOAL, f'{field} of {name} is {wanted}')
            if wanted:
                values[index] = wanted if wanted > 0 else math.inf
    return ErrorLimits(positions, velocities)
