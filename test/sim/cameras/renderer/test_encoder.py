# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Encoding frames gives the same result with a thread of its own and without."""

import json
import os
import queue
import socket
import time

import numpy as np
import pytest
import zmq

from urlab_ros_bridge.sim.cameras import connection as link
from urlab_ros_bridge.sim.cameras.catalog import CameraItem
from urlab_ros_bridge.sim.cameras.connection import Capture
from urlab_ros_bridge.sim.cameras.connection import JobMemory
from urlab_ros_bridge.sim.cameras.renderer.drawing import RawFrame
from urlab_ros_bridge.sim.cameras.renderer.encoder import DrawnFrame
from urlab_ros_bridge.sim.cameras.renderer.encoder import FrameEncoder
from urlab_ros_bridge.sim.cameras.renderer.encoder import open_senders
from urlab_ros_bridge.transport.server_sockets import ServerSockets
from urlab_ros_bridge.wire.camera_frame import unpack_frame

WIDTH, HEIGHT = 16, 12


class Rig:
    """Two cameras, and the thread that draws played by the test."""

    def __init__(self, threaded):
        self.threaded = threaded
        self.cameras = [
            CameraItem(
                index=index, prefix='cart', name=name, key=name, id=0, mode='real', width=WIDTH,
                height=HEIGHT, fovy=45.0, rate=30.0, latency=0.0, jitter=0.0, seed=0, body='',
                depth_pair='',
            )
            for index, name in enumerate(('left', 'right'))
        ]  # fmt: skip
        self.memory = JobMemory(8)
        self.listeners = [socket.create_server(('127.0.0.1', 0)) for _ in self.cameras]
        self.sockets = ServerSockets(None)
        descriptors = [os.dup(listener.fileno()) for listener in self.listeners]
        self.senders = open_senders(self.sockets, self.cameras, descriptors)
        self.messages = queue.Queue()
        self.files = []
        self.encoder = FrameEncoder(
            self.memory, self.senders, {}, WIDTH * HEIGHT, self.record, threaded=threaded
        )
        self.link, self.server = socket.socketpair()
        self.encoder.start()
        self.jobs = 0

    def record(self, message, fds):
        self.files += map(os.dup, fds)  # the encoder closes its own
        self.messages.put(message)

    def draw(self, cameras, timeline=0, returned=(), streamed=True):
        """Draw a job: all pixels of its images are its number."""
        self.jobs += 1
        capture = Capture(self.jobs * 1000, self.jobs, timeline, 0.0)
        job = link.Job(self.jobs, streamed, capture, tuple(cameras), tuple(returned))
        for camera in cameras:
            buffer = self.encoder.buffers.get(timeout=30.0)
            words = buffer[: WIDTH * HEIGHT].reshape(HEIGHT, WIDTH)
            words[:] = self.jobs
            drawn = DrawnFrame(RawFrame(words), buffer, camera, job, camera == cameras[-1])
            self.encoder.submit(drawn)

    def run_once(self):
        """Do what the drawing thread does between two jobs."""
        if not self.threaded:
            self.server.send(b'x')  # so that it does not wait for long
            while not self.encoder.wait_for_input(self.link):
                pass
            self.link.recv(1)

    def receive(self, kind):
        """Return the next message of a kind to the server."""
        deadline = time.monotonic() + 30.0
        while True:
            assert time.monotonic() < deadline
            self.run_once()
            try:
                message = self.messages.get(timeout=0.01)
            except queue.Empty:
                continue
            if message[:1] == kind:
                return json.loads(message[1:])


@pytest.fixture(params=[True, False], ids=['thread', 'no thread'])
def rig(request):
    return Rig(request.param)


@pytest.fixture
def watch(rig):
    """Return a function that subscribes to a camera and waits until the server knows it."""
    context = zmq.Context()

    def subscribe(camera):
        subscriber = context.socket(zmq.SUB)
        subscriber.rcvtimeo = 30_000
        subscriber.subscribe(rig.cameras[camera].topics[1])
        subscriber.connect(f'tcp://127.0.0.1:{rig.listeners[camera].getsockname()[1]}')
        assert camera in rig.receive(link.WATCHED)['new']
        return subscriber

    yield subscribe
    context.destroy(linger=0)


def frame_of(subscriber):
    frame = unpack_frame(subscriber.recv_multipart()[1], WIDTH, HEIGHT)
    pixels = np.frombuffer(frame.pixels, np.uint32) & 0xFFFFFF
    assert (pixels == pixels[0]).all() and frame.sim_time == pixels[0] / 1e6
    return int(pixels[0]), frame.frame_id


def test_subscribers_get_frames_in_order(rig, watch):
    left, right = watch(0), watch(1)
    for number in range(1, 21):
        rig.draw([0, 1])
        assert frame_of(left) == frame_of(right) == (number, number)
        rig.run_once()
    rig.draw([1])
    assert frame_of(right) == (21, 21)
    assert not left.poll(0)


def test_frames_of_a_past_timeline_are_dropped(rig, watch):
    left = watch(0)
    rig.draw([0])
    assert frame_of(left) == (1, 1)
    rig.memory.control[JobMemory.TIMELINE] = 1
    rig.draw([0])
    rig.draw([0], timeline=1)
    assert frame_of(left) == (3, 3)


def test_frames_for_a_reply_are_reported_and_not_streamed(rig, watch):
    left = watch(0)
    rig.draw([0, 1], returned=[1, 0], streamed=False)
    assert rig.receive(link.FRAMES) == 1
    assert link.from_file(rig.files.pop()) == b'\x01\0\0\xff' * (2 * WIDTH * HEIGHT)
    rig.draw([0])
    assert frame_of(left) == (2, 2)
