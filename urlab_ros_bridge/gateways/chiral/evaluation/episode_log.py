# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
One episode as an MCAP file, in messages of ROS 2: Foxglove and `ros2 bag` open it.

The few message types are laid out here (CDR, little-endian): a policy's machine needs no ROS.
"""

from __future__ import annotations

from pathlib import Path
import struct

import numpy as np

from urlab_ros_bridge.files import McapFile
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation
from urlab_ros_bridge.gateways.chiral.protocol.framing import bytes_of

_RULE = '=' * 80
_MULTI_ARRAY = f"""MultiArrayLayout layout
float64[] data
{_RULE}
MSG: std_msgs/MultiArrayLayout
MultiArrayDimension[] dim
uint32 data_offset
{_RULE}
MSG: std_msgs/MultiArrayDimension
string label
uint32 size
uint32 stride
"""
_IMAGE = f"""std_msgs/Header header
uint32 height
uint32 width
string encoding
uint8 is_bigendian
uint32 step
uint8[] data
{_RULE}
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
{_RULE}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""
SCHEMAS: dict[str, str] = {
    'std_msgs/msg/Float64MultiArray': _MULTI_ARRAY,
    'std_msgs/msg/Float64': 'float64 data\n',
    'std_msgs/msg/String': 'string data\n',
    'sensor_msgs/msg/Image': _IMAGE,
}
_CDR = b'\x00\x01\x00\x00'
_ENCODINGS = {('uint8', 3): 'rgb8', ('uint8', 1): 'mono8', ('float32', 1): '32FC1'}


class EpisodeLog:
    """
    Writes a file; the time of its messages is that of the simulation where the server sends it.

    Topics: ``/NAME/image``, ``/NAME/depth``, ``/NAME/intrinsics``, ``/NAME/extrinsics`` of a
    camera, ``/proprio/NAME``, ``/action``, ``/reward`` and ``/instruction``.
    """

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._file = McapFile(path, 'lz4')
        self._channels: dict[str, int] = {}
        self._instruction = None

    def add(self, seen: Observation, action: np.ndarray | None) -> None:
        """Take an observation and the action that was chosen for it."""
        now = max(0, round(float(seen.extra.get('sim_time', seen.timestamp)) * 1e9))
        for view in seen.cameras:
            self._image(f'/{view.name}/image', now, view.name, view.image)
            if view.depth is not None:
                self._image(f'/{view.name}/depth', now, view.name, view.depth)
            self._numbers(f'/{view.name}/intrinsics', now, view.intrinsics)
            self._numbers(f'/{view.name}/extrinsics', now, view.extrinsics)
        for name, values in seen.proprios.items():
            self._numbers(f'/proprio/{name}', now, values)
        if action is not None:
            self._numbers('/action', now, action)
        if 'reward' in seen.extra:
            reward = struct.pack('<d', float(seen.extra['reward']))
            self._write('/reward', 'std_msgs/msg/Float64', now, _CDR + reward)
        instruction = seen.extra.get('instruction')
        if instruction and instruction != self._instruction:
            self._instruction = instruction
            text = _CDR + _text(str(instruction))
            self._write('/instruction', 'std_msgs/msg/String', now, text)

    def close(self, summary: dict[str, str]) -> None:
        """Write the result of the episode and end the file."""
        self._file.metadata('episode', summary)
        self._file.close()

    def _numbers(self, topic: str, now: int, values: np.ndarray) -> None:
        data = np.ascontiguousarray(values, '<f8')
        # No dimensions, no offset, the count, and padding to the eight bytes of a float64.
        head = struct.pack('<IIIxxxx', 0, 0, data.size)
        self._write(topic, 'std_msgs/msg/Float64MultiArray', now, _CDR + head + data.tobytes())

    def _image(self, topic: str, now: int, frame: str, pixels: np.ndarray) -> None:
        height, width = pixels.shape[:2]
        channels = pixels.shape[2] if pixels.ndim == 3 else 1
        encoding = _ENCODINGS.get((pixels.dtype.name, channels), f'8UC{channels}')
        data = bytes_of(pixels)
        body = struct.pack('<iI', now // 10**9, now % 10**9) + _text(frame)
        body += b'\0' * (-len(body) % 4) + struct.pack('<II', height, width) + _text(encoding)
        body += b'\0'  # little-endian
        body += b'\0' * (-len(body) % 4)
        body += struct.pack('<II', len(data) // height, len(data))
        self._write(topic, 'sensor_msgs/msg/Image', now, b''.join((_CDR, body, data)))

    def _write(self, topic: str, kind: str, now: int, data: bytes) -> None:
        channel = self._channels.get(topic)
        if channel is None:
            channel = self._channels[topic] = self._file.channel(topic, kind, SCHEMAS[kind])
        self._file.write(channel, now, data)


def _text(value: str) -> bytes:
    data = value.encode() + b'\0'
    return struct.pack('<I', len(data)) + data
