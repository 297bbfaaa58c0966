# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories and tolerances of a goal, checked before anything moves."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from urlab_ros_bridge.ros.commands.admission import CommandRejected
from urlab_ros_bridge.ros.extras.trajectory.parameters import TrajectoryParameters
from urlab_ros_bridge.ros.extras.trajectory.spline import Points
from urlab_ros_bridge.wire.errors import list_names
from urlab_ros_bridge.wire.names import known_name
from urlab_ros_bridge.wire.stamp import NANOSECONDS

# rad or m; planners and URDF round.
LIMIT_TOLERANCE = 1e-3
# Result codes of control_msgs/action/FollowJointTrajectory.
SUCCESSFUL = 0
INVALID_GOAL = -1
INVALID_JOINTS = -2
OLD_HEADER_TIMESTAMP = -3
PATH_TOLERANCE_VIOLATED = -4
GOAL_TOLERANCE_VIOLATED = -5


class BadGoal(CommandRejected, ValueError):
    """A trajectory that is not followed; `code` is a result code of FollowJointTrajectory."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Path:
    """
    A checked trajectory.

    :ivar joints: local names, in the order of the columns of `points`.
    :ivar points: times count from the start.
    :ivar start_ns: simulation time of the start, 0: at once.
    """

    joints: tuple[str, ...]
    points: Points
    start_ns: int

    @property
    def duration_ns(self) -> int:
        """Return the time of the last point."""
        return int(self.points.times[-1])


def nanoseconds(duration: Any) -> int:
    """Return a ROS time or duration in ns."""
    return duration.sec * NANOSECONDS + duration.nanosec


def read_path(
    message: Any,
    known: Sequence[str],
    prefix: str = '',
    *,
    allow_partial: bool = True,
    allow_final_velocity: bool = False,
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> Path:
    """
    Check a trajectory_msgs/JointTrajectory.

    :param known: joints that can be commanded, by local name.
    :param prefix: of the robot; names may carry it.
    :param allow_partial: accept a trajectory that does not name all of them.
    :param allow_final_velocity: accept a last point that moves.
    :param limits: smallest and largest position by joint (rad or m); a point may be beyond by
        `LIMIT_TOLERANCE`.
    :raises BadGoal: with what is wrong, and what would be right.
    """
    joints = tuple(known_name(name, prefix, known) for name in message.joint_names)
    _check_joints(joints, known, allow_partial)
    if not message.points:
        raise BadGoal(INVALID_GOAL, 'the trajectory has no points')
    points = _read_points(message.points, len(joints))
    _check_limits(joints, points, limits or {})
    last = points.velocities[-1]
    if not allow_final_velocity and np.nan_to_num(last).any():
        moving = [joint for joint, speed in zip(joints, last, strict=True) if speed]
        raise BadGoal(
            INVALID_GOAL,
            f'the last point has nonzero velocities ({", ".join(moving)}); make them zero, or see '
            'the parameter allow_nonzero_velocity_at_trajectory_end',
        )
    return Path(joints, points, nanoseconds(message.header.stamp))


def _check_joints(joints: Sequence[str], known: Sequence[str], allow_partial: bool) -> None:
    if not joints:
        raise BadGoal(INVALID_JOINTS, 'the trajectory names no joints')
    unknown = [joint for joint in joints if joint not in known]
    if unknown:
        raise BadGoal(
            INVALID_JOINTS,
            f'cannot command {", ".join(map(repr, unknown))}; {list_names("joint", known, 40)}',
        )
    twice = sorted({joint for joint in joints if joints.count(joint) > 1})
    if twice:
        raise BadGoal(INVALID_JOINTS, f'joints named twice: {", ".join(twice)}')
    missing = [joint for joint in known if joint not in joints]
    if missing and not allow_partial:
        raise BadGoal(
            INVALID_JOINTS,
            f'joints not named: {", ".join(missing)}; see the parameter allow_partial_joints_goal',
        )


def _check_limits(
    joints: Sequence[str], points: Points, limits: Mapping[str, tuple[float, float]]
) -> None:
    for column, joint in enumerate(joints):
        low, high = limits.get(joint, (-math.inf, math.inf))
        for index, value in enumerate(points.positions[:, column].tolist()):
            if not low - LIMIT_TOLERANCE <= value <= high + LIMIT_TOLERANCE:
                raise BadGoal(
                    INVALID_GOAL,
                    f'point {index} moves {joint} to {value:g}, its limits are {low:g} to '
                    f'{high:g}',
                )


def _read_points(messages: Sequence[Any], width: int) -> Points:
    times: list[int] = []
    rows: list[tuple[np.ndarray, ...]] = []
    for index, point in enumerate(messages):
        time = nanoseconds(point.time_from_start)
        if time < 0 or (times and time <= times[-1]):
            raise BadGoal(
                INVALID_GOAL,
                f'time_from_start of point {index} is {time / NANOSECONDS:g} s, after '
                f'{times[-1] / NANOSECONDS:g} s; times must increase'
                if times
                else f'time_from_start of point {index} is {time / NANOSECONDS:g} s',
            )
        times.append(time)
        rows.append(_read_point(point, index, width))
    columns = (np.array(column) for column in zip(*rows, strict=True))
    return Points(np.array(times, np.int64), *columns)


def _read_point(point: Any, index: int, width: int) -> tuple[np.ndarray, ...]:
    found = []
    for name in ('positions', 'velocities', 'accelerations'):
        values = getattr(point, name)
        if len(values) not in ((width,) if name == 'positions' else (0, width)):
            raise BadGoal(
                INVALID_GOAL, f'point {index} has {len(values)} {name} for {width} joints'
            )
        if not all(map(math.isfinite, values)):
            raise BadGoal(INVALID_GOAL, f'{name} of point {index} are not finite')
        found.append(np.array(values, float) if len(values) else np.full(width, np.nan))
    if len(point.effort):
        raise BadGoal(INVALID_GOAL, f'point {index} has efforts, which are not supported')
    return tuple(found)


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
    The tolerances of one trajectory.

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
    """Return tolerances without limits."""
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
