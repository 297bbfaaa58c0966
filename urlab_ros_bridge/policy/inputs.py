# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Convert sensor messages to readings: joint order, frames and synchronisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from urlab_ros_bridge.geometry import matrix_of
from urlab_ros_bridge.geometry import quaternion_of_rpy
from urlab_ros_bridge.policy.description import PolicyDescription
from urlab_ros_bridge.policy.terms import IMU
from urlab_ros_bridge.policy.terms import JOINTS
from urlab_ros_bridge.policy.terms import ODOMETRY
from urlab_ros_bridge.policy.terms import Reading
from urlab_ros_bridge.schema import hint
from urlab_ros_bridge.schema import shown
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.stamp import NANOSECONDS


class BadInput(UrlabError, ValueError):
    """A sensor message cannot be used."""


class _JointOrder:
    """The indices of some joints in messages that name their joints."""

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints = joints
        self._names: list[str] | None = None
        self._slots: list[int] = []

    def pick(self, names: list[str], values: Sequence[float], what: str) -> np.ndarray:
        """Return the values of the joints, in their order."""
        if names != self._names:
            self._names, self._slots = list(names), self._find(names)
        if len(values) != len(names):
            raise BadInput(f'joint_states has {len(names)} names and {len(values)} {what}')
        return _finite(np.array([values[slot] for slot in self._slots]), 'joint_states')

    def _find(self, names: list[str]) -> list[int]:
        self._names = None
        for joint in self._joints:
            if joint not in names:
                raise BadInput(f'joint_states has no joint {shown(joint)}; {hint(joint, names)}')
        return [names.index(joint) for joint in self._joints]


class Inputs:
    """
    Synchronises the messages of several topics.

    ROS does not preserve order across topics.  With pairing ``exact`` a reading is complete when
    every topic has a message of its stamp, so equal messages give equal readings in any order of
    arrival.  With ``newest`` each message of `joint_states` gives a reading, with the last
    messages of the other topics unless they are stale.
    """

    def __init__(self, description: PolicyDescription) -> None:
        self._needs = description.needs
        self._exact = description.pairing == 'exact'
        self._max_age_ns = round(description.observation_timeout * NANOSECONDS)
        self._mounting = matrix_of(quaternion_of_rpy(*description.imu.rotation))
        self._observed = _JointOrder(description.observed)
        self._driven = _JointOrder(description.joints)
        self._newest: dict[str, tuple[int, Any]] = {}
        self._emitted: int | None = None

    def reset(self) -> None:
        """Forget all messages."""
        self._newest.clear()
        self._emitted = None

    @property
    def missing(self) -> list[str]:
        """Return the sensors without a message so far."""
        return sorted(self._needs - self._newest.keys())

    def stamps(self) -> dict[str, int]:
        """Return the newest stamp of each sensor, in nanoseconds."""
        return {name: stamp for name, (stamp, _) in sorted(self._newest.items())}

    def take(self, name: str, message: Any) -> Reading | None:
        """
        Add a message; return the reading that it completes, or None.

        :param name: IMU, ODOMETRY or JOINTS.
        :raises BadInput: when numbers are missing or not finite, or a joint is missing.
        """
        stamp = message.header.stamp
        stamp_ns = stamp.sec * NANOSECONDS + stamp.nanosec
        self._newest[name] = (stamp_ns, message)
        if self.missing or not self._is_complete(name, stamp_ns) or stamp_ns == self._emitted:
            return None
        reading = self._read(stamp_ns)
        self._emitted = stamp_ns
        return reading

    def repeated(self, name: str, message: Any) -> int | None:
        """Return the stamp of joint states that the newest reading has already, else None."""
        stamp = message.header.stamp
        stamp_ns = stamp.sec * NANOSECONDS + stamp.nanosec
        return self._emitted if name == JOINTS and stamp_ns == self._emitted else None

    def _is_complete(self, name: str, stamp_ns: int) -> bool:
        stamps = [self._newest[each][0] for each in self._needs]
        if self._exact:
            return all(stamp == stamp_ns for stamp in stamps)
        return name == JOINTS and min(stamps) >= stamp_ns - self._max_age_ns

    def _read(self, stamp_ns: int) -> Reading:
        joints = self._newest[JOINTS][1]
        names = list(joints.name)
        reading = Reading(
            stamp_ns,
            self._observed.pick(names, joints.position, 'positions'),
            self._observed.pick(names, joints.velocity, 'velocities'),
            self._driven.pick(names, joints.position, 'positions'),
        )
        if IMU in self._needs:
            imu = self._newest[IMU][1]
            reading.angular_velocity = self._mounting @ _vector(imu.angular_velocity, 'imu/data')
            reading.gravity = self._mounting @ _gravity(imu)
        if ODOMETRY in self._needs:
            # In the child frame, which is the base (REP-105).
            odometry = self._newest[ODOMETRY][1]
            reading.linear_velocity = _vector(odometry.twist.twist.linear, 'odom')
        return reading


def _vector(vector: Any, topic: str) -> np.ndarray:
    return _finite(np.array([vector.x, vector.y, vector.z]), topic)


def _finite(values: np.ndarray, topic: str) -> np.ndarray:
    if not np.isfinite(values).all():
        raise BadInput(f'{topic} has numbers that are not finite')
    return values


def _gravity(imu: Any) -> np.ndarray:
    """Return the unit vector that points down, in the frame of the IMU, (3,)."""
    if imu.orientation_covariance[0] < 0.0:  # REP-145: there is no orientation
        raise BadInput('imu/data has no orientation (its covariance begins with -1)')
    turn = imu.orientation
    quaternion = np.array([turn.x, turn.y, turn.z, turn.w])
    length = float(np.linalg.norm(quaternion))
    if not abs(length - 1.0) < 0.1:  # also when it is NaN
        raise BadInput(f'imu/data has an orientation of length {length:g}, not 1')
    down: np.ndarray = -matrix_of(quaternion.tolist())[2]
    return down


__all__ = ['BadInput', 'Inputs']
