# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes read back from the MCAP files that `episode_log` writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import struct

import numpy as np

from urlab_ros_bridge.gateways.chiral.errors import ChiralError
from urlab_ros_bridge.gateways.chiral.evaluation.lerobot import RecordedFrame

_CHANNELS = {'rgb8': 3, 'mono8': 1}
_PROPRIO, _IMAGE = '/proprio/', '/image'


class NotAnEpisode(ChiralError):
    """A file is no recorded episode."""

    def __init__(self, path: Path, why: object) -> None:
        super().__init__(f'{path} is not an episode that urlab eval --record has written: {why}')


def read_frames(path: Path) -> Iterator[RecordedFrame]:
    """
    Yield the frames in which the policy acted, in order.

    :raises NotAnEpisode: when the file is something else.
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
        frame.state[topic.removeprefix(_PROPRIO)] = _numbers(data)
    elif topic == '/action':
        frame.action = _numbers(data)
    elif topic == '/reward':
        frame.reward = struct.unpack_from('<d', data, 4)[0]
    elif topic.endswith(_IMAGE):
        image = _image(data)
        if image is not None:
            frame.images[topic[1 : -len(_IMAGE)].replace('/', '.')] = image


def _numbers(data: bytes) -> np.ndarray:
    """Return the data of a Float64MultiArray without dimensions."""
    (count,) = struct.unpack_from('<I', data, 12)
    return np.frombuffer(data, '<f8', count, 20)


def _image(data: bytes) -> np.ndarray | None:
    """Return an image as RGB, shape (height, width, 3); None for one of another kind."""
    body = memoryview(data)[4:]
    place = 8
    _, place = _text(body, place)
    place += -place % 4
    height, width = struct.unpack_from('<II', body, place)
    encoding, place = _text(body, place + 8)
    place += 1
    place += -place % 4
    channels = _CHANNELS.get(encoding)
    if channels is None:
        return None
    pixels = np.frombuffer(body, np.uint8, height * width * channels, place + 8)
    return np.broadcast_to(pixels.reshape(height, width, channels), (height, width, 3))


def _text(body: memoryview, place: int) -> tuple[str, int]:
    (size,) = struct.unpack_from('<I', body, place)
    end = place + 4 + size
    return bytes(body[place + 4 : end - 1]).decode(), end


__all__ = ['NotAnEpisode', 'read_frames']
