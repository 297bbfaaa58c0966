# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures that clients read out of shared memory, from the real renderer."""

import logging
import time

from bundled_server import start_server
from camera_lab import connect
from camera_lab import needs_gl
from camera_lab import opened
from lifelines import run_process
import numpy as np
import pytest
from waiting import wait_until

from urlab_ros_bridge.client import ShmCameraStream

pytestmark = needs_gl


def test_each_image_shows_the_state_of_its_stamp(client):
    client.reset('swing')
    with opened(client, 'eye') as stream:
        assert isinstance(stream, ShmCameraStream)
        stream.receive(60.0)
        for _ in range(3):
            reply = client.step(10, while_paused=True, include_cameras={'eye': 'sync'})
            frame = stream.receive(60.0)
            while frame.stamp_ns != reply.sim_time_ns:
                frame = stream.receive(60.0)
            assert np.array_equal(frame.pixels, reply.cameras['eye'].pixels)
            assert 0 <= time.time() - frame.wall_time < 10


def test_cameras_are_rendered_only_while_they_have_readers(client):
    # The server polls for readers that have left.
    wait_until(lambda: client.status().cameras == 0)
    with opened(client) as one, opened(client) as other:
        assert one.receive(60.0) is not None and other.receive(60.0) is not None
        assert client.status().cameras == 1
        one.close()
        time.sleep(0.2)
        assert client.status().cameras == 1
    wait_until(lambda: client.status().cameras == 0)


@pytest.fixture
def small_memory(tmp_path, monkeypatch):
    """Give servers a place for shared memory that has room for few images."""
    command = ['mount', '-t', 'tmpfs', '-o', 'size=7m', 'none', str(tmp_path)]
    if run_process(command, capture_output=True).returncode:
        pytest.skip('may not mount')
    monkeypatch.setenv('XDG_RUNTIME_DIR', str(tmp_path))
    yield
    assert run_process(['umount', '-l', str(tmp_path)]).returncode == 0


def test_images_without_room_in_shared_memory_are_sent_over_zeromq(small_memory, lab, caplog):
    caplog.set_level(logging.WARNING, 'urlab_ros_bridge.sim')
    server = start_server(model=lab)
    names = ('front', 'range', 'parts', 'each', 'late')
    with connect(server) as client:
        streams = [opened(client, name) for name in names]
        shared = [isinstance(stream, ShmCameraStream) for stream in streams]
        for stream in streams:
            assert stream.receive(60.0) is not None
            stream.close()
    server.stop()
    assert any(shared) and not all(shared)
    lines = [each for each in caplog.messages if 'no room for camera images' in each]
    assert len(lines) == 1
