# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Camera streams: which subscribers get which frames."""

import time

from camera_lab import go_on
from camera_lab import needs_gl
from camera_lab import opened
import numpy as np
import zmq

from urlab_ros_bridge.client.cameras.stream import open_camera

pytestmark = needs_gl


def test_frames_with_header_carry_the_time_of_the_capture(client):
    client.set_sim_speed(10.0)  # a busy renderer keeps up
    client.set_paused(False)
    with opened(client, 'eye', shm_dir='', newest_only=False) as eye:
        seen = [eye.receive(60.0) for _ in range(10)]
    stamps = [frame.stamp_ns for frame in seen]
    assert all(stamp % 2_000_000 == 0 for stamp in stamps)  # exact ticks of 2 ms
    numbers = [frame.frame_id for frame in seen]
    assert numbers == list(range(numbers[0], numbers[0] + 10))
    assert all(abs(time.time() - frame.wall_time) < 30 for frame in seen)
    assert np.median(np.diff(stamps)) == 20_000_000  # 50 Hz of sim time


def test_stamps_restart_at_a_reset_and_never_mix(client):
    client.set_sim_speed(10.0)  # a busy renderer keeps up
    with opened(client, 'eye', shm_dir='', newest_only=False) as eye:
        for stands in (False, True):
            # So late that no stamp of the time after the reset can be taken for one before it.
            client.set_paused(True)
            late = go_on(client)
            client.set_paused(False)
            while eye.receive(60.0).stamp_ns < late:
                pass
            client.set_paused(stands)
            client.reset()
            stamps = [eye.receive(60.0).stamp_ns]
            while stamps[-1] >= late:  # those in flight
                stamps.append(eye.receive(60.0).stamp_ns)
            assert len(stamps) <= 5
            assert stamps[-1] == 0 or not stands  # the first image is that of the reset itself
            client.set_paused(False)
            after = [stamps[-1], *(eye.receive(60.0).stamp_ns for _ in range(3))]
            assert after == sorted(after) and after[-1] < late


def test_a_late_subscriber_gets_an_image_while_paused(client):
    front = client.handshake.global_cameras['front']
    client.reset('swing')
    with open_camera(front) as first, open_camera(front) as second:
        assert first.receive(60.0).stamp_ns == second.receive(60.0).stamp_ns == 0
        client.step(while_paused=True)
        while second.receive(60.0).stamp_ns == 0:
            pass
        with open_camera(front) as third:
            assert third.receive(60.0).stamp_ns == 2_000_000


def test_a_stalled_subscriber_delays_nobody(client, lab_server, keep):
    client.set_paused(False)
    stalled = keep(zmq.Context.instance().socket(zmq.SUB))
    stalled.rcvtimeo, stalled.rcvhwm, stalled.linger = 60_000, 1, 0
    stalled.subscribe(b'')
    stalled.connect(lab_server.simulation.cameras.endpoints[2])
    assert stalled.recv_multipart()
    with open_camera(client.handshake.global_cameras['front'], newest_only=False) as stream:
        stamps = [stream.receive(60.0).stamp_ns for _ in range(80)]
        count = (client.status().sim_time_ns - stamps[0]) // 10_000_000
    assert stamps == sorted(set(stamps))
    received = [stalled.recv_multipart() for _ in iter(lambda: stalled.poll(0), 0)]
    assert len(received) < 2 * count  # it lost what it did not take
