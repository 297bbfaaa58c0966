# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""/clock."""

from __future__ import annotations

from rosgraph_msgs.msg import Clock

from urlab_ros_bridge.ros.cdr import Template
from urlab_ros_bridge.ros.convert.base import MessageTemplate
from urlab_ros_bridge.ros.convert.base import time_to_ros
from urlab_ros_bridge.wire.stamp import NANOSECONDS


def clock_to_ros(stamp_ns: int) -> Clock:
    """Return the clock message of a simulation time."""
    return Clock(clock=time_to_ros(stamp_ns))


class ClockTemplate(MessageTemplate):
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
