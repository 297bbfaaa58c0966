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

# Plain CDR, little endian: the only encapsulation that is read here.
_ENCAPSULATION = b'\x00\x01'
_HEAD = 4  # bytes of the encapsulation, from whose end fields are aligned
_STAMP = struct.Struct('<iII')  # and the length of the frame's name
_SIX = struct.Struct('<6d')


class VectorReading(NamedTuple):
    """What is read of a Vector3."""

    x: float
    y: float
    z: float


class TwistReading(NamedTuple):
    """What is read of a Twist: m/s and rad/s."""

    linear: VectorReading
    angular: VectorReading


class StampReading(NamedTuple):
    """What is read of a Time."""

    sec: int
    nanosec: int


class HeaderReading(NamedTuple):
    """What is read of a Header; the frame is not."""

    stamp: StampReading


class TwistStampedReading(NamedTuple):
    """What is read of a TwistStamped."""

    header: HeaderReading
    twist: TwistReading


def read_twist(data: bytes) -> TwistReading | Twist:
    """
    Return the fields of a serialised Twist, by the names that they have in a message.

    Bytes of another encapsulation or length become an ordinary message.
    """
    if data[:2] != _ENCAPSULATION or len(data) < _HEAD + _SIX.size:
        return deserialize_message(data, Twist)
    return _twist_at(data, _HEAD)


def read_twist_stamped(data: bytes) -> TwistStampedReading | TwistStamped:
    """Return the fields of a serialised TwistStamped, see `read_twist`."""
    if data[:2] == _ENCAPSULATION and len(data) >= _HEAD + _STAMP.size:
        sec, nanosec, length = _STAMP.unpack_from(data, _HEAD)
        numbers = _HEAD + (_STAMP.size + length + 7 & ~7)
        if len(data) >= numbers + _SIX.size:
            header = HeaderReading(StampReading(sec, nanosec))
            return TwistStampedReading(header, _twist_at(data, numbers))
    return deserialize_message(data, TwistStamped)


def twist_reader(kind: type) -> Callable[[bytes], Any]:
    """Return what reads serialised messages of a type of cmd_vel."""
    return read_twist_stamped if kind is TwistStamped else read_twist


def _twist_at(data: bytes, start: int) -> TwistReading:
    x, y, z, roll, pitch, yaw = _SIX.unpack_from(data, start)
    return TwistReading(VectorReading(x, y, z), VectorReading(roll, pitch, yaw))


__all__ = [
    'TwistReading',
    'TwistStampedReading',
    'read_twist',
    'read_twist_stamped',
    'twist_reader',
]
