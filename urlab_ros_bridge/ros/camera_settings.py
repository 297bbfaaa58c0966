# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of cameras."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.ros.setting_row import parameter

GROUP = 'Cameras'


@dataclass(frozen=True)
class CameraSettings:
    """A part of `settings.Settings`."""

    publish_cameras: bool = parameter(
        True, 'Publish cameras: pictures, camera_info, point clouds.', group=GROUP
    )
    camera_transport: str = parameter(
        'auto',
        'How pictures come: "shm" through shared memory, "zmq" over TCP. "auto": through shared '
        'memory when the server runs on this machine and offers it.',
        group=GROUP,
        choices=('auto', 'zmq', 'shm'),
    )
    image_encoding: str = parameter(
        'rgb8',
        'Encoding of colour pictures. "bgra8" is what the server sends, and costs no conversion.',
        group=GROUP,
        choices=('rgb8', 'bgr8', 'rgba8', 'bgra8'),
    )
    depth_encoding: str = parameter(
        '32FC1',
        'Encoding of depth pictures: "32FC1" metres, "16UC1" millimetres.',
        group=GROUP,
        choices=('32FC1', '16UC1'),
    )
    depth_unit: str = parameter(
        'auto',
        'Unit of the depth that the server sends. "auto": as the server tells, which for stock '
        'URLab means centimetres.',
        group=GROUP,
        choices=('auto', 'm', 'cm', 'mm'),
    )
    jpeg_quality: int = parameter(
        90,
        'Quality of compressed colour pictures.',
        group=GROUP,
        low=1,
        high=100,
        live=True,
    )
    points_decimation: int = parameter(
        1,
        'Of the rows and columns of a depth picture only each such one becomes points.',
        group=GROUP,
        low=1,
        high=64,
    )
    points_color: bool = parameter(
        True,
        'Colour the points of a depth camera that has a colour camera in the same place.',
        group=GROUP,
    )
