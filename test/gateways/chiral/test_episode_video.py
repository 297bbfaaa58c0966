# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Videos of episodes: read back chunk by chunk, with a reader written from the format alone."""

import io
import struct

import numpy as np
from PIL import Image
import pytest

from urlab_ros_bridge.gateways.chiral.codec import CameraView
from urlab_ros_bridge.gateways.chiral.codec import Observation
from urlab_ros_bridge.gateways.chiral.episode_video import EpisodeVideo


def view(name, height, width, colour):
    image = np.full((height, width, 3), colour, np.uint8)
    return CameraView(name, 0.0, np.eye(3), np.eye(4), image)


def chunks(data):
    """Yield (name, bytes) of the chunks in a list, which must fill it."""
    at = 0
    while at < len(data):
        name, size = struct.unpack_from('<4sI', data, at)
        yield name, data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2
    assert at == len(data)


def read(path):
    """Return the main header, the frames and the frames by the index."""
    data = path.read_bytes()
    assert data[:4] == b'RIFF' and data[8:12] == b'AVI '
    assert struct.unpack_from('<I', data, 4)[0] == len(data) - 8
    found = dict(_top(data))
    header = dict(chunks(found[b'hdrl'][4:]))
    frames = [body for name, body in chunks(found[b'movi'][4:]) if name == b'00dc']
    movie = found[b'movi']
    by_index = []
    for entry in struct.iter_unpack('<4sIII', found[b'idx1']):
        at = entry[2]
        assert movie[at : at + 4] == b'00dc'
        by_index.append(movie[at + 8 : at + 8 + entry[3]])
    return struct.unpack('<14I', header[b'avih']), frames, by_index


def _top(data):
    for name, body in chunks(data[12:]):
        yield (body[:4] if name == b'LIST' else name), body


def test_a_video_is_read_by_its_chunks_and_by_its_index(tmp_path):
    path = tmp_path / 'e.avi'
    video = EpisodeVideo(path, 20.0)
    colours = [(250, 10, 10), (10, 250, 10), (10, 10, 250)]
    for time, colour in zip((1.0, 1.05, 1.2), colours, strict=True):
        views = [view('a', 48, 64, colour), view('b', 24, 32, (99, 99, 99))]
        video.add(Observation(0.0, views, {}, {'sim_time': time}), None)
    video.close({})
    header, frames, by_index = read(path)
    assert frames == by_index
    assert (header[0], header[4], header[8], header[9]) == (50_000, 5, 128, 48)
    shown = [np.asarray(Image.open(io.BytesIO(frame)).convert('RGB'), int) for frame in frames]
    # The second picture stays until the third is due, two tenths after the first.
    for picture, colour in zip(shown, np.array(colours)[[0, 1, 1, 1, 2]], strict=True):
        assert picture.shape == (48, 128, 3)
        assert np.abs(picture[:, :60] - colour).max() < 12
        assert np.abs(picture[:, 70:] - 99).max() < 12


@pytest.mark.parametrize('observations', [0, 3])
def test_without_cameras_there_is_no_video(tmp_path, observations):
    video = EpisodeVideo(tmp_path / 'e.avi', 30.0)
    for _ in range(observations):
        video.add(Observation(0.0, [], {}), None)
    video.close({'ended': 'failed'})
    assert not list(tmp_path.iterdir())
