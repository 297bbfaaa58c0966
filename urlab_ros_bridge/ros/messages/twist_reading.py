# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What the messages of cmd_vel say."""

from __future__ import annotations

from typing import Any
from typing import NamedTuple

from urlab_ros_bridge.ros.messages.stamps import stamp_of


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
        stamp_of(message),
    )
