# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
WrenchStamped and TwistStamped from pairs of sensors at one site.

MuJoCo's force and torque sensors give what the parent body exerts on the child body (a payload at
rest below the sensor reads +m g upwards).  A force-torque sensor on a robot, Gazebo's default
``child_to_parent`` and ros2_control drivers give what the child side exerts on the sensor (the
payload pulls it down), so both vectors change sign here.

One half may be missing; it is NaN, "not measured", and never an invented zero.
"""

from __future__ import annotations

import math

from geometry_msgs.msg import Twist
from geometry_msgs.msg import TwistStamped
from geometry_msgs.msg import Vector3
from geometry_msgs.msg import Wrench
from geometry_msgs.msg import WrenchStamped

from urlab_ros_bridge.ros.cdr import Template
from urlab_ros_bridge.ros.convert.base import header_to_ros
from urlab_ros_bridge.ros.convert.base import MessageTemplate
from urlab_ros_bridge.ros.convert.base import Values
from urlab_ros_bridge.ros.convert.frames import floats
from urlab_ros_bridge.wire.stamp import NANOSECONDS

_NOT_MEASURED = (math.nan, math.nan, math.nan)


def _six(first: Values | None, second: Values | None, sign: float) -> tuple[float, ...]:
    a, b, c = _NOT_MEASURED if first is None else floats(first, 3)
    d, e, f = _NOT_MEASURED if second is None else floats(second, 3)
    return sign * a, sign * b, sign * c, sign * d, sign * e, sign * f


def wrench_to_ros(
    stamp_ns: int, frame_id: str, force: Values | None, torque: Values | None
) -> WrenchStamped:
    """
    Return the wrench that the child side exerts on the parent, about the origin of the site.

    :param force: shape (3,), N in the frame of the site, as MuJoCo's sensor gives it.
    :param torque: shape (3,), N m likewise.
    """
    fx, fy, fz, tx, ty, tz = _six(force, torque, -1.0)
    return WrenchStamped(
        header=header_to_ros(stamp_ns, frame_id),
        wrench=Wrench(force=Vector3(x=fx, y=fy, z=fz), torque=Vector3(x=tx, y=ty, z=tz)),
    )


def twist_to_ros(
    stamp_ns: int, frame_id: str, linear: Values | None, angular: Values | None
) -> TwistStamped:
    """
    Return the velocity of a site in its own frame.

    :param linear: shape (3,), m/s, from a velocimeter.
    :param angular: shape (3,), rad/s, from a gyro at the same site.
    """
    vx, vy, vz, wx, wy, wz = _six(linear, angular, 1.0)
    return TwistStamped(
        header=header_to_ros(stamp_ns, frame_id),
        twist=Twist(linear=Vector3(x=vx, y=vy, z=vz), angular=Vector3(x=wx, y=wy, z=wz)),
    )


class WrenchStampedTemplate(MessageTemplate):
    """geometry_msgs/WrenchStamped."""

    def __init__(self, frame_id: str) -> None:
        self._frame_id = frame_id
        super().__init__(self.message(0, None, None))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._wrench = template.writer('wrench')

    def message(
        self, stamp_ns: int, force: Values | None, torque: Values | None = None
    ) -> WrenchStamped:
        return wrench_to_ros(stamp_ns, self._frame_id, force, torque)

    def update(self, stamp_ns: int, force: Values | None, torque: Values | None = None) -> bytes:
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._wrench(*_six(force, torque, -1.0))
        return self._to_bytes()


class TwistStampedTemplate(MessageTemplate):
    """geometry_msgs/TwistStamped."""

    def __init__(self, frame_id: str) -> None:
        self._frame_id = frame_id
        super().__init__(self.message(0, None, None))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')
        self._twist = template.writer('twist')

    def message(
        self, stamp_ns: int, linear: Values | None, angular: Values | None = None
    ) -> TwistStamped:
        return twist_to_ros(stamp_ns, self._frame_id, linear, angular)

    def update(self, stamp_ns: int, linear: Values | None, angular: Values | None = None) -> bytes:
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        self._twist(*_six(linear, angular, 1.0))
        return self._to_bytes()
