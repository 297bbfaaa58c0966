# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Episodes as MCAP files, written and read: messages of ROS 2, which Foxglove and `ros2 bag` open.

The few message types are laid out here (CDR, little-endian): a policy's machine needs no ROS.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
import struct

import numpy as np

from urlab_ros_bridge.files import McapFile
from urlab_ros_bridge.gateways.chiral.errors import ChiralError
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
    Writes a file; messages have simulated time if the server sends it.

    Topics: ``/NAME/image``, ``/NAME/depth``, ``/NAME/intrinsics``, ``/NAME/extrinsics`` of a
    camera, ``/proprio/NAME``, ``/action``, ``/reward`` and ``/instruction``.
    """

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._file = McapFile(path, 'lz4')
        self._channels: dict[str, int] = {}
        self._instruction = None

    def add(self, seen: Observation, action: np.ndarray | None) -> None:
        """Add an observation and the action chosen for it."""
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


_CHANNELS = {'rgb8': 3, 'mono8': 1}
_PROPRIO, _IMAGE = '/proprio/', '/image'


@dataclass(slots=True)
class RecordedFrame:
    """
    One control period.

    :ivar state: name -> values, float64 (n,).
    :ivar images: camera -> RGB, uint8 (height, width, 3).
    """

    state: dict[str, np.ndarray] = field(default_factory=dict)
    images: dict[str, np.ndarray] = field(default_factory=dict)
    action: np.ndarray | None = None
    reward: float = 0.0
    time: float = 0.0


class NotAnEpisode(ChiralError):
    """A file is not a recorded episode."""

    def __init__(self, path: Path, why: object) -> None:
        super().__init__(f'{path} is not an episode that urlab eval --record has written: {why}')


def read_frames(path: Path) -> Iterator[RecordedFrame]:
    """
    Yield the frames in which the policy acted, in order.

    :raises NotAnEpisode: when the file is not a recorded episode.
    :raises ImportError: without mcap.
    """
    from mcap.exceptions import McapError
    from mcap.reader import make_reader

    frame, now = RecordedFrame(), None
    try:
        with path.open('rb') as file:
            for _, channel, message in make_reader(file).iter_messages():
                if now is not None and message.log_time != now:
                    if frame.action is not None:
                        yield frame
                    frame = RecordedFrame()
                now = message.log_time
                frame.time = now * 1e-9
                _add_message(frame, channel.topic, message.data)
    except (McapError, struct.error, ValueError, OSError) as error:
        raise NotAnEpisode(path, error) from error
    if frame.action is not None:
        yield frame


def _add_message(frame: RecordedFrame, topic: str, data: bytes) -> None:
    if topic.startswith(_PROPRIO):
        frame.state[topic.removeprefix(_PROPRIO)] = _read_numbers(data)
    elif topic == '/action':
        frame.action = _read_numbers(data)
    elif topic == '/reward':
        frame.reward = struct.unpack_from('<d', data, 4)[0]
    elif topic.endswith(_IMAGE):
        image = _read_image(data)
        if image is not None:
            frame.images[topic[1 : -len(_IMAGE)].replace('/', '.')] = image


def _read_numbers(data: bytes) -> np.ndarray:
    """Return the data of a Float64MultiArray without dimensions."""
    (count,) = struct.unpack_from('<I', data, 12)
    return np.frombuffer(data, '<f8', count, 20)


def _read_image(data: bytes) -> np.ndarray | None:
    """Return an image as RGB, shape (height, width, 3); None for one of another kind."""
    body = memoryview(data)[4:]
    place = 8
    _, place = _read_text(body, place)
    place += -place % 4
    height, width = struct.unpack_from('<II', body, place)
    encoding, place = _read_text(body, place + 8)
    place += 1
    place += -place % 4
    channels = _CHANNELS.get(encoding)
    if channels is None:
        return None
    pixels = np.frombuffer(body, np.uint8, height * width * channels, place + 8)
    return np.broadcast_to(pixels.reshape(height, width, channels), (height, width, 3))


def _read_text(body: memoryview, place: int) -> tuple[str, int]:
    (size,) = struct.unpack_from('<I', body, place)
    end = place + 4 + size
    return bytes(body[place + 4 : end - 1]).decode(), end


__all__ = ['EpisodeLog', 'NotAnEpisode', 'RecordedFrame', 'read_frames']
