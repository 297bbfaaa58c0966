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
from std_msgs.msg import Header

from urlab_ros_bridge.ros.cdr import CdrError
from urlab_ros_bridge.ros.cdr import Template
from urlab_ros_bridge.ros.convert.errors import BadStamp
from urlab_ros_bridge.wire.stamp import NANOSECONDS

# A reading: numpy arrays of any float type are as good as sequences of Python floats.
Values = Sequence[float] | np.ndarray

_LIMIT = NANOSECONDS << 31


class MessageTemplate(ABC):
    """
    A message that is published again and again with new values.

    `update(stamp_ns, ...)` returns the serialised message; `message(...)` takes the same arguments
    and returns an ordinary message object.  `stamp_ns` is simulation time in integer nanoseconds
    that `check_stamp` lets pass.  NaN and infinities in the values are passed on.

    When the middleware serialises in another way than expected, `update` returns message objects
    too, which ``publisher.publish`` takes as well, and `fallback_reason` says why.
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
            self.update = self.message
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
