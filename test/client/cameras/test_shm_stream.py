# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures out of a region: whole, newest first, and whose memory they are."""

import dataclasses
import threading
import time

import numpy as np
import pytest

from urlab_ros_bridge.client.cameras.stream import CameraStream
from urlab_ros_bridge.client.cameras.stream import open_camera
from urlab_ros_bridge.client.cameras.stream import ShmCameraStream
from urlab_ros_bridge.client.errors import CameraUnavailable
from urlab_ros_bridge.client.errors import StreamEnded
from urlab_ros_bridge.client.replies.handshake import CameraInfo
from urlab_ros_bridge.transport.shm import RegionWriter
from urlab_ros_bridge.transport.shm.region import clock_of
from urlab_ros_bridge.transport.shm.region import Region
from urlab_ros_bridge.wire.errors import MalformedRegion
from urlab_ros_bridge.wire.errors import RegionUnavailable
from urlab_ros_bridge.wire.errors import UnknownName

EYE = CameraInfo('eye', 'real', (64, 48), 45.0, 'tcp://127.0.0.1:9', 'bot/camera_ucm1/eye')


DEPTH = dataclasses.replace(EYE, mode='depth')


SIZE = 64 * 48 * 4


def make_writer(folder, stock=False, size=SIZE):
    region = Region.create(folder / 'cam_bot_eye.shm', size + 4)
    if stock:
        region.tagged = False
        region.repair()
    return RegionWriter(region)


@pytest.fixture
def writer(tmp_path):
    made = make_writer(tmp_path)
    yield made
    made.close()


@pytest.fixture
def stream(tmp_path, writer):
    with ShmCameraStream(tmp_path, EYE) as made:
        yield made


def image(value):
    return bytes([value % 256]) * SIZE


def test_a_frame_has_the_stamp_number_and_wall_time_of_its_capture(writer, stream):
    wall = time.time() - 3.0
    for number, stamp in enumerate((12_345_678_901, -5), 1):
        writer.write(image(number), stamp, clock_of(wall))
        frame = stream.receive(20.0)
        assert (frame.stamp_ns, frame.frame_id) == (stamp, number)
        assert frame.wall_time == pytest.approx(wall, abs=2e-6)
        assert frame.pixels.shape == (48, 64, 4) and (frame.pixels == number).all()
        assert not frame.pixels.flags.writeable
    assert stream.receive(0.0) is None


def test_frames_of_a_stock_server_have_no_time_and_are_polled_for(tmp_path):
    writer = make_writer(tmp_path, stock=True)
    with ShmCameraStream(tmp_path, DEPTH) as stream:
        values = np.arange(64 * 48, dtype='<f4')
        for _ in range(3):
            threading.Timer(0.005, writer.write, (values.tobytes(),)).start()
            frame = stream.receive(20.0)
            assert (frame.stamp_ns, frame.frame_id, frame.wall_time) == (None, None, None)
            assert np.array_equal(frame.pixels, values.reshape(48, 64))


def test_the_newest_frame_wins_and_the_others_are_counted(writer, stream):
    for number in range(1, 6):
        writer.write(image(number))
    assert stream.receive(20.0).frame_id == 5
    for number in range(6, 9):
        writer.write(image(number))
    assert stream.receive(20.0).frame_id == 8
    assert stream.stats.missed == 2  # what was there before the stream began is not missed


def test_malformed_payloads_are_counted_and_skipped(writer, stream):
    writer.write(b'short')
    assert stream.receive(0.0) is None
    writer.write(image(1))
    writer.region.sizes[0][0] = 1 << 30
    assert stream.receive(0.0) is None
    assert stream.stats.decode_errors == 2
    writer.write(image(7))
    assert (stream.receive(20.0).pixels == 7).all()


def test_the_end_of_the_server_ends_the_stream(writer, stream):
    timer = threading.Timer(0.1, writer.close, (True,))
    timer.start()
    with pytest.raises(StreamEnded):
        stream.receive(60.0)
    timer.join()  # a writer belongs to one thread at a time


def test_a_restarted_server_is_found_through_its_new_handshake(tmp_path):
    second = tmp_path / '2'
    second.mkdir()
    current = [str(tmp_path)]
    writer = make_writer(tmp_path)
    with ShmCameraStream(lambda: current[0], EYE) as stream:
        writer.write(image(1))
        assert stream.receive(20.0).frame_id == 1
        writer.close(unlink=True)
        assert stream.receive(0.3) is None
        make_writer(second).write(image(2))
        current[0] = str(second)
        assert (stream.receive(20.0).pixels == 2).all()


def test_only_regions_of_the_right_size_are_opened(tmp_path):
    with pytest.raises(RegionUnavailable):
        ShmCameraStream(tmp_path, EYE)
    make_writer(tmp_path, size=SIZE - 1).close()
    with pytest.raises(MalformedRegion):
        ShmCameraStream(tmp_path, EYE)
    with pytest.raises(RegionUnavailable):
        ShmCameraStream('', EYE)


def test_open_camera_prefers_shared_memory(tmp_path, writer):
    def kind(shm_dir, host='127.0.0.1', **options):
        with open_camera(EYE, host, shm_dir=shm_dir, **options) as stream:
            return type(stream)

    assert kind(str(tmp_path)) is kind(lambda: str(tmp_path)) is ShmCameraStream
    assert kind(str(tmp_path), transport='zmq') is kind('') is CameraStream
    assert kind(str(tmp_path), 'robot.example') is kind('/nowhere') is CameraStream
    writer.close(unlink=True)
    assert kind(str(tmp_path)) is CameraStream
    with pytest.raises(RegionUnavailable):
        open_camera(EYE, shm_dir=str(tmp_path), transport='shm')
    with pytest.raises(UnknownName):
        open_camera(EYE, transport='tcp')
    with pytest.raises(CameraUnavailable):
        open_camera(dataclasses.replace(EYE, endpoint=''), shm_dir=str(tmp_path))
