# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Videos of episodes, read back by FFmpeg."""

import numpy as np
import pytest

from urlab_ros_bridge.evaluation.episode_video import EpisodeVideo
from urlab_ros_bridge.gateways.chiral.protocol.codec import CameraView
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation


def view(name, height, width, colour):
    image = np.full((height, width, 3), colour, np.uint8)
    return CameraView(name, 0.0, np.eye(3), np.eye(4), image)


def test_a_video_plays_in_simulated_time_and_cameras_of_any_size_are_side_by_side(tmp_path):
    av = pytest.importorskip('av')
    path = tmp_path / 'e.mp4'
    video = EpisodeVideo(path, 20.0)
    colours = [(250, 10, 10), (10, 250, 10), (10, 10, 250)]
    for time, colour in zip((1.0, 1.05, 1.2), colours, strict=True):
        views = [view('a', 47, 64, colour), view('b', 24, 33, (99, 99, 99))]
        video.add(Observation(0.0, views, {}, {'sim_time': time}), None)
        video.add(Observation(0.0, views, {}, {'sim_time': time}), None)  # the same moment again
    video.close({})
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.pix_fmt) == ('h264', 'yuv420p')
        frames = list(container.decode(video=0))
    assert [frame.time for frame in frames] == pytest.approx([0.0, 0.05, 0.2])
    # The index is in front of the images: a browser plays it while it is still loading.
    data = path.read_bytes()
    assert data.index(b'moov') < data.index(b'mdat')
    for frame, colour in zip(frames, np.array(colours), strict=True):
        image = frame.to_ndarray(format='rgb24').astype(int)
        assert image.shape == (48, 130, 3)  # even, as the codec needs it
        assert np.abs(image[4:-4, 4:60] - colour).max() < 20
        assert np.abs(image[4:-4, 70:126] - 99).max() < 20
