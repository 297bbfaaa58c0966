# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""CameraInfo of a camera without distortion, from its field of view."""

from __future__ import annotations

import math
from typing import NamedTuple

from sensor_msgs.msg import CameraInfo

from urlab_ros_bridge.ros.messages.base import header_to_ros
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.messages.cdr import Template
from urlab_ros_bridge.wire.stamp import NANOSECONDS


class Intrinsics(NamedTuple):
    """
    A pinhole camera in pixels; the middle of the top left pixel is (0, 0).

    :ivar fx, fy: focal length; both follow from the vertical field of view, pixels are square.
    :ivar cx, cy: principal point, the middle of the picture.
    """

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float


def intrinsics(width: int, height: int, fovy: float) -> Intrinsics:
    """
    Return the intrinsics of a camera.

    :param fovy: vertical field of view in degrees.

    >>> intrinsics(640, 480, 90.0)
    Intrinsics(width=640, height=480, fx=240.0, fy=240.0, cx=319.5, cy=239.5)
    """
    focal = round(height / 2.0 / math.tan(math.radians(fovy) / 2.0), 9)
    return Intrinsics(width, height, focal, focal, (width - 1) / 2.0, (height - 1) / 2.0)


def camera_info_to_ros(stamp_ns: int, frame_id: str, camera: Intrinsics) -> CameraInfo:
    """Return the message: no distortion, no rectification, the whole picture."""
    fx, fy, cx, cy = camera.fx, camera.fy, camera.cx, camera.cy
    return CameraInfo(
        header=header_to_ros(stamp_ns, frame_id),
        height=camera.height,
        width=camera.width,
        distortion_model='plumb_bob',
        d=[0.0] * 5,
        k=[fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


class CameraInfoTemplate(RosMessageTemplate):
    """sensor_msgs/CameraInfo."""

    def __init__(self, frame_id: str, camera: Intrinsics) -> None:
        self._frame_id, self._camera = frame_id, camera
        super().__init__(self.message(0))

    def _bind(self, template: Template) -> None:
        self._stamp = template.writer('header.stamp')

    def message(self, stamp_ns: int) -> CameraInfo:
        return camera_info_to_ros(stamp_ns, self._frame_id, self._camera)

    def update(self, stamp_ns: int) -> bytes:
        self._stamp(*divmod(stamp_ns, NANOSECONDS))
        return self._to_bytes()
