# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""CameraInfo of a camera without distortion, from its field of view."""

from __future__ import annotations

import math
from typing import NamedTuple

from sensor_msgs.msg import CameraInfo
from std_msgs.msg import Header

from urlab_ros_bridge.ros.messages.base import ConstantTemplate


class Intrinsics(NamedTuple):
    """
    A pinhole camera in pixels; the middle of the top left pixel is (0, 0).

    :ivar fx, fy: focal length; both follow from the vertical field of view, pixels are square.
    :ivar cx, cy: principal point, the middle of the image.
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


class CameraInfoTemplate(ConstantTemplate):
    """sensor_msgs/CameraInfo: no distortion, no rectification, the whole image."""

    def __init__(self, frame_id: str, camera: Intrinsics) -> None:
        fx, fy, cx, cy = camera.fx, camera.fy, camera.cx, camera.cy
        super().__init__(
            CameraInfo(
                header=Header(frame_id=frame_id),
                height=camera.height,
                width=camera.width,
                distortion_model='plumb_bob',
                d=[0.0] * 5,
                k=[fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
                r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
                p=[fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
            )
        )
