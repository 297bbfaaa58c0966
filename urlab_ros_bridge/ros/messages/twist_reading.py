# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Velocity commands, read from their bytes.

rclpy makes a dozen objects of a TwistStamped, each with its own checks; that takes ten times as
long as reading the six numbers.
"""

from __future__ import annotations

from collections.abc import Callable
import struct
from typing import Any
from typing import NamedTuple

from geometry_msgs.msg import Twist
from geometry_msgs.msg import TwistStamped
from rclpy.serialization import deserialize_message

from urlab_ros_bridge.ros.messages.stamp_of import message_stamp
from urlab_ros_bridge.wire.stamp import NANOSECONDS

# Plain CDR, little endian: the only encapsulation that is read here.
_ENCAPSULATION = b'\x00\x01'
_HEAD = 4  # bytes of the encapsulation, from whose end fields are aligned
_STAMP = struct.Struct('<iII')  # and the length of the frame's name
_SIX = struct.Struct('<6d')


class VelocityReading(NamedTuple):
    """
    What is read of a Twist or TwistStamped.

    :ivar linear: m/s; `angular`: rad/s.
    :ivar stamp_ns: of the header; 0: there is none, or it is not stamped.
    """

    linear: tuple[float, float, float]
    angular: tuple[float, float, float]
    stamp_ns: int = 0


def velocity_of(message: Any) -> VelocityReading:
    """Return what an ordinary message says."""
    stamped = hasattr(message, 'header')
    twist = message.twist if stamped else message
    linear, angular = twist.linear, twist.angular
    return VelocityReading(
        (linear.x, linear.y, linear.z),
        (angular.x, angular.y, angular.z),
        message_stamp(message) if stamped else 0,
    )


def read_twist(data: bytes) -> VelocityReading:
    """Read a serialised Twist; bytes of another encapsulation or length are left to rclpy."""
    if data[:2] != _ENCAPSULATION or len(data) < _HEAD + _SIX.size:
        return velocity_of(deserialize_message(data, Twist))
    x, y, z, roll, pitch, yaw = _SIX.unpack_from(data, _HEAD)
    return VelocityReading((x, y, z), (roll, pitch, yaw))


def read_twist_stamped(data: bytes) -> VelocityReading:
    """Read a serialised TwistStamped, see `read_twist`."""
    if data[:2] == _ENCAPSULATION and len(data) >= _HEAD + _STAMP.size:
        sec, nanosec, length = _STAMP.unpack_from(data, _HEAD)
        numbers = _HEAD + (_STAMP.size + length + 7 & ~7)
        if len(data) >= numbers + _SIX.size:
            x, y, z, roll, pitch, yaw = _SIX.unpack_from(data, numbers)
            return VelocityReading((x, y, z), (roll, pitch, yaw), sec * NANOSECONDS + nanosec)
    return velocity_of(deserialize_message(data, TwistStamped))


def twist_reader(kind: type) -> Callable[[bytes], VelocityReading]:
    """Return what reads serialised messages of a type of cmd_vel."""
    return read_twist_stamped if kind is TwistStamped else read_twist


__all__ = ['VelocityReading', 'read_twist', 'read_twist_stamped', 'twist_reader', 'velocity_of']
