# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The stamp of a message, as an object or serialised."""

from __future__ import annotations

from collections.abc import Callable
import struct
from typing import Any

from urlab_ros_bridge.ros.rclpy_tools.compat import find_interface
from urlab_ros_bridge.wire.stamp import NANOSECONDS

_HEAD = 4  # bytes of the encapsulation, before the first field
_COUNT = 4  # bytes of the length of a sequence
_STAMPED = ('builtin_interfaces/Time', 'std_msgs/Header')

# Serialised message -> its stamp (ns), 0 when it has none.
ReadStamp = Callable[[bytes], int]


def stamp_of(message: Any) -> int:
    """Return the stamp (ns) of a message with a header, or of a header; 0: it has none."""
    stamp = getattr(getattr(message, 'header', message), 'stamp', None)
    return 0 if stamp is None else stamp.sec * NANOSECONDS + stamp.nanosec


def stamp_reader(message_type: type[Any]) -> ReadStamp:
    """
    Return what reads the stamp of serialised messages of a type.

    That is the time or the header in the first field; where a sequence of stamped messages comes
    first (tf2_msgs/TFMessage, visualization_msgs/MarkerArray), that of its first element.
    """
    first = _first_field(message_type)
    if first in _STAMPED:
        return lambda data: _time_at(data, _HEAD)
    if first.startswith('sequence<'):
        element = first.removeprefix('sequence<').partition('>')[0].partition(',')[0]
        package, _, name = element.partition('/')
        inner = find_interface(f'{package}/msg/{name}') if name else None
        if inner is not None and _first_field(inner) in _STAMPED:
            return _of_first_element
    return lambda data: 0


def _first_field(message_type: type[Any]) -> str:
    return next(iter(message_type.get_fields_and_field_types().values()), '')


def _of_first_element(data: bytes) -> int:
    is_empty = not any(data[_HEAD : _HEAD + _COUNT])
    return 0 if is_empty else _time_at(data, _HEAD + _COUNT)


def _time_at(data: bytes, offset: int) -> int:
    # The second byte of the encapsulation is the byte order; odd: little endian.
    sec, nanosec = struct.unpack_from('<iI' if data[1] & 1 else '>iI', data, offset)
    return sec * NANOSECONDS + nanosec
