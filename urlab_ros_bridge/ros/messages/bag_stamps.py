# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The stamp that a serialised message carries."""

from __future__ import annotations

from collections.abc import Callable
import struct
from typing import Any

from urlab_ros_bridge.ros.rclpy_tools.compat import find_interface
from urlab_ros_bridge.wire.stamp import NANOSECONDS

_STAMP = struct.Struct('<iI')
_COUNT = struct.Struct('<I')
_HEAD = 4  # bytes of the encapsulation, before the first field
_TIME = 'builtin_interfaces/Time'
_HEADER = 'std_msgs/Header'

# Serialised message -> its stamp (ns), 0 when it has none.
ReadStamp = Callable[[bytes], int]


def stamp_reader(message_type: type[Any]) -> ReadStamp:
    """
    Return what reads the stamp of messages of a type.

    That is the time or the header in the first field; where a sequence of stamped messages comes
    first (tf2_msgs/TFMessage, visualization_msgs/MarkerArray), that of its first element.
    """
    first = _first_field(message_type)
    if first in (_TIME, _HEADER):
        return _at_head
    if first.startswith('sequence<'):
        element = first.removeprefix('sequence<').partition('>')[0].partition(',')[0]
        if '/' in element:
            package, _, name = element.partition('/')
            inner = find_interface(f'{package}/msg/{name}')
            if inner is not None and _first_field(inner) in (_TIME, _HEADER):
                return _of_first_element
    return _none


def _first_field(message_type: type[Any]) -> str:
    return next(iter(message_type.get_fields_and_field_types().values()), '')


def _at_head(data: bytes) -> int:
    second, nanosecond = _STAMP.unpack_from(data, _HEAD)
    return second * NANOSECONDS + nanosecond


def _of_first_element(data: bytes) -> int:
    if _COUNT.unpack_from(data, _HEAD)[0] == 0:
        return 0
    second, nanosecond = _STAMP.unpack_from(data, _HEAD + _COUNT.size)
    return second * NANOSECONDS + nanosecond


def _none(data: bytes) -> int:
    return 0
