# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What all message templates share."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
from std_msgs.msg import Header

from urlab_ros_bridge.ros.messages.cdr.template import Template
from urlab_ros_bridge.ros.messages.errors import BadStamp
from urlab_ros_bridge.ros.messages.errors import WrongLength
from urlab_ros_bridge.wire.stamp import NANOSECONDS

# A reading: numpy arrays of any float type are as good as sequences of Python floats.
Values = Sequence[float] | np.ndarray

_LIMIT = NANOSECONDS << 31


class RosMessageTemplate(ABC):
    """
    A serialised message that is rewritten for each tick: only the bytes that differ.

    `update(stamp_ns, ...)` returns the bytes to publish.  `stamp_ns` is simulation time in integer
    nanoseconds that `check_stamp` accepts.  NaN and infinities in the values are passed on.

    :ivar message_type: class of the message.
    """

    def __init__(self, sample: Any, stamp: str = 'header.stamp') -> None:
        """
        Serialise a sample.

        :param sample: a message with the final strings, lengths and constants.
        :param stamp: path of the stamp; empty: `update` writes several.
        :raises CdrError: when the middleware serialises in another way than expected.
        """
        self.message_type = type(sample)
        self._template = Template(sample)
        self._to_bytes = self._template.to_bytes
        if stamp:
            self._write_stamp = self._template.writer(stamp)

    @abstractmethod
    def update(self, *args: Any) -> bytes:
        """Return the serialised message."""

    def _stamped(self, stamp_ns: int) -> bytes:
        self._write_stamp(*divmod(stamp_ns, NANOSECONDS))
        return self._to_bytes()


class ConstantTemplate(RosMessageTemplate):
    """A message of which only the stamp changes."""

    def update(self, stamp_ns: int) -> bytes:
        return self._stamped(stamp_ns)


class NumbersTemplate(RosMessageTemplate):
    """A stamped message with one part that consists of numbers."""

    def __init__(self, sample: Any, path: str, numbers: Callable[..., Iterable[float]]) -> None:
        """
        Serialise a sample.

        :param path: the part, such as ``pose``.
        :param numbers: converts readings to all numbers of the part, in its order.
        """
        super().__init__(sample)
        self._write_numbers = self._template.writer(path)
        self._numbers = numbers

    def update(self, stamp_ns: int, *readings: Values | None) -> bytes:
        self._write_numbers(*self._numbers(*readings))
        return self._stamped(stamp_ns)


def check_stamp(stamp_ns: int) -> int:
    """
    Return a stamp that fits every message; call it once a tick.

    :raises BadStamp: for one that does not.
    """
    if not 0 <= stamp_ns < _LIMIT:
        raise BadStamp(stamp_ns)
    return stamp_ns


def time_to_ros(stamp_ns: int) -> Time:
    """Split nanoseconds into a ROS time."""
    sec, nanosec = divmod(stamp_ns, NANOSECONDS)
    return Time(sec=sec, nanosec=nanosec)


def header_to_ros(stamp_ns: int, frame_id: str) -> Header:
    """Return a header."""
    return Header(stamp=time_to_ros(stamp_ns), frame_id=frame_id)


def floats(values: Sequence[float] | np.ndarray, count: int) -> Sequence[float]:
    """
    Return the values as Python numbers.

    :raises WrongLength: when they are not `count` many.
    """
    found = values.tolist() if isinstance(values, np.ndarray) else values
    if len(found) != count:
        raise WrongLength(count, len(found))
    return found
