# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What all message templates share."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Header

from urlab_ros_bridge.ros.messages.cdr import CdrError
from urlab_ros_bridge.ros.messages.cdr import Template
from urlab_ros_bridge.wire.errors import UrlabError
from urlab_ros_bridge.wire.stamp import NANOSECONDS

# A reading: numpy arrays of any float type are as good as sequences of Python floats.
Values = Sequence[float] | np.ndarray

_LIMIT = NANOSECONDS << 31


class RosMessageTemplate(ABC):
    """
    A message that is published again and again with new values.

    `update(stamp_ns, ...)` returns the serialised message; `message(...)` takes the same arguments
    and returns an ordinary message object.  `stamp_ns` is simulation time in integer nanoseconds
    that `check_stamp` lets pass.  NaN and infinities in the values are passed on.

    When the middleware serialises in another way than expected, `update` returns message objects
    too, which ``publisher.publish`` takes as well, and `fallback_reason` gives the reason.
    """

    fallback_reason: CdrError | None = None

    def __init__(self, sample: Any) -> None:
        """
        Make the template.

        :param sample: a message with the final strings and lengths.
        """
        self.message_type = type(sample)
        try:
            template = Template(sample)
        except CdrError as error:
            self.fallback_reason = error
            vars(self)['update'] = self.message
            return
        self._to_bytes = template.to_bytes
        self._bind(template)

    @abstractmethod
    def _bind(self, template: Template) -> None:
        """Take the writers and views that `update` needs."""

    @abstractmethod
    def message(self, *args: Any) -> Any:
        """Return an ordinary message object."""

    @abstractmethod
    def update(self, *args: Any) -> bytes:
        """Return the serialised message."""


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


class ConvertError(UrlabError, ValueError):
    """Base of the errors of this package."""


class WrongLength(ConvertError):
    """A reading has not as many values as its message has room for."""

    def __init__(self, expected: int, found: int) -> None:
        super().__init__(f'expected {expected} values, got {found}')


class BadStamp(ConvertError):
    """A time does not fit builtin_interfaces/Time, whose seconds are an int32."""

    def __init__(self, stamp_ns: int) -> None:
        super().__init__(f'time of {stamp_ns} ns does not fit a ROS stamp, which ends at 2^31 s')


class BadScan(ConvertError):
    """The geometry of a scanner makes no LaserScan."""

    def __init__(self, reason: str) -> None:
        super().__init__(f'a LaserScan cannot represent this: {reason}')


def diagonal(stddevs: Sequence[float]) -> list[float]:
    """
    Return the n x n matrix, as n * n numbers, of independent errors.

    For six of them the order is x, y, z (m) and turns about the fixed axes x, y, z (rad).

    >>> diagonal([2.0, 3.0])
    [4.0, 0.0, 0.0, 9.0]
    """
    size = len(stddevs)
    matrix = [0.0] * (size * size)
    matrix[:: size + 1] = [float(stddev) ** 2 for stddev in stddevs]
    return matrix


def isotropic(stddev: float | None) -> list[float]:
    """
    Return the 3 x 3 matrix of equal errors in all directions.

    :param stddev: 0 when unknown, None when the field is not reported.
    """
    return [-1.0] + [0.0] * 8 if stddev is None else diagonal((stddev, stddev, stddev))


def pose_or_twist(stddevs: Sequence[float] | None) -> list[float]:
    """Return the 6 x 6 matrix of a pose or twist, zeros (unknown) for None."""
    return [0.0] * 36 if stddevs is None else diagonal(stddevs)


def clock_to_ros(stamp_ns: int) -> Clock:
    """Return the clock message of a simulation time."""
    return Clock(clock=time_to_ros(stamp_ns))


class ClockTemplate(RosMessageTemplate):
    """rosgraph_msgs/Clock."""

    def __init__(self) -> None:
        super().__init__(clock_to_ros(0))

    def _bind(self, template: Template) -> None:
        self._clock = template.writer('clock')

    def message(self, stamp_ns: int) -> Clock:
        return clock_to_ros(stamp_ns)

    def update(self, stamp_ns: int) -> bytes:
        self._clock(*divmod(stamp_ns, NANOSECONDS))
        return self._to_bytes()


def floats(values: Sequence[float] | np.ndarray, count: int) -> Sequence[float]:
    """
    Return the values as Python numbers.

    :raises WrongLength: when they are not `count` many.
    """
    found = values.tolist() if isinstance(values, np.ndarray) else values
    if len(found) != count:
        raise WrongLength(count, len(found))
    return found
