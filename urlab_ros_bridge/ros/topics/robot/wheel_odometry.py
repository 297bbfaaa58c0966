# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Dead reckoning: the pose of a base from the angles of its wheels."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from urlab_ros_bridge.geometry import yaw_of
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import Observer
from urlab_ros_bridge.ros.features.feed import RobotTopics
from urlab_ros_bridge.ros.plan.parameters import WheelOdometryParameters
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.stamp import NANOSECONDS

_WHEELED = 'differential, ackermann, omni'
# Between two ticks a wheel may turn this much (rad) more than twice what its velocity explains:
# it hits a wall, ticks are dropped.  What turns further was set by a reset.
_JOLT = 0.1
_STRAIGHT = 1e-6  # rad; below it the series of an arc is more exact than its quotients
_UNMEASURED = 1e6  # m^2, rad^2
_TINY = 1e-9


class NoWheels(UrlabError):
    """Odometry from wheels was requested for a robot that has no drive with wheels."""

    def __init__(self, plan: RobotPlan) -> None:
        super().__init__(
            f"{plan.prefix}: odom and its transform are not published: odom_source 'wheels' needs "
            f'a drive of kind {_WHEELED} that the server describes, not {plan.drive or "none"!r}'
        )


class WheelOdometry:
    """
    Integrates wheel angles to a planar pose with its covariance.

    Starts at the true pose of the base and restarts there after a reset (time or a wheel angle
    jumped).  Like a real robot that is carried, one that is placed elsewhere with its wheels as
    they are does not notice.

    :ivar pose: x, y, z (m), yaw (rad); z is that of the beginning.
    :ivar twist: forward, to the left (m/s), yaw rate (rad/s).
    :ivar covariance: of x, y and yaw, shape (3, 3).
    """

    def __init__(
        self, matrix: Sequence[Sequence[float]], stddev: float, axle: float | None = None
    ) -> None:
        """
        Prepare the kinematics.

        :param matrix: shape (joints, 3): joint velocities = matrix @ twist, rows of zeros for
            joints that are no wheels.
        :param stddev: of the distance that a wheel measures over one metre (m).
        :param axle: x (m) of an axle that does not move sideways; None: there is none.
        """
        every = np.array(matrix, dtype=float)
        self._wheels = np.flatnonzero(every.any(axis=1))
        rolling = every[self._wheels]
        sideways = [] if axle is None else [(0.0, 1.0, axle)]
        # Least squares; what no wheel measures is 0.
        self._solve = np.linalg.pinv(np.vstack([rolling, *sideways]))[:, : len(rolling)]
        # Metres on the ground for each radian of a wheel.
        radii = 1.0 / np.maximum(np.linalg.norm(rolling[:, :2], axis=1), _TINY)
        # Variance of a wheel's angle (rad^2) for each radian that it has turned.
        self._variances = stddev**2 / radii
        self.clear()

    def clear(self) -> None:
        """Forget everything: the next update is the first one."""
        self.pose = (0.0, 0.0, 0.0, 0.0)
        self.twist = np.zeros(3)
        self.covariance = np.zeros((3, 3))
        self._speeds = np.zeros(len(self._wheels))
        self._angles: np.ndarray | None = None
        self._stamp_ns = 0

    def update(
        self, stamp_ns: int, angles: np.ndarray, speeds: np.ndarray, base: Sequence[float]
    ) -> None:
        """
        Take a tick; one with the stamp of the last one is compared with that one.

        :param angles, speeds: of all joints, shape (joints,), rad and rad/s.
        :param base: true position and quaternion xyzw of the base.
        """
        angles = angles[self._wheels].astype(float)
        speeds = speeds[self._wheels].astype(float)
        if self._angles is None or self._was_set(stamp_ns, angles, speeds):
            self.pose = (base[0], base[1], base[2], yaw_of(base[3:7]))
            self.covariance = np.zeros((3, 3))
        else:
            self._integrate(angles - self._angles)
        self.twist = self._solve @ speeds
        self._stamp_ns, self._angles, self._speeds = stamp_ns, angles, speeds

    @property
    def is_known(self) -> bool:
        """Whether there was a tick."""
        return self._angles is not None

    @property
    def pose_covariance(self) -> list[float]:
        """Covariance of the pose as 36 numbers; large for what wheels do not measure."""
        return _as_message(self.covariance)

    @property
    def twist_covariance(self) -> list[float]:
        """Covariance of the twist as 36 numbers, of the mean over one second."""
        return _as_message(self._noise(self._speeds))

    def _was_set(self, stamp_ns: int, angles: np.ndarray, speeds: np.ndarray) -> bool:
        """Return whether time went back, or a wheel is where its velocity does not lead."""
        seconds = (stamp_ns - self._stamp_ns) / NANOSECONDS
        reach = _JOLT + 2.0 * seconds * np.maximum(np.abs(speeds), np.abs(self._speeds))
        return seconds < 0.0 or bool((np.abs(angles - self._angles) > reach).any())

    def _integrate(self, turned: np.ndarray) -> None:
        """Follow the arc of a constant twist: the exponential map of SE(2)."""
        x, y, yaw = self._solve @ turned
        if abs(yaw) < _STRAIGHT:
            along, across = 1.0 - yaw * yaw / 6.0, yaw / 2.0
        else:
            along, across = math.sin(yaw) / yaw, (1.0 - math.cos(yaw)) / yaw
        moved = np.array([along * x - across * y, across * x + along * y, yaw])
        cos, sin = math.cos(self.pose[3]), math.sin(self.pose[3])
        turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        moved = turn @ moved
        # An error of the heading moves the end of this arc sideways.
        carry = np.eye(3)
        carry[:2, 2] = -moved[1], moved[0]
        noise = turn @ self._noise(turned) @ turn.T
        self.covariance = carry @ self.covariance @ carry.T + noise
        self.pose = (
            self.pose[0] + moved[0],
            self.pose[1] + moved[1],
            self.pose[2],
            math.remainder(self.pose[3] + yaw, math.tau),
        )

    def _noise(self, turned: np.ndarray) -> np.ndarray:
        """Return the covariance of a motion of the base in which the wheels turned so much."""
        return (self._solve * (self._variances * np.abs(turned))) @ self._solve.T


def _as_message(covariance: np.ndarray) -> list[float]:
    full = np.diag([0.0, 0.0, _UNMEASURED, _UNMEASURED, _UNMEASURED, 0.0])
    place = np.array([0, 1, 5])
    full[np.ix_(place, place)] = covariance
    found: list[float] = full.reshape(-1).tolist()
    return found


def wheel_odometry(robot: RobotTopics) -> WheelOdometry:
    """
    Make the odometry of a robot, which then follows every tick.

    :raises NoWheels: for a robot without a drive with wheels.
    """
    if not robot.plan.wheel_matrix:
        raise NoWheels(robot.plan)
    stddev = robot.settings(WheelOdometryParameters).wheel_stddev
    odometry, state = WheelOdometry(robot.plan.wheel_matrix, stddev, robot.plan.axle), robot.state

    def update(stamp_ns: int) -> None:
        joints, base = state.joints(), state.base()
        if joints is not None and base is not None:
            odometry.update(stamp_ns, joints[0], joints[1], base)

    wire = frozenset((*robot.joint_rows, *robot.base_row))
    robot.observers.append(Observer(update, odometry.clear, wire))
    return odometry


FEATURE = Feature('wheel odometry', WheelOdometryParameters, group='What is published')
