# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of cameras."""

from __future__ import annotations

from dataclasses import dataclass

from urlab_ros_bridge.ros.topics.cameras.messages import COLOR_ENCODINGS
from urlab_ros_bridge.ros.topics.cameras.messages import DEPTH_ENCODINGS
from urlab_ros_bridge.schema import key


@dataclass(frozen=True)
class CameraParameters:
    """Switches, encodings and transport of cameras."""

    publish_cameras: bool = key(True, 'Publish cameras: images, camera_info, point clouds.')
    camera_transport: str = key(
        'auto',
        'How images are received: "shm" through shared memory, "zmq" over TCP. "auto": shared '
        'memory if the server runs on this machine and offers it.',
        choices=('auto', 'zmq', 'shm'),
    )
    image_encoding: str = key(
        'rgb8',
        'Encoding of colour images. "bgra8" is sent by the server and needs no conversion.',
        choices=COLOR_ENCODINGS,
    )
    depth_encoding: str = key(
        '32FC1',
        'Encoding of depth images: "32FC1" metres, "16UC1" millimetres.',
        choices=DEPTH_ENCODINGS,
    )
    depth_unit: str = key(
        'auto',
        'Unit of the depth that the server sends. "auto": as reported by the server, which for '
        'stock URLab means centimetres.',
        choices=('auto', 'm', 'cm', 'mm'),
    )
    jpeg_quality: int = key(
        90,
        'Quality of compressed colour images.',
        low=1,
        high=100,
        live=True,
    )
    points_decimation: int = key(
        1,
        'Use only every Nth row and column of a depth image for points.',
        low=1,
        high=64,
    )
    points_color: bool = key(
        True,
        'Colour the points of a depth camera that has a colour camera at the same pose.',
    )
