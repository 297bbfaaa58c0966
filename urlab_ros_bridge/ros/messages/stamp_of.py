# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The time that a message refers to: its stamp."""

from __future__ import annotations

from collections.abc import Callable
import struct
from typing import Any

from urlab_ros_bridge.wire.stamp import NANOSECONDS

HEADER = 'std_msgs/Header'

# Returns the stamp of a message in ns, 0 for none.
Stamp = Callable[[Any], int]


def has_stamp(kind: Any) -> bool:
    """Return whether a message type begins with a stamp: a std_msgs/Header, or it is one."""
    fields = list(kind.get_fields_and_field_types().items())
    return bool(fields) and (
        fields[0][1] == HEADER or fields[0] == ('stamp', 'builtin_interfaces/Time')
    )


def raw_stamp(data: bytes) -> int:
    """
    Read the stamp at the beginning of a serialised message.

    The encapsulation has 4 bytes; the second is the byte order (CDR, little endian: odd).
    """
    if len(data) < 12:
        return 0
    sec, nanosec = struct.unpack_from('<iI' if data[1] & 1 else '>iI', data, 4)
    return sec * NANOSECONDS + nanosec


def message_stamp(message: Any) -> int:
    """Return the stamp of a message with a header, or of a header."""
    stamp = getattr(message, 'header', message).stamp
    return stamp.sec * NANOSECONDS + stamp.nanosec


def unstamped(message: Any) -> int:
    """Return 0: the message has no stamp."""
    return 0
